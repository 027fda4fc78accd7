"""What a search answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class ExplainShare:
    """One clause's share of a hit's score; all values added in order with + give the score exactly."""

    clause: str
    term: str
    value: float
    weight: float
    idf: float
    saturation: float
    frequencies: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LegRank:
    """Where one leg of a hybrid search has a hit: ``lexical`` or ``vector``, the rank from 1, BM25F score or cosine."""

    leg: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A section found. ``content``, ``explain`` and, in hybrid searches, ``legs`` are None, and not in its JSON, unless
    asked for. ``score`` is the BM25F score, the cosine or the sum of reciprocal ranks, by the ``retrieval_method``."""

    ON_REQUEST: ClassVar = ("content", "explain", "legs")

    kbid: str
    docid: str
    title: str
    heading_path: tuple[str, ...]
    level: int
    line: int
    line_end: int
    source: str
    score: float
    snippet: str
    matched_terms: tuple[str, ...]
    tags: tuple[str, ...]
    section_type: str
    content: str | None = None
    explain: tuple[ExplainShare, ...] | None = None
    legs: tuple[LegRank, ...] | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A hit whose file could not be read: found, but not shown."""

    kbid: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class PagedSearchResult:
    """The answer to a search.

    ``match`` says how the best hit fits the words: all, most, any, synonym, near, none. ``verdict``: answered, weak,
    unanswered. ``hidden``: sections that match but are not live (superseded, forgotten, ...), counted up to 1,000.
    ``unreadable``: sections that could not be searched or shown. Times in milliseconds. ``vector_index_stale`` is true
    where vectors of another model kept meaning from being searched, else None, and not in its JSON.
    """

    ON_REQUEST: ClassVar = ("vector_index_stale",)

    query: str
    search_mode: str
    retrieval_method: str
    match: str
    verdict: str
    generation: int
    total: int
    total_is_exact: bool
    hidden: int
    offset: int
    limit: int
    engine_ms: float
    elapsed_ms: float
    warnings: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]
    hits: tuple[SearchHit, ...]
    vector_index_stale: bool | None = None
