"""The owner's lock: one process at a time owns a database, for as long as it lives."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path

from kbdb import platform
from kbdb.errors import DatabaseLockedError, StorageError
from kbdb.store import files

_TRIES, _PAUSE_S = 5, 0.002


class OwnerLock:
    """The lock on ``.kbdb/lock``, held from construction to ``release`` or the end of the process.

    The lock itself proves that the owner lives; the pid inside is only for messages.

    Args:
        path: the lock file; made when missing.

    Raises:
        DatabaseLockedError: another owner holds it; the message names its pid.
        StorageError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
        self._pid = os.getpid()
        self._fd, writable = _open(path)
        try:
            if not _take(self._fd):
                raise DatabaseLockedError.held_by(_owner(path), path.parent)
            self._identity = files.identity(self._fd)
            # On a full disk the message goes without a pid; the database can still be read.
            with contextlib.suppress(OSError):
                if writable:
                    os.ftruncate(self._fd, 0)
                    os.lseek(self._fd, 0, os.SEEK_SET)
                    os.write(self._fd, b"%d\n" % self._pid)
        except OSError as error:
            os.close(self._fd)
            raise StorageError(f"cannot lock {path}: {error.strerror}") from error
        except BaseException:
            os.close(self._fd)
            raise

    def is_in_place(self) -> bool:
        """Whether the lock file still stands at its path; else the database was removed, moved, or made anew."""
        return self._fd >= 0 and files.stands_at(self._identity, self._path)

    def release(self) -> None:
        """Gives the lock up; releasing twice is fine. A forked child only lets go of its share."""
        if self._fd >= 0:
            if os.getpid() == self._pid:
                platform.unlock_file(self._fd)
            os.close(self._fd)
            self._fd = -1


def _take(fd: int) -> bool:
    """Takes the lock, past those who only look whether somebody has it: they hold it for a moment."""
    for _ in range(_TRIES):
        if platform.lock_file(fd):
            return True
        time.sleep(_PAUSE_S)
    return False


def _open(path: Path) -> tuple[int, bool]:
    """The lock file, and whether it can be written: a database on read-only media is locked by reading alone."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600), True
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise StorageError(f"cannot open {path}: {error.strerror}") from error
        try:
            return os.open(path, os.O_RDONLY), False
        except OSError:
            raise StorageError(
                f"cannot open {path}: {error.strerror}", "check who owns the folder, and its permissions"
            ) from error


def _owner(path: Path) -> int | None:
    """The pid in the lock file, when such a process lives."""
    try:
        pid = int(path.read_bytes()[:20])
    except (OSError, ValueError):
        return None
    return pid if platform.is_process_alive(pid) else None
