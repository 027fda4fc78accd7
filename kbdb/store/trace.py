"""A record of file operations as they happen, for tests that replay what a power cut may leave of them.

``kbdb.store.files`` reports here after each operation that succeeded; nothing happens unless a test observes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal

Kind = Literal["make_folder", "create", "write", "truncate", "rename", "remove", "sync_file", "sync_folder", "sync_all"]


@dataclass(frozen=True, slots=True)
class FileOperation:
    """One operation.

    Attributes:
        kind: what was done.
        path: to which file or folder; for ``rename`` the old name, for ``sync_all`` any path on the file system.
        target: the new name of a ``rename``.
        offset: where a ``write`` began, or the length left by a ``truncate``.
        data: the bytes of a ``write``.
    """

    kind: Kind
    path: Path
    target: Path | None = None
    offset: int = 0
    data: bytes = b""


Observer = Callable[[FileOperation], None]
_observer: Observer | None = None


def report(
    kind: Kind,
    path: str | PathLike[str],
    *,
    target: str | PathLike[str] | None = None,
    offset: int = 0,
    data: bytes | memoryview = b"",
) -> None:
    """Tells the observer, if there is one."""
    if _observer is not None:
        _observer(FileOperation(kind, Path(path), None if target is None else Path(target), offset, bytes(data)))


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Reports each operation to ``observer``, for the length of a ``with`` block."""
    global _observer
    before, _observer = _observer, observer
    try:
        yield
    finally:
        _observer = before
