"""How far a long run has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a long run.

    Attributes:
        done: documents learned so far, or sections indexed.
        total: how many there are.
        source: the path just learned; ``""`` while the index is made anew.
    """

    done: int
    total: int
    source: str = ""


Report = Callable[[Progress], None]
"""What takes each step. It may raise InterruptedByUserError to end the run: learn then stops after the document just
learned and tells what it stored, all others leave everything as it was."""
