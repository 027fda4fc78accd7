"""The one thread that writes: takes waiting requests in turn, commits, and puts up what was committed for readers.

A request's result is delivered after its commit is durable and after readers see it: whoever hears of a write finds it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from kbdb.daemon.queue import FairQueue, Job
from kbdb.errors import BusyError, DatabaseClosedError, KbdbError
from kbdb.knowledge import KnowledgeBase
from kbdb.progress import Progress, Report

log = logging.getLogger(__name__)

REST_S = 2.0
"""After so long without a write the journal is emptied."""

TOGETHER_S = 0.05
"""For how long short writes that wait join those of a turn: the first of them waits for the last."""

TOLD_EACH_S = 0.1
"""How often a client hears how far its long run is."""

Ended = Callable[[], KbdbError | None]
"""Says what to raise instead of waiting on."""

TakeLock = Callable[[float | None, Ended], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Doing:
    """What the writer does now, and since when (``time.monotonic``)."""

    what: str
    who: str
    since: float

    def __str__(self) -> str:
        return f"{self.what} of {self.who} has been writing for {time.monotonic() - self.since:.1f} s"


class Writer(threading.Thread):
    """Owns a KnowledgeBase for writing.

    Args:
        kb: the database; nobody else may use it while the thread runs.
        queue: where requests wait.
        lock: makes a context held for one write operation; takes how long to wait for it, and what ends the wait.
        publish: takes what readers shall read from now on, or why they cannot.
        fail: called with the reason when nothing can be written any more.

    Attributes:
        doing: what is written now, or None.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        queue: FairQueue,
        lock: TakeLock,
        publish: Callable[[KnowledgeBase | KbdbError], None],
        fail: Callable[[str], None],
    ) -> None:
        super().__init__(name="kbdb-writer", daemon=True)
        self.doing: Doing | None = None
        self._kb = kb
        self._queue = queue
        self._lock = lock
        self._publish = publish
        self._fail = fail
        kb.pause_with(self._let_short_ones_in)

    def run(self) -> None:
        """Writes until the queue is ended and empty."""
        try:
            self._put_up()
            rested = False
            while not self._queue.is_over:
                job = self._queue.take(None if rested else REST_S)
                if job is not None:
                    self._serve(job)
                # What is merged beside the work is taken over at rest, too.
                rested = job is None and (rested or self._rest()) and not self._kb.is_merging
        except BaseException as error:
            log.exception("the writer failed")
            self._give_up(f"writing failed: {type(error).__name__}")

    def _give_up(self, reason: str) -> None:
        """Lets nobody wait for what will not happen any more."""
        self._fail(reason)
        self._publish(_stopping())
        self._queue.end()
        while (job := self._queue.take()) is not None:
            job.deliver(_stopping())

    def _rest(self) -> bool:
        """Uses a pause to empty the journal, so that the next to open the database is quick, after a crash, too.

        Returns:
            False where another program keeps it from that, so that a later pause is needed.
        """
        try:
            # Who asks for a write meanwhile, or for the end, must not wait for this.
            with self._lock(0.0, _never):
                self._kb.settle()
        except BusyError:
            return False
        except KbdbError as error:
            log.warning("the journal stays as it is: %s", error.message)
        else:
            self._put_up()
        return True

    def _serve(self, first: Job) -> None:
        """One turn: a long write, or short ones that wait together. What is stored is told so, whatever comes after."""
        outcomes = self._outcomes(first)
        self.doing = None
        try:
            if reason := self._unfit():
                self._fail(reason)
            self._put_up()
        finally:
            for job, outcome in outcomes:
                job.deliver(outcome)

    def _outcomes(self, first: Job) -> list[tuple[Job, Any]]:
        """What became of the jobs of one turn: their results, or exceptions."""
        if self._unfit():
            # Whoever is told this asks the next daemon.
            return [(first, _stopping())]
        try:
            with self._lock(None, lambda: self._ended(first)):
                self.doing = Doing(first.what, first.who, time.monotonic())
                return self._short_ones(first) if first.is_short else [(first, self._outcome(first))]
        except KbdbError as error:
            return [(first, error)]

    def _ended(self, job: Job) -> KbdbError | None:
        """Why a job that waits for another program need not wait on; whoever hears of a stop asks the next daemon."""
        return job.cancelled or (_stopping() if self._queue.is_ended else None)

    def _unfit(self) -> str:
        """Why nothing can be stored before the database is opened anew, or ``""``."""
        if self._kb.failure is not None:
            return f"storing failed: {self._kb.failure.message}"
        if self._kb.is_read_only and os.access(self._kb.root, os.W_OK):
            return "what could only be read when it was opened can be written now"
        return ""

    def _short_ones(self, first: Job) -> list[tuple[Job, Any]]:
        """Short writes that wait, with one sync for all."""
        began = time.monotonic()
        taken, outcomes = [first], []
        try:
            with self._kb.together():
                outcomes.append(self._outcome(first))
                while time.monotonic() - began < TOGETHER_S and (job := self._queue.take_short()) is not None:
                    taken.append(job)
                    outcomes.append(self._outcome(job))
        except Exception as error:
            if not isinstance(error, KbdbError):
                log.exception("%s failed", ", ".join(job.what for job in taken))
            return [(job, error) for job in taken]
        return list(zip(taken, outcomes, strict=True))

    def _let_short_ones_in(self) -> None:
        """Between two batches of a long learn: what is stored is shown, and short writes that wait are let in."""
        job = self._queue.take_short()
        outcomes = [] if job is None else self._short_ones(job)
        try:
            self._put_up()
        finally:
            for job, outcome in outcomes:
                job.deliver(outcome)

    def _put_up(self) -> None:
        """Lets readers see what is committed; a damaged database can still be checked and rebuilt."""
        try:
            self._publish(self._kb.reading())
        except KbdbError as error:
            log.warning("nothing can be read: %s", error.message)
            self._publish(error)

    def _outcome(self, job: Job) -> Any:
        if job.cancelled:
            return job.cancelled
        try:
            return job.run(self._kb, _report_of(job))
        except KbdbError as error:
            return error
        except Exception as error:
            log.exception("%s failed", job.what)
            return error


def _never() -> None:
    """Nothing ends a wait that is none."""


def _stopping() -> DatabaseClosedError:
    return DatabaseClosedError("the daemon is stopping", "try again: that starts a new one")


def _report_of(job: Job) -> Report:
    """Passes each step on, not too often, and ends the run once the job is cancelled."""
    told = time.monotonic()

    def report(step: Progress) -> None:
        nonlocal told
        if job.cancelled:
            raise job.cancelled
        now = time.monotonic()
        if job.tell is not None and (now - told >= TOLD_EACH_S or step.done == step.total):
            told = now
            job.tell(step)

    return report
