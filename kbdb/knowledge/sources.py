"""How a file's path is written into a manifest, and back."""

from __future__ import annotations

import os
from pathlib import Path


def source_of(home: Path, path: Path) -> str:
    """A path as manifests write it: relative to the database's folder with ``/``, absolute where it lies outside.

    Bytes of a name that are not UTF-8 are written ``\\xNN``.
    """
    resolved = Path(os.path.abspath(path))
    base = Path(os.path.abspath(home))
    shown = resolved.relative_to(base) if resolved.is_relative_to(base) else resolved
    return shown.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def path_of_source(home: Path, source: str) -> Path:
    """The path that ``source_of`` wrote, for names that are UTF-8."""
    return home / source
