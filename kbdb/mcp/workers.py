"""Workers: threads that make the calls of a ``Protocol``, started when there is work, with a bound on what may wait."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from threading import Condition, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from kbdb.mcp.calls import Call
from kbdb.mcp.failures import BusyError, is_fault
from kbdb.mcp.methods import METHODS
from kbdb.mcp.protocol import Protocol
from kbdb.mcp.registry import CancelledError, Change, Context, Registry

if TYPE_CHECKING:
    from kbdb.mcp.types import JsonObject, McpLogLevel

MAX_WORKERS = 8
"""Calls that run at once: what a busy host has in flight."""

MAX_QUEUED = 6
"""Those of them that may stand in a queue behind writes: whoever reads meanwhile finds a worker that is free."""

MAX_WAITING = 64
"""Calls that wait for a worker. A host that sends more is told so: it would wait longer than it likes."""

MAX_BYTES = 32 << 20
"""Bytes of the requests that wait or run."""


class Workers:
    """Makes the calls of a protocol, and holds the one lock under which it is used and its lines are written.

    Args:
        registry: what is called.
        protocol: whose calls they are.
        send: writes whole lines; called under the lock.
    """

    def __init__(self, registry: Registry, protocol: Protocol, send: Callable[[bytes], None]) -> None:
        self._registry = registry
        self._protocol = protocol
        self._send = send
        self._lock = Lock()
        self._work = Condition(self._lock)
        self._answered = Condition(self._lock)
        self._waiting: deque[Call] = deque()
        self._bytes = 0
        self._queued = 0
        self._idle = 0
        self._ends: dict[Call, Callable[[], object]] = {}
        self._threads: list[Thread] = []

    def receive(self, data: bytes) -> None:
        """Takes bytes of the client in, and sees to what they ask for."""
        with self._lock:
            for event in self._protocol.receive(data):
                if isinstance(event, bytes):
                    self._send(event)
                elif isinstance(event, Call):
                    self._take(event)
                else:
                    self._answered.notify_all()
                    if event.call.cancelled and (end := self._ends.get(event.call)):
                        end()

    def close(self, patience_s: float) -> bool:
        """The client is gone: ends what runs.

        Args:
            patience_s: how long the handlers may take to notice.

        Returns:
            Whether they all have.
        """
        # Whoever holds the lock may be writing to a client that does not read.
        if not self._lock.acquire(timeout=patience_s):
            return False
        try:
            self._protocol.close()
            self._waiting.clear()
            threads, self._threads = self._threads, []
            self._answered.notify_all()
            self._work.notify_all()
        finally:
            self._lock.release()
        self._registry.close()
        until = monotonic() + patience_s
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _take(self, call: Call) -> None:
        if not METHODS[call.method].waits:
            self._send(self._made(call)())
        elif len(self._waiting) >= MAX_WAITING or self._bytes + call.size > MAX_BYTES:
            self._send(self._protocol.fail(call, BusyError()))
        else:
            call.queues = METHODS[call.method].queues(self._registry, call.params)
            self._waiting.append(call)
            self._bytes += call.size
            queues = sum(one.queues for one in self._waiting)
            if self._idle >= len(self._waiting) - max(0, queues - (MAX_QUEUED - self._queued)):
                self._work.notify()
            elif len(self._threads) < MAX_WORKERS:
                thread = Thread(target=self._run, name=f"mcp-{len(self._threads) + 1}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def _run(self) -> None:
        while call := self._next():
            answer = self._made(call)
            with self._lock:
                self._queued -= call.queues
                self._bytes -= call.size
                self._send(answer())

    def _next(self) -> Call | None:
        """The next call; None once there will be none."""
        with self._lock:
            while (call := self._runnable()) is None:
                if not self._threads:
                    return None
                self._idle += 1
                self._work.wait()
                self._idle -= 1
            return call

    def _runnable(self) -> Call | None:
        """Takes the first call that may run now; those that were cancelled go."""
        for call in [*self._waiting]:
            if call.cancelled or not call.queues or self._queued < MAX_QUEUED:
                self._waiting.remove(call)
                if not call.cancelled:
                    self._queued += call.queues
                    return call
                self._bytes -= call.size
        return None

    def _made(self, call: Call) -> Callable[[], bytes]:
        """Makes a call; gives what makes its answer, to be called under the lock."""
        try:
            value = METHODS[call.method].run(self._registry, call.params, _CallContext(self, call))
        except BaseException as raised:
            error = raised
            if is_fault(error):
                _tell(error)
            return lambda: self._protocol.fail(call, error)
        return lambda: self._protocol.finish(call, value)

    def tell(self, lines: Callable[[Protocol], bytes]) -> None:
        """Sends what a method of the protocol makes."""
        with self._lock:
            if line := lines(self._protocol):
                self._send(line)

    def can_ask(self, call: Call, method: str) -> bool:
        """``Context.can_ask``."""
        with self._lock:
            return self._protocol.can_ask(call, method)

    @contextmanager
    def ended_by(self, call: Call, end: Callable[[], object]) -> Iterator[None]:
        """``Context.ended_by``."""
        with self._lock:
            if call.cancelled:
                raise CancelledError
            self._ends[call] = end
        try:
            yield
        finally:
            with self._lock:
                del self._ends[call]

    def ask(self, call: Call, requests: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        """``Context.ask``."""
        with self._lock:
            self._send(self._protocol.ask(call, requests))
            while (answers := self._protocol.answers(call, requests)) is None:
                self._answered.wait()
            return answers


class _CallContext(Context):
    """What the handler of one call may do."""

    def __init__(self, workers: Workers, call: Call) -> None:
        self._workers = workers
        self._call = call

    @property
    def cancelled(self) -> bool:
        return self._call.cancelled

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self._workers.tell(lambda protocol: protocol.progress(self._call, done, total, message))

    def log(self, level: McpLogLevel, data: Any) -> None:
        self._workers.tell(lambda protocol: protocol.log(self._call, level, data))

    def can_ask(self, method: str) -> bool:
        return self._workers.can_ask(self._call, method)

    def ask(self, requests: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        return self._workers.ask(self._call, requests)

    def announce(self, change: Change, uri: str | None = None) -> None:
        self._workers.tell(lambda protocol: protocol.announce(change, uri))

    def ended_by(self, end: Callable[[], object]) -> AbstractContextManager[None]:
        return self._workers.ended_by(self._call, end)


def _tell(error: BaseException) -> None:
    """A fault of kbdb's is told on stderr; the client learns its class alone."""
    import traceback

    traceback.print_exception(error, file=sys.stderr)
