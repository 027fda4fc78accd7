"""Answers clients: quick searches at once, other reads in a few threads, all on what was last committed; writes are
handed to the writer.

Runs on the event loop's thread; what other threads want of it comes through ``call_soon_threadsafe``. Knows no sockets:
``kbdb.daemon.process`` listens, ``kbdb.daemon.connection`` speaks.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import kbdb
from kbdb import platform
from kbdb.daemon.answers import answer_line, progress_line
from kbdb.daemon.connection import Connection
from kbdb.daemon.embedder import Embedder
from kbdb.daemon.methods import METHODS, OWN, Method, read_params
from kbdb.daemon.pace import Pace
from kbdb.daemon.queue import FairQueue, Job
from kbdb.daemon.requests import EmbeddedParams, Hello, Nothing, WriteParams
from kbdb.daemon.writer import TakeLock, Writer
from kbdb.errors import (
    BusyError,
    InterruptedByStopError,
    InterruptedByUserError,
    InvalidArgumentError,
    KbdbError,
    NotADatabaseError,
    UnsupportedFormatError,
)
from kbdb.knowledge import KnowledgeBase
from kbdb.model.learn import AddSectionResult
from kbdb.model.search import PagedSearchResult
from kbdb.paths import Layout
from kbdb.progress import Progress
from kbdb.rpc.codes import INVALID_REQUEST, METHOD_NOT_FOUND
from kbdb.rpc.messages import Failure, Id, Request, encode

log = logging.getLogger(__name__)

READERS = max(2, min(4, os.cpu_count() or 1))
"""Threads that read: as many as there are cores. Outside the engine one of them runs at a time, and twice as many as
cores cost a quarter of the throughput; at least two, so that a long list holds up no search."""

STORED_BEFORE = "what was acknowledged before is stored"

UNREAD_S, UNREAD_PAUSE_S = 10.0, 0.005
"""How long, and how often, it waits at its end for clients to read their answers."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A write that a client waits for, and what refuses it when it has waited too long."""

    job: Job
    deadline: asyncio.TimerHandle


