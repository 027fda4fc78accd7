"""How far a long run has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a long run.

    Attributes:
        done: documents learned so far, or sections indexed, or whatever else the run goes through.
        total: how many there are.
        source: the path just learned; ``""`` of other runs.
    """

    done: int
    total: int
    source: str = ""


Report = Callable[[Progress], None]
"""What takes each step. It may raise InterruptedByUserError to end the run: learn then stops after the document just
learned and tells what it stored, all others leave everything as it was."""

TOLD_EACH = 100
"""A run through sections or files tells how far it is after so many."""


def now_and_then(progress: Report | None, total: int) -> Callable[[int], None]:
    """What takes, after each step, how many are done, and tells it after some and at the end; it may end the run."""

    def step(done: int) -> None:
        if progress is not None and (done % TOLD_EACH == 0 or done == total):
            progress(Progress(done, total))

    return step
