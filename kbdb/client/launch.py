"""Connects to the daemon of a database, and starts one where none listens; however many do so at once, one comes up.

Files only say where to look. Whether there is a daemon is settled by its answer, whether there is an owner by the lock
on ``.kbdb/lock``; whatever is stale is passed over, and the next daemon writes it anew.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kbdb.client.address import Owner, addresses, owner
from kbdb.client.greeting import Welcome, ask, greet, is_older, require_readable, serves
from kbdb.client.wire import HungUp, Wire
from kbdb.errors import DaemonStartError, DatabaseLockedError, KbdbError, NotADatabaseError, ProtocolError

if TYPE_CHECKING:
    from kbdb.client.start import Start

DEADLINE_S = 15.0
"""How long a daemon may take to answer, its start and the end of the one before included."""

GRACE_S = 2.0
"""How long one owner that does not look like a daemon is waited for: a command that opened the database itself is done
sooner, a program that works with it will not be. Daemons look so too, for moments in which they begin or are killed."""

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.05


class Link(NamedTuple):
    """A connection that has said hello."""

    wire: Wire
    welcome: Welcome


def find(root: Path, timeout_s: float = DEADLINE_S) -> Link | None:
    """Connects to the daemon of a database where there is one; starts none.

    Args:
        root: the ``.kbdb`` folder.
        timeout_s: how long it may take to answer.
    """
    return _Search(root, time.monotonic() + timeout_s).find()


def reach(root: Path, deadline_s: float = DEADLINE_S) -> Link:
    """Connects to the daemon of a database; starts it where there is none, and renews one older than this program.

    Args:
        root: the ``.kbdb`` folder.
        deadline_s: how long all of it may take.

    Raises:
        NotADatabaseError: the folder is gone.
        DatabaseLockedError: a process that is no daemon owns the database.
        DaemonStartError: no daemon came up; the message has what it logged last.
        KbdbError: what the daemon refused to start for.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise DaemonStartError("Python has no Unix sockets on this system", "set KBDB_DAEMON=off")
    return _Reach(root, deadline_s).run()


class _Search:
    """Looks for a daemon that answers and serves this database; remembers what it met instead."""

    def __init__(self, root: Path, until: float) -> None:
        self._root = root
        self._until = until
        self.met = ""

    def find(self) -> Link | None:
        for address in addresses(self._root):
            link = self._try(address)
            if link:
                return link
        return None

    def _try(self, address: str) -> Link | None:
        timeout = max(self._until - time.monotonic(), 0.1)
        try:
            wire = Wire(address, timeout)
        except (OSError, ProtocolError) as error:
            self.met = f"{address}: {_words(error)}"
            return None
        try:
            welcome = greet(wire)
            if serves(welcome, self._root):
                require_readable(welcome)
                wire.set_timeout(None)
                return Link(wire, welcome)
            self.met = f"{address}: serves {welcome.root}"
        except (HungUp, ProtocolError) as error:
            self.met = f"{address}: {_words(error)}"
        except TimeoutError:
            self.met = f"{address}: no answer within {timeout:.0f} s"
        except BaseException:
            wire.close()
            raise
        wire.close()
        return None


class _Reach:
    """One attempt to have a daemon, until its deadline."""

    def __init__(self, root: Path, deadline_s: float) -> None:
        self._root = root
        self._deadline_s = deadline_s
        self._began = time.monotonic()
        self._search = _Search(root, self._began + deadline_s)
        self._start: Start | None = None
        self._dismissed: set[int] = set()
        self._stranger: tuple[int | None, float] | None = None
        self._pause_s = _FIRST_PAUSE_S

    def run(self) -> Link:
        try:
            while True:
                link = self._search.find()
                if link and not self._dismiss_if_older(link):
                    if self._start:
                        self._start.succeed()
                    return link
                if not link:
                    self._see_to_owner()
                self._pause()
        finally:
            if self._start:
                self._start.end()

    def _dismiss_if_older(self, link: Link) -> bool:
        """Asks a daemon of an older version, once, to make way."""
        if not is_older(link.welcome.version):
            return False
        try:
            if link.welcome.pid not in self._dismissed:
                self._dismissed.add(link.welcome.pid)
                link.wire.set_timeout(self._left())
                ask(link.wire, "shutdown", {})
        except (HungUp, TimeoutError):
            pass  # gone already, or so busy that only waiting is left
        finally:
            link.wire.close()
        self._search.met = f"process {link.welcome.pid} of kbdb {link.welcome.version} has not made way yet"
        return True

    def _see_to_owner(self) -> None:
        """Nobody answers: waits for whoever owns the database, or starts a daemon when nobody does."""
        if not self._root.is_dir():
            raise NotADatabaseError(f"no database at {self._root}", "it was there before; kbdb init makes a new one")
        if self._start and self._start.is_running():
            return
        found = owner(self._root)
        if found is None:
            self._stranger = None
            self._begin()
        elif self._will_listen(found):
            self._stranger = None
        elif self._stays(found.pid) > min(GRACE_S, self._deadline_s):
            raise DatabaseLockedError.held_by(found.pid, self._root)

    def _begin(self) -> None:
        # Loaded where it is needed: most who call find a daemon.
        from kbdb.client.start import Start

        self._start = self._start or Start(self._root)
        self._start.begin()

    def _will_listen(self, found: Owner) -> bool:
        if found.pid == os.getpid():
            raise DatabaseLockedError.held_by(found.pid, self._root)
        return found.is_daemon or found.pid in self._dismissed

    def _stays(self, pid: int | None) -> float:
        """For how long the owner has been this stranger."""
        now = time.monotonic()
        if self._stranger is None or self._stranger[0] != pid:
            self._stranger = pid, now
        return now - self._stranger[1]

    def _pause(self) -> None:
        if self._left() <= 0:
            raise self._too_late()
        time.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 1.5, _LONGEST_PAUSE_S)

    def _left(self) -> float:
        return self._began + self._deadline_s - time.monotonic()

    def _too_late(self) -> KbdbError:
        seconds = f"within {self._deadline_s:.0f} s"
        if self._start and self._start.is_running():
            return self._start.failure(f"the daemon was not ready {seconds}")
        found = owner(self._root)
        if found and found.pid and sys.platform != "win32":
            text = f"process {found.pid} owns the database and did not answer {seconds} ({self._search.met})"
            return DaemonStartError(text, f"stop it, and try again: kill {found.pid}")
        return DaemonStartError(f"no daemon answered {seconds} ({self._search.met})", "kbdb daemon logs tells more")


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)
