"""Tells which searches the event loop answers itself, because changing threads would cost more than they take.

What a search will take is guessed from what it asks for and from what searches took of late. While the event loop
answers one, it listens to nobody: whatever may take longer is left to the threads that read.
"""

from __future__ import annotations

import re

from kbdb.daemon.requests import Params, Search
from kbdb.model.search import PagedSearchResult

QUICK_CPU_MS = 3.0
"""Where searches took more CPU of late they go to the readers; two changes of threads cost a twentieth of it."""

QUICK_ENGINE_MS = 0.5
"""The same of their time in the engine, where several threads can be at once."""

QUICK_MS = 20.0
"""The same of their time by the clock. What is not CPU is a disk that is slow, or a machine with much else to do: the
first must not hold up the event loop, and with the second threads wait for each other all the longer."""

MEMORY = 16
"""About how many searches it remembers: one that chance held up must not count for much."""

LEXICAL = "lexical"

MAX_HITS = 20
MAX_CHARACTERS = 256
MAX_WORDS = 8
"""The deepest page and the longest query that the event loop answers: words that stand
in every section take much longer than most, and each adds to it."""

_COSTLY = re.compile('["\uff02\u201c\u201d\u201e\u201f*\uff0a]')
"""Marks of phrases and prefixes (``kbdb.query.parser``): the positions of words are compared, or many words
are looked up for one."""

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff"
_WORDS = re.compile(f"[A-Z]*[^\\W_A-Z{_SPACELESS}]+|[A-Z]+|[{_SPACELESS}]")
"""About what is looked up for a query: parts of identifiers, and each character of scripts without spaces."""


class Pace:
    """What searches of one database took of late; at first, none is taken to be quick.

    Any thread may note what a search took: that two do so at once and one is lost does no harm.

    Args:
        may_hang: whether the files are where reading one may take for ever; then no search is quick.
        mode: of searches that name none.
    """

    def __init__(self, *, may_hang: bool = False, mode: str = LEXICAL) -> None:
        self._may_hang = may_hang
        self._mode = mode
        self._cpu_ms = 2 * QUICK_CPU_MS
        self._engine_ms = self._took_ms = 0.0

    def is_quick(self, params: Params) -> bool:
        """Whether a request is a search that takes little time."""
        return (
            isinstance(params, Search)
            # Other modes ask a provider for the vector of the query.
            and (params.mode or self._mode) == LEXICAL
            and self._cpu_ms < QUICK_CPU_MS
            and self._engine_ms < QUICK_ENGINE_MS
            and self._took_ms < QUICK_MS
            and not self._may_hang
            and len(params.query) <= MAX_CHARACTERS
            and params.offset + (params.limit or 0) <= MAX_HITS
            and not (params.content or params.explain or _COSTLY.search(params.query))
            and len(_WORDS.findall(params.query)) <= MAX_WORDS
        )

    def note(self, answer: PagedSearchResult, cpu_s: float) -> None:
        """Takes in what a search by words took, and how much of it was CPU, wherever it was answered."""
        if answer.search_mode != LEXICAL:
            return
        self._cpu_ms += (cpu_s * 1000 - self._cpu_ms) / MEMORY
        self._engine_ms += (answer.engine_ms - self._engine_ms) / MEMORY
        self._took_ms += (answer.elapsed_ms - self._took_ms) / MEMORY