class Server:
    """What a daemon does for its clients.

    Args:
        kb: the database.
        lock: see ``Writer``.
        leave: called when a client asks the daemon to end.
        about: what else its status tells.

    Attributes:
        writer: the thread that writes.
        embedder: the thread that has sections embedded.
        active: requests that are not answered yet.
        last_call: when the last request came or was answered (``time.monotonic``).
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        lock: TakeLock,
        leave: Callable[[str], None],
        about: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self.active = 0
        self.last_call = self._started = time.monotonic()
        self._kb = kb
        lock_file = os.stat(Layout(kb.root).lock)
        self._lock_id = [lock_file.st_dev, lock_file.st_ino]
        self._leave = leave
        self._about = about
        self._loop = asyncio.get_running_loop()
        self._connections: dict[Connection, dict[Id, Asked]] = {}
        self._lets_go = False
        self._queue = FairQueue()
        self._reading: KnowledgeBase | KbdbError | None = None
        self._readable = Event()
        self._pace = Pace(may_hang=platform.is_network_file_system(kb.root), mode=kb.default_mode)
        self._readers = ThreadPoolExecutor(READERS, "kbdb-reader")
        self.embedder = Embedder(self._queue.put, embeds=kb.embeds)
        self.writer = Writer(kb, self._queue, lock, self.publish, self._leave_soon)
        self.writer.start()
        if kb.embeds:
            self.embedder.start()

    def status(self) -> dict[str, Any]:
        """What ``daemonStatus`` tells, and ``dbStatus`` under ``daemon``."""
        return {
            "pid": os.getpid(),
            "version": kbdb.__version__,
            "uptime_s": time.monotonic() - self._started,
            "rss_bytes": platform.resident_bytes(),
            "connections": len(self._connections),
            "waiting": len(self._queue),
            "doing": str(self.writer.doing or self._kb.waits),
            "embedding": self.embedder.waiting,
            **self._about(),
        }

    def publish(self, reading: KnowledgeBase | KbdbError) -> None:
        """Lets readers read from now on what was just committed, or hear why they cannot. From any thread."""
        self._reading = reading
        self._readable.set()
        self.embedder.published(reading)

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for an answer, and nothing for a vector that the provider makes."""
        return not self.active and not self.embedder.is_busy

    def connected(self, connection: Connection) -> None:
        self._connections[connection] = {}
        if self._lets_go:
            # Accepted just before the listener was closed.
            connection.close_when_answered()

    def disconnected(self, connection: Connection) -> None:
        for id in list(self._connections.get(connection, ())):
            self.cancel(connection, id)
        # What is being written goes on to where it can end, and nobody waits for it.
        for asked in self._connections.pop(connection, {}).values():
            asked.deadline.cancel()

    def request(self, connection: Connection, request: Request) -> None:
        """Sees to it that a request gets its answer."""
        self.last_call = time.monotonic()
        self.active += 1
        if not connection.greeted and request.method != "hello":
            failure = Failure(request.id, INVALID_REQUEST, "the first message must be hello")
            self._done(connection, request.id, encode(failure))
            return
        try:
            self._start(connection, request)
        except Exception as error:
            self._answer(connection, request.id, _told(error))

    def cancel(self, connection: Connection, id: Id) -> None:
        """Ends a write early that a connection waits for: at once where its turn has not come."""
        asked = self._connections.get(connection, {}).get(id)
        if asked is None:
            return
        asked.job.cancelled = InterruptedByUserError("interrupted", STORED_BEFORE)
        if self._queue.withdraw(asked.job):
            interrupted = InterruptedByUserError("interrupted", "nothing was stored")
            self._finish(connection, id, answer_line(id, interrupted))
        else:
            self.embedder.give_up(asked.job)

    def cancel_all(self) -> None:
        """Ends all writes early, as when there is nothing left to write to."""
        for connection, asked in self._connections.items():
            for id in list(asked):
                self.cancel(connection, id)

    def let_go(self, reason: str) -> None:
        """Closes each connection once all it asked for is answered; who has more to ask finds the next daemon.

        Long writes end early, each with what it has stored: until they do, nobody else is served.
        """
        self._lets_go = True
        stopped = InterruptedByStopError(
            f"the daemon was stopped: {reason}", f"{STORED_BEFORE}; ask again for the rest"
        )
        for connection, asked in list(self._connections.items()):
            for job in (one.job for one in asked.values()):
                job.cancelled = job.cancelled or (None if job.is_short else stopped)
            connection.close_when_answered()
        self.embedder.end()

    def close(self) -> None:
        """Takes no more work, and waits until what is under way is done and answered."""
        self._queue.end()
        self.writer.join()
        self._readers.shutdown()

    async def hang_up(self) -> None:
        """Waits until all that was answered has gone out; not for ever for those who do not read it."""
        give_up = time.monotonic() + UNREAD_S
        while self._connections and time.monotonic() < give_up:
            await asyncio.sleep(UNREAD_PAUSE_S)

    def _start(self, connection: Connection, request: Request) -> None:
        if own := self._own_method(request.method):
            own(connection, request)
            return
        method = METHODS.get(request.method)
        if method is None:
            failure = Failure(request.id, METHOD_NOT_FOUND, f"no method {request.method!r}")
            self._done(connection, request.id, encode(failure))
            return
        params = read_params(method.params, request.params)
        if isinstance(params, WriteParams):
            self._enqueue(connection, request, method, params)
        elif self._readable.is_set() and self._pace.is_quick(params):
            self._done(connection, request.id, self._found(request.id, lambda kb: method.run(kb, params, _unheard)))
        else:
            self._read(connection, request.id, lambda kb: method.run(kb, params, _unheard))

    def _read(self, connection: Connection, id: Id, run: Callable[[KnowledgeBase], Any]) -> None:
        self._readers.submit(self._read_now, connection, id, run)

    def _read_now(self, connection: Connection, id: Id, run: Callable[[KnowledgeBase], Any]) -> None:
        """Reads, on a reader's thread."""
        self._loop.call_soon_threadsafe(self._done, connection, id, self._found(id, run))

    def _found(self, id: Id, run: Callable[[KnowledgeBase], Any]) -> bytes:
        """Reads; the line of the answer. On any thread."""
        try:
            reading, began = self._committed(), time.thread_time()
            outcome = run(reading)
            if isinstance(outcome, PagedSearchResult):
                if outcome.unreadable and reading is not self._committed():
                    # What it found may have been removed for good since.
                    outcome = run(self._committed())
                self._pace.note(outcome, time.thread_time() - began)
            return _line_of(id, outcome)
        except Exception as error:
            return answer_line(id, _told(error))

    def _committed(self) -> KnowledgeBase:
        """What was last committed; waits until the index is loaded after the start.

        Raises:
            KbdbError: the database is too damaged to be read.
        """
        self._readable.wait()
        if isinstance(self._reading, KbdbError):
            raise self._reading.with_traceback(None)
        assert self._reading is not None
        return self._reading

    def _leave_soon(self, reason: str) -> None:
        self._loop.call_soon_threadsafe(self._leave, reason)

    def _enqueue(self, connection: Connection, request: Request, method: Method, params: WriteParams) -> None:
        id = request.id

        def deliver(outcome: Any) -> None:
            # On the thread that has the outcome: a long answer takes a while to write down.
            self._loop.call_soon_threadsafe(self._finish, connection, id, _line_of(id, outcome))

        def deliver_embedded(outcome: Any) -> None:
            if isinstance(outcome, AddSectionResult) and not outcome.interrupted:
                self.embedder.answer_when_embedded(job, outcome, deliver)
            else:
                deliver(outcome)

        def tell(step: Progress) -> None:
            self._loop.call_soon_threadsafe(connection.send, progress_line(id, step))

        waits = isinstance(params, EmbeddedParams) and params.wait_embeddings
        job = Job(
            owner=connection,
            what=request.method,
            who=connection.peer,
            run=lambda kb, report: method.run(kb, params, report),
            is_short=method.is_short is not None and method.is_short(params),
            deliver=deliver_embedded if waits else deliver,
            tell=tell if params.progress else None,
        )
        asked = self._connections[connection]
        if id in asked:
            raise InvalidArgumentError(f"the id {id!r} is that of a request not answered yet", "use each id once")
        wait_s = params.deadline_ms / 1000
        self._queue.put(job)
        asked[id] = Asked(job, self._loop.call_later(wait_s, self._expire, connection, id, wait_s))

    def _expire(self, connection: Connection, id: Id, waited_s: float) -> None:
        if self._queue.withdraw(self._connections[connection][id].job):
            doing = self.writer.doing or self._kb.waits
            message = f"waited {waited_s:g} s for a turn to write" + (f"; {doing}" if doing else "")
            self._finish(connection, id, answer_line(id, BusyError(message, "try again later")))

    def _finish(self, connection: Connection, id: Id, line: bytes) -> None:
        asked = self._connections.get(connection, {}).pop(id, None)
        if asked is not None:
            asked.deadline.cancel()
        self._done(connection, id, line)

    def _answer(self, connection: Connection, id: Id, outcome: Any) -> None:
        self._done(connection, id, answer_line(id, outcome))

    def _done(self, connection: Connection, id: Id, line: bytes) -> None:
        self.active -= 1
        self.last_call = time.monotonic()
        connection.answer(id, line)

    def _own_method(self, name: str) -> Callable[[Connection, Request], None] | None:
        if name not in OWN:
            return None
        return {
            "hello": self._hello,
            "ping": self._ping,
            "shutdown": self._shutdown,
            "daemonStatus": self._daemon_status,
            "dbStatus": self._db_status,
            "initDirectory": self._db_status,
        }[name]

    def _hello(self, connection: Connection, request: Request) -> None:
        hello = read_params(Hello, request.params)
        own = self._kb.identity
        if hello.database not in ("", own):
            raise NotADatabaseError(
                f"the daemon serves database {own}, not {hello.database}",
                "another database stands there now; try again",
            )
        if 0 < hello.format < self._kb.format:
            raise UnsupportedFormatError(
                f"the database has format {self._kb.format}, kbdb {hello.version} reads up to {hello.format}",
                f"use kbdb {kbdb.__version__}, as its daemon does",
            )
        connection.greeted = True
        told = {"version": kbdb.__version__, "format": self._kb.format, "database": own, "lock": self._lock_id}
        self._answer(connection, request.id, {**told, "root": str(self._kb.root), "pid": os.getpid()})

    def _ping(self, connection: Connection, request: Request) -> None:
        read_params(Nothing, request.params)
        self._answer(connection, request.id, {})

    def _shutdown(self, connection: Connection, request: Request) -> None:
        read_params(Nothing, request.params)
        self._answer(connection, request.id, {"stopping": True})
        self._leave(f"{connection.peer} asked for it")

    def _daemon_status(self, connection: Connection, request: Request) -> None:
        read_params(Nothing, request.params)
        self._answer(connection, request.id, self.status())

    def _db_status(self, connection: Connection, request: Request) -> None:
        read_params(Nothing, request.params)
        daemon = self.status()
        self._read(connection, request.id, lambda kb: replace(kb.status(), daemon=daemon))


def _unheard(step: Progress) -> None:
    """A report for what reads: nobody asks how far it is."""


def _line_of(id: Id, outcome: Any) -> bytes:
    """The answer, or that there is none: nobody may wait for ever because something cannot be written down."""
    try:
        return answer_line(id, outcome)
    except Exception as error:
        return answer_line(id, _told(error))


def _told(error: Exception) -> Exception:
    if not isinstance(error, KbdbError):
        log.error("a request failed", exc_info=error)
    return error
