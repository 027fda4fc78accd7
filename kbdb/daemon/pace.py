"""Tells which searches the event loop answers itself, because changing threads would cost more than they take.

What a search will take is guessed from what it asks for and from what searches took of late. While the event loop
answers one, it listens to nobody: whatever may take longer is left to the threads that read.
"""

from __future__ import annotations

from kbdb.daemon.requests import Params, Search
from kbdb.model.search import PagedSearchResult

QUICK_MS = 4.0
"""Where searches took longer of late they go to the readers; two changes of threads cost a twentieth of it."""

QUICK_ENGINE_MS = 0.5
"""The same of their time in the engine, where several threads can be at once."""

MEMORY = 16
"""About how many searches it remembers: one that chance held up must not count for much."""

MAX_HITS = 20
MAX_CHARACTERS = 256
"""The deepest page and the longest query that the event loop answers."""


class Pace:
    """What searches of one database took of late; at first, none is taken to be quick.

    Any thread may note what a search took: that two do so at once and one is lost does no harm.

    Args:
        may_hang: whether the files are where reading one may take for ever; then no search is quick.
    """

    def __init__(self, *, may_hang: bool = False) -> None:
        self._may_hang = may_hang
        self._took_ms = 2 * QUICK_MS
        self._engine_ms = 0.0

    def is_quick(self, params: Params) -> bool:
        """Whether a request is a search that takes little time."""
        return (
            isinstance(params, Search)
            and self._took_ms < QUICK_MS
            and self._engine_ms < QUICK_ENGINE_MS
            and not self._may_hang
            and len(params.query) <= MAX_CHARACTERS
            and params.offset + (params.limit or 0) <= MAX_HITS
            and not (params.content or params.explain or "*" in params.query)
        )

    def note(self, answer: PagedSearchResult) -> None:
        """Takes in what a search took, wherever it was answered."""
        self._took_ms += (answer.elapsed_ms - self._took_ms) / MEMORY
        self._engine_ms += (answer.engine_ms - self._engine_ms) / MEMORY
