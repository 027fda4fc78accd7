"""How a file's path is written into a manifest, which document it names, and whether the file still stands."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from kbdb.store.ids import docid_for


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
    try:
        os.stat(home / source)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


@lru_cache(maxsize=4096)
def docid_of_source(source: str) -> str:
    """The docid of the document learned from this source (path or URL)."""
    return docid_for(source, readable_of(source))


def readable_of(source: str) -> str:
    """The part of a source that its docid's readable half is made of: the last part of the path, without suffix."""
    name = source.rstrip("/").rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name
