"""What a daemon leaves in the file system while it lives: socket, pid file and address.

All of it is a hint for those who look for the daemon; who owns the database is decided by the lock inside it alone. So
whatever lies about from a daemon that was killed is written over, and what is missing is put back.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
from pathlib import Path
from typing import Any

import fasteners

import kbdb
from kbdb import platform
from kbdb.daemon.log import own_log
from kbdb.errors import StorageError
from kbdb.paths import Layout

log = logging.getLogger(__name__)

PROBE_S = 1.0
"""How long another daemon may take to accept a connection, when it is asked whether it is there."""

BACKLOG = 128
"""Connections that may wait to be accepted: fifty commands starting at once are no reason to refuse one."""


class Places:
    """The files of one daemon.

    Args:
        root: the database's folder.
    """

    def __init__(self, root: Path) -> None:
        self._address_file = Layout(root).daemon
        self._context = platform.context_id(root)
        self._socket_id: tuple[int, int] | None = None
        self._refused: set[Path] = set()
        self._settle()

    def listen(self) -> socket.socket:
        """A listening socket in the place of whatever stood there, reachable by the user alone.

        Raises:
            StorageError: the system refused.
        """
        self._settle()
        listening = socket.socket(socket.AF_UNIX)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.address)
            listening.bind(self.address)
            # Nobody can connect before it listens.
            os.chmod(self.address, 0o600)
            listening.listen(BACKLOG)
            listening.setblocking(False)
            self._socket_id = _identity(self.address)
        except OSError as error:
            listening.close()
            raise StorageError(f"cannot listen at {self.address}: {error.strerror}") from error
        return listening

    def announce_coming(self) -> None:
        """Tells others that a daemon owns the database and is about to listen."""
        self._announce("")

    def announce(self) -> None:
        """Tells others where this daemon listens. Where the disk refuses, they find it by the socket's usual name."""
        self._try_to_write(self._pid_file, str(os.getpid()))
        self._announce(self.address)

    def keep_announced(self) -> None:
        """Puts the address and the pid file back when they went away, or could not be written before."""
        if not self._is_announced():
            self.announce()

    def has_socket(self) -> bool:
        """Whether the socket is still there, and this daemon's."""
        return self._socket_id is not None and _identity(self.address) == self._socket_id

    def is_served(self) -> bool:
        """Whether a daemon takes connections where one is announced, or would usually listen."""
        return any(map(_takes_connections, {self._announced_address(), self.address} - {""}))

    def stop_listening(self) -> None:
        """Takes the socket away. The address stays, empty: who looks sees that a daemon still owns the database."""
        if self.has_socket():
            with contextlib.suppress(OSError):
                os.unlink(self.address)
        self._socket_id = None
        if self._is_announced():
            self._announce("")

    def clear(self) -> None:
        """Removes what is this daemon's; another one's stays. Where the database is gone, its log and lock go, too."""
        mine = []
        if self._announced().get("pid") == os.getpid():
            mine.append(self._address_file)
        if self._is_in_pid_file():
            mine.append(self._pid_file)
            if not self._address_file.parent.exists():
                mine += [self._lock_file, *self._pid_file.parent.glob(f"{self._pid_file.stem}.log*")]
        for path in mine:
            with contextlib.suppress(OSError):
                path.unlink()

    def sweep(self) -> None:
        """Removes the locks and logs of databases that are gone from where their lock says that they were.

        One that somebody holds stays. Who opened one before it went finds that out when he has locked it
        (``kbdb.store.write_lock``), and opens the next.
        """
        for path in set(self._lock_file.parent.glob(platform.write_lock_name("*"))) - {self._lock_file}:
            with contextlib.suppress(OSError):
                root = Path(os.fsdecode(path.read_bytes()))
                lock = fasteners.InterProcessLock(path)
                if path.name != platform.write_lock_name(platform.context_id(root)) or not _is_gone(root):
                    continue
                if lock.acquire(blocking=False):
                    log.info("%s is gone, and so are its lock and log", root)
                    for left in (path, *path.parent.glob(f"{path.stem}.log*")):
                        left.unlink()
                    lock.release()

    def _settle(self) -> None:
        """Where the files go: in the runtime folder, which is another one when the one before vanished."""
        self.address = platform.get_ipc_path(self._context)
        runtime = platform.runtime_dir()
        self._pid_file = runtime / f"kbdb-{self._context}.pid"
        self._lock_file = runtime / platform.write_lock_name(self._context)

    def _announce(self, address: str) -> None:
        told = {"address": address, "pid": os.getpid(), "version": kbdb.__version__, "log": own_log()}
        self._try_to_write(self._address_file, json.dumps(told))

    def _try_to_write(self, path: Path, text: str) -> None:
        """Writes a file whole or not at all; a refusal is logged once."""
        temporary = path.with_name(f"{path.name}.tmp")
        try:
            temporary.write_text(f"{text}\n", encoding="ascii")
            temporary.replace(path)
            self._refused.discard(path)
        except OSError as error:
            if path not in self._refused:
                log.warning("cannot write %s: %s", path, error.strerror)
            self._refused.add(path)
            with contextlib.suppress(OSError):
                temporary.unlink()

    def _is_announced(self) -> bool:
        return self._announced().get("pid") == os.getpid() and self._is_in_pid_file()

    def _is_in_pid_file(self) -> bool:
        try:
            return self._pid_file.read_bytes() == b"%d\n" % os.getpid()
        except OSError:
            return False

    def _announced_address(self) -> str:
        address = self._announced().get("address")
        return address if isinstance(address, str) else ""

    def _announced(self) -> dict[str, Any]:
        try:
            told = json.loads(self._address_file.read_bytes())
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}


def _is_gone(root: Path) -> bool:
    try:
        root.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _takes_connections(address: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(PROBE_S)
        try:
            probe.connect(address)
        except OSError:
            return False
    return True
