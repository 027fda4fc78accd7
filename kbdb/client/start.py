"""Starting the daemon's process: one at a time, and an account of why it did not come up."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kbdb import platform
from kbdb.errors import DaemonStartError, KbdbError, StorageError, error_of

if TYPE_CHECKING:
    import subprocess

LINES_SHOWN = 10
_TAIL = 8192


class Start:
    """The start of a daemon for one database. Whoever begins one holds the lock of its log, so that others wait.

    Args:
        root: the ``.kbdb`` folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._child: subprocess.Popen[bytes] | None = None
        self._failed: KbdbError | None = None
        self._log: Path | None = None
        self._log_began = 0
        self._turn: int | None = None

    def is_running(self) -> bool:
        """Whether a process that was begun here is still on its way.

        Raises:
            KbdbError: it has ended, and nobody else's came up instead.
        """
        if self._failed:
            raise self._failed
        if self._child is None:
            return False
        code = self._child.poll()
        if code is None:
            return True
        self._child = None
        if code:  # told the next time, unless a daemon is found before
            self._failed = self.failure(f"the daemon ended with code {code} before it was ready")
            return True
        return False  # it left the database to another daemon

    def begin(self) -> None:
        """Starts a process, unless somebody else is about to."""
        if not self._take_turn():
            return
        if not sys.executable:
            raise DaemonStartError("it is not known which Python runs this", "start one by hand: kbdb daemon start")
        argv = [sys.executable, "-m", "kbdb.daemon", os.fspath(self._root)]
        log_fd = None
        try:
            # Not the descriptor that is locked: the daemon, and all that it starts, would hold the lock by it.
            log_fd = os.open(self._log, os.O_WRONLY | os.O_APPEND) if self._log else None
            self._child = platform.spawn_detached(argv, log_fd, platform.python_environment())
        except OSError as error:
            raise DaemonStartError(f"cannot start {sys.executable}: {error.strerror}") from error
        finally:
            if log_fd is not None:
                os.close(log_fd)

    def succeed(self) -> None:
        """A daemon answers: the process begun here, if any, is left to itself."""
        if self._child is None:
            return
        import threading

        # Somebody must take note of its end, or it stays in the process table for as long as this process lives.
        threading.Thread(target=self._child.wait, daemon=True).start()

    def end(self) -> None:
        """Lets others have a try."""
        if self._turn is not None:
            os.close(self._turn)
            self._turn = None

    def failure(self, what: str) -> KbdbError:
        """Why no daemon came up: the error it logged, or else its last lines."""
        lines = self._logged()
        for line in reversed(lines):
            if error := _error_in(line):
                return error
        told = "".join(f"\n  {line}" for line in lines[-LINES_SHOWN:])
        hint = f"its log is {self._log}" if self._log else "it has no log: its runtime directory cannot be written"
        return DaemonStartError(what + told, hint)

    def _take_turn(self) -> bool:
        """Opens the log and locks it; without a log there are no turns, and the database's own lock has to do."""
        # A turn taken before would keep out this one, too.
        self.end()
        try:
            path = platform.log_path(platform.context_id(self._root))
            turn = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except (OSError, StorageError):
            return True
        if not platform.lock_file(turn):
            os.close(turn)
            return False
        self._log, self._turn = path, turn
        self._log_began = os.fstat(turn).st_size
        return True

    def _logged(self) -> list[str]:
        if self._log is None:
            return []
        try:
            with open(self._log, "rb") as file:
                end = file.seek(0, os.SEEK_END)
                begin = self._log_began if self._log_began <= end else 0
                file.seek(max(begin, end - _TAIL))
                return file.read().decode("utf-8", "replace").split("\n")[:-1]
        except OSError:
            return []


def _error_in(line: str) -> KbdbError | None:
    """The error that a daemon logs when it refuses to start: ``{"error": {"code", "message", "hint"}}``."""
    if not line.startswith('{"error":'):
        return None
    try:
        told = json.loads(line)["error"]
        return error_of(told["code"], told["message"], told["hint"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
