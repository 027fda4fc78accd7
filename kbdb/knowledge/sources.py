"""How a file's path is written into a manifest, and back."""

from __future__ import annotations

import os
import re
from pathlib import Path

_ESCAPED = re.compile(rb"\\x([0-9a-f]{2})")


def source_of(home: Path, path: Path) -> str:
    """A path as manifests write it: relative to the database's folder with ``/``, absolute where it lies outside.

    Bytes of a name that are not UTF-8 are written ``\\xNN``.
    """
    resolved = Path(os.path.abspath(path))
    base = Path(os.path.abspath(home))
    shown = resolved.relative_to(base) if resolved.is_relative_to(base) else resolved
    return shown.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_gone(home: Path, source: str) -> bool:
    """Whether no file stands any more where ``source_of`` said. One that cannot be looked at is not gone."""
    path = os.fsencode(home / source)
    raw = _ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), path)
    return all(map(_is_absent, {path, raw}))


def _is_absent(path: bytes) -> bool:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
