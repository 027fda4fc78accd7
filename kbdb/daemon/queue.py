"""Who writes next: requests that wait, in turns between connections, so that nobody waits for all that another sent.

Filled by the event loop, emptied by the writer; a request can be withdrawn as long as it waits.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from kbdb.errors import BusyError, DatabaseClosedError, InterruptedByUserError
from kbdb.knowledge import KnowledgeBase
from kbdb.progress import Progress, Report

MAX_WAITING = 1024
"""More requests than these are refused at once: their deadlines would pass before their turn came."""


@dataclass(eq=False, slots=True)
class Job:
    """A write that somebody asked for.

    Attributes:
        owner: the connection that asked.
        what: the method.
        who: who asked, for messages.
        run: does it.
        is_short: whether it may share its sync with others.
        deliver: takes the result, or the exception; called once, on the writer's thread.
        tell: takes each step of a long run, or None.
        cancelled: why to end it early, once there is a reason.
        goes_last: whether it lets all others go first.
    """

    owner: Hashable
    what: str
    who: str
    run: Callable[[KnowledgeBase, Report], Any]
    is_short: bool
    deliver: Callable[[Any], None]
    tell: Callable[[Progress], None] | None = None
    cancelled: InterruptedByUserError | None = None
    goes_last: bool = False


class FairQueue:
    """Jobs that wait. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Hashable, deque[Job]] = OrderedDict()
        self._last: deque[Job] = deque()
        self._length = 0
        self._changed = threading.Condition()
        self._ended = False

    def __len__(self) -> int:
        return self._length

    def put(self, job: Job) -> None:
        """Adds a job.

        Raises:
            BusyError: too many wait already.
            DatabaseClosedError: the queue was ended.
        """
        with self._changed:
            if self._ended:
                raise DatabaseClosedError("the daemon is stopping", "try again: that starts a new one")
            if self._length >= MAX_WAITING:
                raise BusyError(f"{self._length:,} writes wait already", "try again later")
            if job.goes_last:
                self._last.append(job)
            else:
                self._waiting.setdefault(job.owner, deque()).append(job)
                self._length += 1
            self._changed.notify()

    def withdraw(self, job: Job) -> bool:
        """Takes a job out again; false when its turn has come already."""
        with self._changed:
            jobs = self._waiting.get(job.owner)
            if jobs is None or job not in jobs:
                return False
            jobs.remove(job)
            self._took_from(job.owner)
            return True

    @property
    def is_ended(self) -> bool:
        """Whether no more are let in."""
        return self._ended

    @property
    def is_over(self) -> bool:
        """Whether it was ended, and nothing waits any more."""
        return self._ended and not self._waiting and not self._last

    def take(self, patience_s: float | None = None) -> Job | None:
        """The next job; waits for one. None when that takes too long, or the queue is over.

        Args:
            patience_s: how long to wait; None for ever.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._last or self._ended, patience_s)
            return self._next(only_short=False)

    def take_short(self) -> Job | None:
        """The next short job, where one waits."""
        with self._changed:
            return self._next(only_short=True)

    def end(self) -> None:
        """Lets those in come to their turn, and no more in."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _next(self, *, only_short: bool) -> Job | None:
        """Takes out the first job of the connection whose turn it is, which then stands last."""
        for owner, jobs in self._waiting.items():
            if jobs[0].is_short or not only_short:
                job = jobs.popleft()
                self._waiting.move_to_end(owner)
                self._took_from(owner)
                return job
        if self._last and (self._last[0].is_short or not only_short):
            return self._last.popleft()
        return None

    def _took_from(self, owner: Hashable) -> None:
        self._length -= 1
        if not self._waiting[owner]:
            del self._waiting[owner]
