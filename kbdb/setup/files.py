"""Reads and replaces settings files that belong to other programs: whole or not at all, and not over somebody's change.

``kbdb.store.files`` writes databases, where nobody else writes; here a file keeps its mode and owner, a link stays a
link, and the temporary file has a name of its own.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import Literal

from kbdb.errors import NotUtf8Error, SettingsFileError, StorageError
from kbdb.platform import fsync_dir, replace, sync_fd

BOM = "\ufeff"

_BINARY = getattr(os, "O_BINARY", 0)


def read(path: Path) -> bytes | None:
    """A file's bytes; None where there is none.

    Raises:
        StorageError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _named(error, "read", path) from error


def decoded(data: bytes, path: Path) -> str:
    """The text of a file, with a byte order mark if it has one.

    Raises:
        NotUtf8Error: it is not UTF-8; says where.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "save it as UTF-8; nothing was written"
        raise NotUtf8Error(f"{path} is not UTF-8, from byte {error.start} on", hint) from error


def write(path: Path, before: bytes | None, after: bytes, kind: Literal["private", "shared"]) -> None:
    """Replaces a file, or makes it with the folders above it.

    Args:
        path: the file; where it is a link, what it leads to is replaced.
        before: what it held when ``after`` was worked out; None when there was none.
        after: its new content.
        kind: who may read a file that is made: its owner alone, or whoever the user's umask lets.

    Raises:
        SettingsFileError: it no longer holds ``before``.
        StorageError: the system refused; the file holds what it held.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(mode=0o700 if kind == "private" else 0o777, parents=True, exist_ok=True)
        tmp = target.with_name(f".{target.name}.kbdb-{os.getpid()}.tmp")
        mode = 0o600 if kind == "private" else 0o666
        fd = os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        try:
            try:
                _take_over(fd, target)
                with open(fd, "wb", closefd=False) as file:
                    file.write(after)
                sync_fd(fd)
            finally:
                os.close(fd)
            if read(target) != before:
                raise SettingsFileError(f"{path} was changed by another program meanwhile", "run the command again")
            replace(tmp, target)
        except BaseException:
            with contextlib.suppress(OSError):
                tmp.unlink()
            raise
        fsync_dir(target.parent)
    except OSError as error:
        raise _named(error, "write", path) from error


def _take_over(fd: int, target: Path) -> None:
    """Gives a new file the mode, and where it differs the owner, of the one it will replace."""
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    if sys.platform == "win32":
        return
    new = os.fstat(fd)
    if old.st_uid != new.st_uid:
        os.fchown(fd, old.st_uid, old.st_gid)
    elif old.st_gid != new.st_gid:
        # Of a group the user is not in; the mode below then lets nobody in who was kept out.
        with contextlib.suppress(PermissionError):
            os.fchown(fd, -1, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


def _named(error: OSError, verb: str, path: Path) -> StorageError:
    place = f" ({error.filename})" if error.filename and str(error.filename) != str(path) else ""
    hint = "check who owns the file and its folder, and their permissions" if isinstance(error, PermissionError) else ""
    return StorageError(f"cannot {verb} {path}: {error.strerror or error}{place}", hint)
