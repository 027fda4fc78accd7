"""The one way in which the program changes files: whole or not at all, durable when asked.

Everything that writes comes through here: the store, the journal, the index, export. Each primitive passes a fault
point (``kbdb.store.faults``) and reports what it did (``kbdb.store.trace``); an OSError becomes a StorageError that
names the path. ``point`` names the kind of file: ``write_atomic(..., point="sections")`` passes ``write:sections``,
``sync:sections`` and ``rename:sections``.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Collection
from pathlib import Path
from types import TracebackType

from kbdb import platform
from kbdb.errors import CorruptError, NotADatabaseError, StorageError
from kbdb.platform import StrPath
from kbdb.store import faults, trace

TMP_SUFFIX = ".tmp"

Write = Callable[[int, bytes | memoryview], None]
"""Puts bytes at an offset of a file."""

_USUAL = 1 << 13
"""Most files that are read many at a time are shorter; room for more takes longer to make than they take to read."""

_SMALL = 1 << 16
_PACE = 4 << 20
"""Bytes that one who writes beside others leaves unsynced: a sync of theirs may have to wait for as many."""

_BINARY = getattr(os, "O_BINARY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


def write_atomic(path: StrPath, data: bytes | memoryview, *, sync: bool, point: str, below: Path | None = None) -> None:
    """Creates or replaces a file: all of ``data`` or, on any error, what was there before.

    See ``writing``, which takes the content piece by piece.

    Args:
        path: the file.
        data: its new content.
        sync: whether the content, and then the folder's entry, are durable on return. Only that last step can fail
            with the new file in place.
        point: the kind of file, for fault points.
        below: where the file's folder is not there, it is made if it is one below this; not durable on return.

    Raises:
        StorageError: the system refused; no temporary file is left.
    """
    with writing(path, sync=sync, point=point, below=below) as write:
        write(0, data)


class writing:
    """Creates or replaces a file with what a ``with`` block writes, or on any error leaves what was there before.

    Writes ``<name>.tmp`` beside it and renames at the end of the block. Arguments and errors are those of
    ``write_atomic``; each call of what the block gets passes the point of writing.

    Args:
        paced: whether it is synced on the way, so that no long sync at its end holds up others who sync beside it.
    """

    __slots__ = ("_below", "_fd", "_paced", "_path", "_point", "_sync", "_tmp", "_unsynced")

    def __init__(
        self, path: StrPath, *, sync: bool, point: str, below: Path | None = None, paced: bool = False
    ) -> None:
        self._path = os.fspath(path)
        self._tmp = self._path + TMP_SUFFIX
        self._sync = sync
        self._point = point
        self._below = below
        self._paced = paced
        self._unsynced = 0

    def __enter__(self) -> Write:
        try:
            with _naming(self._path, "write"):
                self._fd = self._open()
        except BaseException:
            self._give_up()
            raise
        trace.report("create", self._tmp)
        return self._write

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            try:
                if kind is None and self._sync:
                    _sync(self._fd, self._path, self._tmp, self._point)
            finally:
                os.close(self._fd)
            if kind is None:
                with _naming(self._path, "write"):
                    faults.pass_point(f"rename:{self._point}")
                    platform.replace(self._tmp, self._path)
        except BaseException:
            self._give_up()
            raise
        if kind is not None:
            self._give_up()
            return
        trace.report("rename", self._tmp, target=self._path)
        if self._sync:
            sync_folder(os.path.dirname(self._path), point=self._point)

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY | _NO_FOLLOW
        try:
            return os.open(self._tmp, flags, 0o666)
        except FileNotFoundError:
            if self._below is None:
                raise
            make_folder(Path(self._path).parent, below=self._below)
            return os.open(self._tmp, flags, 0o666)

    def _write(self, offset: int, data: bytes | memoryview) -> None:
        with _naming(self._path, "write"):
            _write_all(self._fd, self._tmp, offset, data, self._point)
        if self._paced:
            self._unsynced += len(data)
            if self._unsynced >= _PACE:
                self._unsynced = 0
                _sync(self._fd, self._path, self._tmp, self._point)

    def _give_up(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._tmp)


def write_again(path: StrPath, data: bytes, *, point: str, below: Path) -> None:
    """Like ``write_atomic`` without a sync, for a file that most likely holds ``data`` already; quick where it does.

    Then the same bytes are written over themselves, so that the next sync has them to write even where the system took
    them for written after a failed one. Making and renaming a file costs milliseconds on some file systems.

    Raises:
        StorageError: the system refused; the file holds what it held.
    """
    try:
        fd = os.open(path, os.O_RDWR | _BINARY | _NO_FOLLOW)
    except OSError:
        write_atomic(path, data, sync=False, point=point, below=below)
        return
    try:
        stands = _holds(fd, data)
        if stands:
            with _naming(path, "write"):
                _write_all(fd, path, 0, data, point)
    finally:
        os.close(fd)
    if not stands:
        write_atomic(path, data, sync=False, point=point, below=below)


def write_at(path: StrPath, offset: int, data: bytes, *, point: str) -> None:
    """Makes ``data`` the end of a file, from ``offset`` on; not durable on return. Doing it twice changes nothing.

    Args:
        path: the file; made when ``offset`` is 0 and it is not there.
        offset: where ``data`` begins; what stood behind it is gone afterwards.
        data: the new end.
        point: the kind of file, for fault points.

    Raises:
        StorageError: the system refused; part of ``data`` may have been written.
        CorruptError: the file is shorter than ``offset``.
    """
    with _naming(path, "write"):
        is_new = not os.path.exists(path)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | _BINARY | _NO_FOLLOW, 0o666)
        try:
            if is_new:
                trace.report("create", path)
            if os.fstat(fd).st_size < offset:
                raise CorruptError(
                    f"{path} is {os.fstat(fd).st_size} bytes long, where the journal goes on at byte {offset}",
                    "restore the file from a copy of the database that is as new as its journal.log",
                )
            _write_all(fd, path, offset, data, point)
            _truncate(fd, path, offset + len(data))
        finally:
            os.close(fd)


def remove(path: StrPath, *, point: str) -> None:
    """Removes a file; one that is not there is fine."""
    with _naming(path, "remove"):
        faults.pass_point(f"remove:{point}")
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
    trace.report("remove", path)


def remove_folder(path: Path, *, point: str) -> None:
    """Removes a folder with all that is in it, a file at a time; one that is not there is fine.

    A link is removed itself; what it leads to stays.
    """
    if path.is_symlink():
        remove(path, point=point)
        return
    for name in names(path):
        inside = path / name
        if inside.is_dir() and not inside.is_symlink():
            remove_folder(inside, point=point)
        else:
            remove(inside, point=point)
    with _naming(path, "remove"):
        faults.pass_point(f"remove:{point}")
        try:
            path.rmdir()
        except FileNotFoundError:
            return
    trace.report("remove", path)


def make_folder(path: Path, *, mode: int = 0o777, sync: bool = False, below: Path | None = None) -> None:
    """Makes a folder and those above it that are missing; one that is there is fine.

    Args:
        path: the folder.
        mode: permissions of ``path`` itself, lessened by the umask.
        sync: whether the new entries are durable on return.
        below: a folder that must be there: a database that was removed is not brought back.

    Raises:
        NotADatabaseError: ``below`` is not there.
        StorageError: the system refused.
    """
    if path.is_dir():
        return
    if path == below:
        raise NotADatabaseError.removed(path)
    if not path.parent.is_dir():
        make_folder(path.parent, sync=sync, below=below)
    with _naming(path, "make"), contextlib.suppress(FileExistsError):
        faults.pass_point("make:folder")
        path.mkdir(mode)
        trace.report("make_folder", path)
    if not path.is_dir():
        raise StorageError(f"cannot make the folder {path}: a file of that name is in its place")
    if sync:
        sync_folder(path.parent)


def replace_folder(source: Path, target: Path, old: Path, *, point: str) -> None:
    """Puts a finished folder in the place of another, which is removed; durable on return.

    Args:
        source: the finished folder.
        target: its place; what stands there may be a folder or nothing.
        old: where what stood there waits meanwhile, and stays when the process ends between the two renames. What such
            an end left there goes only once something whole stands in its place.
        point: the kind of folder, for fault points.
    """
    if target.exists():
        remove_folder(old, point=point)
    with _naming(target, "replace"):
        if target.exists():
            faults.pass_point(f"rename:{point}")
            platform.replace(target, old)
            trace.report("rename", target, target=old)
        faults.pass_point(f"rename:{point}")
        platform.replace(source, target)
        trace.report("rename", source, target=target)
    sync_folder(target.parent, point=point)
    remove_folder(old, point=point)


def sync_folder(path: StrPath, *, point: str = "folder") -> None:
    """Makes the entries of a folder durable: files made, renamed and removed in it."""
    with _naming(path, "sync"):
        faults.pass_point(f"sync-folder:{point}")
        platform.fsync_dir(path)
    trace.report("sync_folder", path)


def sync_many(paths: Collection[StrPath], folders: Collection[StrPath], root: Path, root_fd: int | None) -> None:
    """Makes many files and folders durable, by one call for the file system where that is possible.

    Args:
        paths: files written since the last time; those gone since count as done.
        folders: folders whose entries changed.
        root: the database's folder, for the error message.
        root_fd: from ``platform.open_folder``, opened before the files were written.
    """
    with _naming(root, "sync"):
        faults.pass_point("sync:many")
        if platform.sync_files(paths, folders, root_fd):
            trace.report("sync_all", root)
            return
    for path in paths:
        trace.report("sync_file", path)
    for path in folders:
        trace.report("sync_folder", path)


def read(path: StrPath) -> bytes | None:
    """A file's bytes, or None when it is not there."""
    with _naming(path, "read"):
        try:
            with open(path, "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None


def read_small(path: str) -> bytes | None:
    """The bytes of a file, or None when it is not there or cannot be read in one go: ``read`` tells which.

    For reading many small files: three calls of the system, and nothing else.
    """
    try:
        fd = os.open(path, os.O_RDONLY | _BINARY)
    except OSError:
        return None
    try:
        data = os.read(fd, _USUAL)
        if len(data) == _USUAL:
            data += os.read(fd, _SMALL)
    except OSError:
        return None
    finally:
        os.close(fd)
    return data if len(data) < _USUAL + _SMALL else None


def size(path: StrPath) -> int | None:
    """A file's length in bytes, or None when it is not there."""
    try:
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _named(error, path, "read") from error


def identity(fd: int) -> tuple[int, int]:
    """What tells an open file from all others, whatever it is called."""
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def stands_at(identity: tuple[int, int], path: StrPath) -> bool:
    """Whether an open file is the one of that name: neither removed, nor moved away, nor replaced."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return identity == (status.st_dev, status.st_ino)


def names(folder: Path) -> list[str]:
    """What stands in a folder, sorted; nothing when there is no such folder."""
    with _naming(folder, "read"):
        try:
            return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []


class AppendFile:
    """A file that grows at its end, for the journal.

    One thread at a time may use it. ``size`` is the length that counts: a failed append leaves it as it was, and the
    caller cuts what was written past it (``truncate``). Where the file may only be read, ``read_only`` is true and
    every change is refused.

    Args:
        path: an existing file.
        point: the kind of file, for fault points.
    """

    def __init__(self, path: Path, *, point: str) -> None:
        self.path = path
        # Asked for at each commit, and text is quicker to ask for.
        self._name = os.fspath(path)
        self.read_only = False
        self._point = point
        with _naming(path, "open"):
            try:
                self._fd = os.open(path, os.O_RDWR | _BINARY | _NO_FOLLOW)
            except OSError as error:
                if error.errno not in (errno.EROFS, errno.EACCES):
                    raise
                self._fd = os.open(path, os.O_RDONLY | _BINARY | _NO_FOLLOW)
                self.read_only = True
            self._identity = identity(self._fd)
            self.size = os.fstat(self._fd).st_size

    def append(self, data: bytes) -> None:
        """Writes ``data`` at the end; not durable before ``sync``."""
        with _naming(self.path, "write"):
            self._require_writable()
            _write_all(self._fd, self.path, self.size, data, self._point)
        self.size += len(data)

    def sync(self) -> None:
        """Makes everything appended durable."""
        with _naming(self.path, "sync"):
            faults.pass_point(f"sync:{self._point}")
            platform.sync_fd(self._fd)
        trace.report("sync_file", self.path)

    def truncate(self, length: int) -> None:
        """Cuts the file; not durable before ``sync``."""
        with _naming(self.path, "truncate"):
            self._require_writable()
            faults.pass_point(f"truncate:{self._point}")
            _truncate(self._fd, self.path, length)
        self.size = length

    def is_in_place(self) -> bool:
        """Whether the file still stands where it was opened."""
        return stands_at(self._identity, self._name)

    def _require_writable(self) -> None:
        if self.read_only:
            raise PermissionError(errno.EACCES, "the file can only be read")

    def close(self) -> None:
        """Closes the file; closing twice is fine."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _sync(fd: int, path: str, tmp: str, point: str) -> None:
    with _naming(path, "write"):
        faults.pass_point(f"sync:{point}")
        platform.sync_fd(fd)
    trace.report("sync_file", tmp)


def _write_all(fd: int, path: StrPath, offset: int, data: bytes | memoryview, point: str) -> None:
    action = faults.armed(f"write:{point}")
    rest = memoryview(data)[: len(data) // 2] if action else memoryview(data)
    at = offset
    while rest:
        written = platform.write_at(fd, rest, at)
        trace.report("write", path, offset=at, data=rest[:written])
        at, rest = at + written, rest[written:]
    if action:
        faults.trip(action)


def _holds(fd: int, data: bytes) -> bool:
    """Whether a file just opened has exactly these bytes; false where it cannot be read."""
    try:
        return os.fstat(fd).st_size == len(data) and os.read(fd, len(data) + 1) == data
    except OSError:
        return False


def _truncate(fd: int, path: StrPath, length: int) -> None:
    if os.fstat(fd).st_size != length:
        os.ftruncate(fd, length)
        trace.report("truncate", path, offset=length)


class _naming:
    """Turns an OSError in a ``with`` block into a StorageError that says what could not be done to which path."""

    __slots__ = ("_path", "_verb")

    def __init__(self, path: StrPath, verb: str) -> None:
        self._path = path
        self._verb = verb

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise _named(error, self._path, self._verb) from error


def _named(error: OSError, path: StrPath, verb: str) -> StorageError:
    reason = error.strerror or str(error)
    hint = ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        reason, hint = f"the disk is full ({reason})", "free some space and try again"
    elif error.errno == errno.EROFS:
        hint = "make the file system writable, or copy the database elsewhere"
    elif error.errno in (errno.EACCES, errno.EPERM):
        hint = "check who owns the file and its folder, and their permissions"
    return StorageError(f"cannot {verb} {path}: {reason}", hint)
