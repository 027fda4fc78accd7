"""The lock of one write operation, ``kbdb-{context}.lock`` in the runtime folder.

Whose a database is, the lock inside it says (``kbdb.store.lock``). Its owner takes this one for each write operation,
so that another program that takes it, as for a backup, knows that nothing is being written. It is the lock of
``fasteners.InterProcessLock``, on a file that stays open: opening it each time takes ten times as long as locking it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kbdb import platform
from kbdb.errors import BusyError, KbdbError, StorageError
from kbdb.store import files

if TYPE_CHECKING:
    import fasteners

PATIENCE_S = 30.0
"""How long a write waits for it while another program holds it."""

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05
_ATTEMPTS = 100
"""So often a lock file is opened again that was removed just then; one that never stays locks nobody out."""

_HELD = (errno.EACCES, errno.EAGAIN)


class WriteLock:
    """The write lock of one database; used by one thread at a time.

    Where the runtime folder or the file cannot be had, writes go on without it.

    Args:
        root: the ``.kbdb`` folder.

    Attributes:
        waits: who is waited for and since when, as a sentence; empty while nobody is.
    """

    def __init__(self, root: Path) -> None:
        self.waits = ""
        self._root = root
        self._name = platform.write_lock_name(platform.context_id(root))
        self._path = ""
        self._identity = (0, 0)
        self._lock: fasteners.InterProcessLock | None = None
        self._depth = 0

    @contextmanager
    def held(
        self, patience_s: float | None = None, ended: Callable[[], KbdbError | None] | None = None
    ) -> Iterator[None]:
        """Held for one write operation; within another one it is held already.

        Args:
            patience_s: how long to wait; None: ``PATIENCE_S``.
            ended: asked again and again during the wait; gives what to raise once there is nothing to wait for.

        Raises:
            BusyError: another program holds it, and does not let it go.
        """
        if not self._depth:
            self._take(PATIENCE_S if patience_s is None else patience_s, ended)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth and self._lock is not None:
                self._lock.unlock()

    def close(self) -> None:
        """Lets go of the file."""
        if self._lock is not None:
            self._lock.lockfile.close()
            self._lock = None

    def _take(self, patience_s: float, ended: Callable[[], KbdbError | None] | None) -> None:
        began, pause_s = time.monotonic(), _FIRST_PAUSE_S
        try:
            while self._try() is False:
                waited_s = time.monotonic() - began
                self.waits = f"{_holder(self._path)} holds {self._path}, for which a write has waited {waited_s:.1f} s"
                if waited_s >= patience_s:
                    hint = "nothing is written while another program holds it; wait for its end, or stop it"
                    raise BusyError(self.waits, hint)
                if ended is not None and (reason := ended()):
                    raise reason
                time.sleep(pause_s)
                pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
        finally:
            self.waits = ""

    def _try(self) -> bool | None:
        """Whether it could be taken; None where there is no such file to be had."""
        for _ in range(_ATTEMPTS):
            lock = self._lock or self._open()
            if lock is None:
                return None
            try:
                lock.trylock()
                taken = True
            except OSError as error:
                if error.errno not in _HELD:
                    break
                taken = False
            # One that was removed, or whose folder was, locks nobody out. Whoever removes it holds it meanwhile, so
            # that only now it is certain to be the one that others open.
            if files.stands_at(self._identity, self._path):
                return taken
            self.close()
        self.close()
        return None

    def _open(self) -> fasteners.InterProcessLock | None:
        import fasteners

        try:
            self._path = os.fspath(platform.runtime_dir() / self._name)
            # Not left to fasteners: a folder that vanished it makes anew, for everybody to enter.
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except (OSError, StorageError):
            return None
        # Whose it is shows in it once its database is gone; on a full disk it stays empty.
        status = os.fstat(fd)
        self._identity = (status.st_dev, status.st_ino)
        with contextlib.suppress(OSError):
            if not status.st_size:
                os.write(fd, os.fsencode(self._root))
        self._lock = fasteners.InterProcessLock(self._path)
        self._lock.lockfile = os.fdopen(fd, "ab", buffering=0)
        return self._lock


def _holder(path: str) -> str:
    pid = platform.lock_holder(path)
    name = platform.process_name(pid) if pid else ""
    return f"process {pid}{f' ({name})' if name else ''}" if pid else "another program"
