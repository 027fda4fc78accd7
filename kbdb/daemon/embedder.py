"""The thread that has sections embedded: looks for those without a vector after each commit, and hands what the
provider makes to the writer.

It reads what was last committed and writes nothing itself, so that nobody waits for a provider, however slow. What
waits is found by looking, also after a crash.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any

from kbdb.daemon.queue import Job
from kbdb.errors import BusyError, DatabaseClosedError, InterruptedByStopError, KbdbError
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.embed_sections import Made, not_waited, without_vectors
from kbdb.model.learn import AddSectionResult
from kbdb.progress import Report

log = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 30.0, 3600.0
"""Before a provider in trouble is asked again, each time twice as long."""

SOON_S = 5.0
"""The same where something new was learned: the provider may well serve again, and somebody is at work."""

WRITER_PAUSE_S = 1.0
"""Before vectors are offered again that the writer could not take: they may have cost money."""

Deliver = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class _Wait:
    """A learn that is stored and answered once its sections have their vectors.

    Attributes:
        job: the learn; who asked can end the wait by it.
        learned: what was stored.
        deliver: takes the answer; called once, on any thread.
    """

    job: Job
    learned: AddSectionResult
    deliver: Deliver


class Embedder(threading.Thread):
    """Has what is committed embedded. Its methods may be called from any thread.

    Nothing waits for its end: a service that does not answer must not hold up anybody.

    Args:
        embeds: whether a provider is configured; without one the thread need not be started.
        put: takes a job for the writer (errors as ``FairQueue.put``).
        first_pause_s: see ``FIRST_PAUSE_S``.
        soon_s: see ``SOON_S``.

    Attributes:
        waiting: how many sections waited for a vector when it last looked.
    """

    def __init__(
        self,
        put: Callable[[Job], None],
        *,
        embeds: bool,
        first_pause_s: float = FIRST_PAUSE_S,
        soon_s: float = SOON_S,
    ) -> None:
        super().__init__(name="kbdb-embedder", daemon=True)
        self.waiting = 0
        self._embeds = embeds
        self._put = put
        self._first_pause_s = self._pause_s = first_pause_s
        self._soon_s = soon_s
        self._changed = threading.Condition()
        self._reading: KnowledgeBase | KbdbError | None = None
        self._generation = -1
        self._waits: dict[Job, _Wait] = {}
        self._has_news = False
        self._works = False
        self._trouble = ""
        self._failed_at = self._not_before = 0.0
        self._ended = False

    @property
    def is_busy(self) -> bool:
        """Whether there is something to be embedded, and the provider serves, as far as is known."""
        with self._changed:
            return self._works or (self._has_news and not self._trouble)

    def published(self, reading: KnowledgeBase | KbdbError) -> None:
        """Tells what readers read from now on."""
        if not self._embeds:
            return
        with self._changed:
            self._reading = reading
            if isinstance(reading, KnowledgeBase) and reading.generation != self._generation:
                self._generation = reading.generation
                self._try_soon()
            if self._trouble and isinstance(reading, KnowledgeBase) and not reading.embedding_trouble:
                # A rebuild found that it is over.
                self._not_before = 0.0
            self._look()

    def answer_when_embedded(self, job: Job, learned: AddSectionResult, deliver: Deliver) -> None:
        """Answers a learn whose result was published once its sections have their vectors, or cannot get them now.

        An end of the daemon ends the wait, and so does who asked for the learn.
        """
        if not self._embeds:
            deliver(not_waited(learned))
            return
        wait = _Wait(job, learned, deliver)
        if learned.vector_embedding_failed is not False:
            with self._changed:
                if not self._ended and not job.cancelled:
                    self._waits[job] = wait
                    self._try_soon()
                    self._look()
                    return
        deliver(_unwaited(wait))

    def give_up(self, job: Job) -> None:
        """Ends the wait of a learn, where it waits."""
        with self._changed:
            wait = self._waits.pop(job, None)
        if wait is not None:
            wait.deliver(_unwaited(wait))

    def end(self) -> None:
        """Ends all waits, and begins nothing new."""
        with self._changed:
            self._ended = True
            waits, self._waits = list(self._waits.values()), {}
            self._changed.notify_all()
        for wait in waits:
            wait.deliver(_unwaited(wait))

    def run(self) -> None:
        """Embeds until it is ended."""
        try:
            while (reading := self._next_reading()) is not None:
                self._serve(reading)
        except BaseException as error:
            if self._ended:
                return
            log.exception("the embedder failed")
            reason = f"{type(error).__name__} in the daemon"
            self._answer_all(lambda wait: without_vectors(wait.learned, reason))
            self.end()

    def _look(self) -> None:
        """Has the thread look again; under the lock."""
        self._has_news = True
        self._changed.notify_all()

    def _try_soon(self) -> None:
        """Has a provider in trouble tried again soon; under the lock."""
        self._not_before = min(self._not_before, self._failed_at + self._soon_s)

    def _next_reading(self) -> KnowledgeBase | KbdbError | None:
        """Something new to look at, once it is time to; None at the end."""
        with self._changed:
            self._works = False
            while not self._ended:
                pause_s = self._not_before - time.monotonic()
                if self._has_news and self._reading is not None and pause_s <= 0:
                    self._has_news, self._works = False, True
                    return self._reading
                self._changed.wait(pause_s if self._has_news and pause_s > 0 else None)
            return None

    def _serve(self, reading: KnowledgeBase | KbdbError) -> None:
        """Embeds some of what waits, and answers who need not wait any more."""
        try:
            if isinstance(reading, KbdbError):
                raise reading.with_traceback(None)
            self._answer_embedded(reading)
            self.waiting = reading.embedding_status().waiting
            made = reading.next_vectors()
            if made is not None and made.kbids:
                self._hand_over(made)
        except DatabaseClosedError:
            return
        except Exception as error:
            if self._ended:
                return
            self._note(reading, error)
            return
        self._recover(reading)
        if made is None:
            self.waiting = 0
            return
        with self._changed:
            self._look()

    def _hand_over(self, made: Made) -> None:
        """Has the writer keep vectors, and waits until readers see them.

        Raises:
            DatabaseClosedError: there is no writer any more.
            KbdbError: they could not be kept.
        """

        def take(kb: KnowledgeBase, _: Report) -> None:
            kb.take_vectors(made)

        while not self._ended:
            outcomes: SimpleQueue[Any] = SimpleQueue()
            with suppress(BusyError):
                self._put(Job(self, "embedding", "the daemon", take, True, outcomes.put, goes_last=True))
                outcome = outcomes.get()
                if not isinstance(outcome, BusyError):
                    if isinstance(outcome, Exception):
                        raise outcome
                    return
            with self._changed:
                self._changed.wait_for(lambda: self._ended, WRITER_PAUSE_S)

    def _answer_embedded(self, reading: KnowledgeBase) -> None:
        """Answers those whose sections have their vectors."""
        for wait in list(self._waits.values()):
            # What was learned since is not in this reading.
            if wait.learned.generation <= reading.generation:
                outcome = reading.with_outcome(wait.learned)
                if outcome is not None:
                    self._answer(wait, outcome)

    def _answer_all(self, outcome_of: Callable[[_Wait], AddSectionResult]) -> None:
        for wait in list(self._waits.values()):
            self._answer(wait, outcome_of(wait))

    def _answer(self, wait: _Wait, outcome: AddSectionResult) -> None:
        with self._changed:
            waited = self._waits.pop(wait.job, None)
        if waited is not None:
            wait.deliver(outcome)

    def _note(self, reading: KnowledgeBase | KbdbError, error: Exception) -> None:
        """Tells why nothing is embedded, and has it tried again later."""
        if isinstance(error, KbdbError):
            trouble = error.in_a_line
        else:
            log.error("embedding failed", exc_info=error)
            trouble = f"{type(error).__name__} in the daemon"
        if trouble != self._trouble:
            log.warning("nothing is embedded: %s", trouble)
        if isinstance(reading, KnowledgeBase):
            reading.note_trouble(trouble)
        with self._changed:
            self._trouble = trouble
            self._failed_at = time.monotonic()
            self._not_before = self._failed_at + self._pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
            self._look()
        self._answer_all(lambda wait: without_vectors(wait.learned, trouble))

    def _recover(self, reading: KnowledgeBase | KbdbError) -> None:
        """Takes back what was told of trouble."""
        if not self._trouble or not isinstance(reading, KnowledgeBase):
            return
        log.info("sections are embedded again")
        reading.note_trouble("")
        with self._changed:
            self._trouble, self._pause_s = "", self._first_pause_s


def _unwaited(wait: _Wait) -> AddSectionResult:
    """The answer to a learn whose wait ended early: it is stored, and its vectors come later."""
    ended = wait.job.cancelled
    if ended is None or isinstance(ended, InterruptedByStopError):
        return wait.learned
    return replace(wait.learned, interrupted=True, interrupted_by=ended.code)
