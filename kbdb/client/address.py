"""Where the owner of a database listens, and who holds its lock: read from files that may be stale, so never believed.

``.kbdb/daemon`` comes first: it lies in the database, where a shell, an editor and a cron job all find it, whatever
their environments say. What proves that a daemon is there is its answer; what proves an owner is the lock.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kbdb import platform
from kbdb.errors import StorageError
from kbdb.paths import Layout

_SOCKET = re.compile(r"kb-worker-[0-9a-f]{16}(\.sock)?")
_MOST = 4096


class Address(NamedTuple):
    """What ``.kbdb/daemon`` says.

    Attributes:
        address: the socket; empty while the daemon is not ready.
        pid: the daemon's, or 0.
        log: where it logs; empty where that is not told.
    """

    address: str
    pid: int
    log: str = ""


class Owner(NamedTuple):
    """Who holds the database's lock.

    Attributes:
        pid: its process, or None where that cannot be seen from here.
        is_daemon: whether it is one that will listen, or did until now; False where that cannot be told.
    """

    pid: int | None
    is_daemon: bool


def read_address(root: Path) -> Address | None:
    """What the owner wrote; None when there is no such file, or it is not one of ours.

    Only a socket and a log with a daemon's names are taken: the file may have come with somebody else's copy of the
    database.
    """
    try:
        with open(Layout(root).daemon, "rb") as file:
            found = json.loads(file.read(_MOST))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    address, pid = found.get("address"), found.get("pid")
    if not isinstance(address, str) or not isinstance(pid, int):
        return None
    name = address.replace("\\", "/").rpartition("/")[2] if sys.platform == "win32" else os.path.basename(address)
    if address and not _SOCKET.fullmatch(name):
        return None
    log = found.get("log")
    if not (isinstance(log, str) and os.path.isabs(log) and platform.is_log_name(os.path.basename(log))):
        log = ""
    return Address(address, pid, log)


def log_path(root: Path) -> Path:
    """The log of the daemon of a database: where it says, else where one that is started from here would log.

    Raises:
        StorageError: there is no place for one here, and none is told.
    """
    context = platform.context_id(root)
    written = read_address(root)
    # A copy of a database brings along where the original's daemon logs.
    if written and os.path.basename(written.log) == platform.log_name(context):
        return Path(written.log)
    return platform.log_path(context)


def addresses(root: Path) -> Iterator[str]:
    """Where to look for the daemon, the likeliest first; further ones cost more to name."""
    written = read_address(root)
    first = written.address if written else ""
    if first:
        yield first
    try:
        usual = platform.get_ipc_path(platform.context_id(root))
    except StorageError:
        return
    if usual != first:
        yield usual


def owner(root: Path) -> Owner | None:
    """Who owns the database now; None when nobody does."""
    if not platform.is_locked(Layout(root).lock):
        return None
    pid = _locking_pid(root)
    written = read_address(root)
    known = pid is not None and ((written is not None and written.pid == pid) or _is_named_so(pid))
    return Owner(pid, known)


def _locking_pid(root: Path) -> int | None:
    try:
        with open(Layout(root).lock, "rb") as file:
            pid = int(file.read(20).split(b"\n")[0])
    except (OSError, ValueError):
        return None
    return pid if platform.is_process_alive(pid) else None


def _is_named_so(pid: int) -> bool:
    return platform.process_name(pid).startswith(platform.DAEMON_NAME)
