"""Calls over one connection, made again when the daemon is: what everything that talks to a daemon goes through."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any

from kbdb.client import launch
from kbdb.client.greeting import Welcome
from kbdb.client.interrupt import ctrl_c_asks
from kbdb.client.methods import QUEUED_READS, READS, is_repeatable
from kbdb.client.wire import HungUp, Wire
from kbdb.errors import (
    AnotherDatabaseError,
    DaemonLostError,
    DatabaseClosedError,
    InterruptedByUserError,
    InvalidArgumentError,
)
from kbdb.rpc.messages import Failure, Notification, Request, Result
from kbdb.rpc.refusals import error_in

if TYPE_CHECKING:
    from kbdb.progress import Report

PAUSE_S = 0.01
"""Between two attempts to have a call heard."""

READ_PATIENCE_S = 60.0
"""How long a read waits for news of the daemon before it looks whether the daemon still answers anybody."""

CANCEL_PATIENCE_S = 5.0
"""The same of a write after Ctrl-C. Before it a write waits for ever: the daemon may be writing, and it alone knows."""

LOOK_S = 2.0
"""How long a daemon that works may take to say hello."""


class Connection:
    """A connection to the daemon of a database. Any thread may use it; one call goes on at a time.

    When the daemon went away, the next call finds or starts another. A call that was under way is made again: as long
    as nothing can have come of it, and else once, where that does no harm.

    Args:
        root: the ``.kbdb`` folder.
        start: whether to start a daemon where none listens; else DaemonLostError says so.
        timeout_s: how long a call, and finding a daemon without starting it, may wait for news from the daemon; None
            for as long as the daemon shows that it lives, and a write longer.

    Attributes:
        welcome: what the daemon said of itself when the connection was made last.
    """

    welcome: Welcome

    def __init__(self, root: Path, *, start: bool = True, timeout_s: float | None = None) -> None:
        self.root = root
        self._start = start
        self._timeout_s = timeout_s
        self._lock = Lock()
        self._caller = 0
        self._closed = False
        self._pid = os.getpid()
        self._cancelling = Lock()
        self._wanted: bool | None = None
        self._ongoing: _Cancel | None = None
        self._last_id = 0
        self._database = ""
        self._wire: Wire | None = None
        self._connect()

    def call(self, method: str, params: Mapping[str, Any] | None = None, progress: Report | None = None) -> Any:
        """Calls a method and waits for its answer.

        Args:
            method: its name on the wire.
            params: its parameters; those that are None are left out.
            progress: gets each step of a long write. Raising InterruptedByUserError from it asks for an early end.

        Returns:
            The answer, as JSON has it.

        Raises:
            DaemonLostError: the daemon went away, or is silent, and it is not known what came of the call.
            InterruptedByUserError: Ctrl-C, or ``cancel``, ended a write before it did anything.
            KeyboardInterrupt: during a read, or the second one during a write.
            KbdbError: as the daemon refuses.
        """
        given = {name: value for name, value in (params or {}).items() if value is not None}
        if progress is not None:
            given["progress"] = True
        with self._turn():
            until = time.monotonic() + launch.DEADLINE_S
            may_repeat = is_repeatable(method, given)
            while True:
                try:
                    return self._try(method, given, progress)
                except HungUp as hung_up:
                    if self._closed:
                        raise DatabaseClosedError(f"this client was closed while it waited for {method}") from hung_up
                    if hung_up.unheard and time.monotonic() < until:
                        # It is on its way out, and the next one cannot come before it is gone.
                        time.sleep(PAUSE_S)
                        continue
                    if not may_repeat:
                        raise _lost(method) from hung_up
                    may_repeat = False

    def cancel(self) -> None:
        """Asks for an early end of the call that another thread waits for, if there is one; does not wait itself.

        What waits for its turn ends at once, and what writes where it can; a read ends as it would have.
        """
        # Under its lock no other call begins, so that nothing gets into the middle of that one's line.
        with self._cancelling:
            if self._wanted is None:
                return
            self._wanted = True
            if self._ongoing:
                self._ongoing.ask()

    def close(self) -> None:
        """Ends the connection, and a call that another thread waits for; the daemon stays. Closing twice is fine."""
        self._closed = True
        if os.getpid() != self._pid:
            self._begin_again()
        elif wire := self._wire:
            wire.shut()
        # Under a call that waits the descriptor must not go: the call lets it go itself.
        if self._lock.acquire(blocking=False):
            try:
                self._hang_up()
            finally:
                self._lock.release()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if os.getpid() != self._pid:
            self._begin_again()
        if self._caller == get_ident():
            raise InvalidArgumentError("a report of progress calls the client that waits for it", "use another client")
        with self._lock:
            self._caller = get_ident()
            self._wanted = False
            try:
                yield
            finally:
                self._caller = 0
                with self._cancelling:
                    self._wanted = None

    def _begin_again(self) -> None:
        """In a forked child: the parent goes on using the connection, and its locks are nobody's here."""
        self._pid = os.getpid()
        self._lock = Lock()
        self._cancelling = Lock()
        self._wanted = self._ongoing = None
        self._caller = 0
        self._hang_up()

    def _try(self, method: str, params: dict[str, Any], progress: Report | None) -> Any:
        """Calls once. Whatever ends it before its answer also ends the connection, which cancels it."""
        wire = self._open_wire(method)
        try:
            answer = self._exchange(wire, method, params, progress)
        except TimeoutError as error:
            self._hang_up()
            raise self._silent(method) from error
        except BaseException:
            self._hang_up()
            raise
        if isinstance(answer, Result):
            return answer.value
        refusal = error_in(answer)
        if isinstance(refusal, DatabaseClosedError):
            # It is on its way out, and did nothing.
            self._hang_up()
            raise HungUp(unheard=True)
        raise refusal

    def _exchange(self, wire: Wire, method: str, params: dict[str, Any], progress: Report | None) -> Result | Failure:
        self._last_id += 1
        request = Request(self._last_id, method, params)
        cancel = _Cancel(wire, request.id)
        closes = False
        waits_long = method not in READS or method in QUEUED_READS
        wire.set_timeout(self._timeout_s or (None if waits_long else READ_PATIENCE_S))
        with self._cancelled_by(cancel), nullcontext() if method in READS else ctrl_c_asks(cancel.ask):
            wire.send(request)
            cancel.may_go()
            if waits_long and not self._timeout_s:
                wire.set_timeout(CANCEL_PATIENCE_S)
            while True:
                try:
                    message = wire.receive()
                except TimeoutError:
                    if self._timeout_s or not ((waits_long and not cancel.wanted) or self._lives()):
                        raise
                    continue
                if isinstance(message, (Result, Failure)):
                    # A failure without an id is about the line just sent: nothing else is under way.
                    if message.id in (request.id, None):
                        if closes:
                            self._hang_up()
                        return message
                elif isinstance(message, Notification):
                    if message.method == "closing":
                        closes = True
                        if request.id not in message.params.get("answers", ()):
                            wire.expect_end()
                    elif message.method == "progress" and progress and message.params.get("id") == request.id:
                        _report(progress, message.params, cancel)

    @contextmanager
    def _cancelled_by(self, cancel: _Cancel) -> Iterator[None]:
        """A context in which ``cancel`` of this connection has its effect; at its begin, too, where it came before."""
        with self._cancelling:
            self._ongoing = cancel
            if self._wanted:
                cancel.ask()
        try:
            yield
        finally:
            with self._cancelling:
                self._ongoing = None

    def _lives(self) -> bool:
        """Whether the daemon that is silent on this connection answers on another."""
        link = launch.find(self.root, LOOK_S)
        if link is None:
            return False
        link.wire.close()
        return link.welcome.pid == self.welcome.pid

    def _silent(self, method: str) -> DaemonLostError:
        pid = self.welcome.pid
        hint = f"see kbdb daemon status; where it hangs, kill -9 {pid} ends it, and the next call starts another"
        patience_s = self._timeout_s or (READ_PATIENCE_S if method in READS else CANCEL_PATIENCE_S)
        text = f"the daemon, process {pid}, said nothing of {method} for {patience_s:g} s"
        if method in READS:
            return DaemonLostError(text, hint)
        return DaemonLostError(f"{text}; whether it was done is not known", hint)

    def _open_wire(self, method: str) -> Wire:
        if self._closed:
            raise DatabaseClosedError("this client is closed", "open another")
        # Before a call that must not be made twice, it is worth knowing whether it can be made at all.
        if self._wire and not (method in READS or not self._wire.hung_up()):
            self._hang_up()
        if self._wire is None:
            return self._connect()
        return self._wire

    def _connect(self) -> Wire:
        link = launch.reach(self.root) if self._start else launch.find(self.root, self._timeout_s or launch.DEADLINE_S)
        if link is None:
            raise DaemonLostError(f"no daemon serves {self.root}", "start one: kbdb daemon start")
        if self._database not in ("", link.welcome.database):
            link.wire.close()
            raise AnotherDatabaseError(
                f"{self.root} is another database now ({self._database} became {link.welcome.database})",
                "open it anew if that is meant",
            )
        if self._closed:
            link.wire.close()
            raise DatabaseClosedError("this client was closed while it looked for its daemon")
        self._wire, self.welcome, self._database = link.wire, link.welcome, link.welcome.database
        return link.wire

    def _hang_up(self) -> None:
        wire, self._wire = self._wire, None
        if wire:
            wire.close()


class _Cancel:
    """The wish to end a call early, told once, and not before the call itself has been.

    Attributes:
        wanted: whether there is such a wish.
    """

    def __init__(self, wire: Wire, id: int | str) -> None:
        self._wire = wire
        self._id = id
        self.wanted = False
        self._may_go = self._told = False

    def ask(self) -> None:
        self.wanted = True
        if self._may_go:
            self._tell()

    def may_go(self) -> None:
        self._may_go = True
        if self.wanted:
            self._tell()

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self._wire.send_if_room(Notification("cancel", {"id": self._id}))


def _report(progress: Report, params: Mapping[str, Any], cancel: _Cancel) -> None:
    from kbdb.progress import Progress

    try:
        progress(Progress(params.get("done", 0), params.get("total", 0), params.get("what", "")))
    except InterruptedByUserError:
        cancel.ask()


def _lost(method: str) -> DaemonLostError:
    if method in READS:
        return DaemonLostError(f"the daemon went away twice while it answered {method}", "kbdb daemon logs tells more")
    return DaemonLostError(
        f"the daemon went away before it answered {method}; whether it was done is not known",
        "look before you ask again: what was done shows in kbdb status, list and search",
    )
