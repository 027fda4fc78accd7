"""What the layers above say to an engine: entries to index, and resolved plans to search with.

Both engines (``kbdb._engine`` and ``kbdb.reference``) take these and nothing else; they hold no policy. What each query
makes is a named tuple: one takes half the time of a frozen dataclass, and a query makes dozens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

FIELDS = ("title", "body", "description", "tags", "heading")
"""The indexed text fields, in the order in which BM25F adds them."""

MAX_CLAUSES = 64
"""A plan holds at most this many clauses, so that a hit's matched clauses fit a 64-bit mask."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One section as the index sees it: its text, and where its documents place it.

    Attributes:
        kbid: the 16 bytes of the section's id.
        fields: the texts of ``FIELDS``, in that order.
        filters: sorted, distinct keys (``tag:x``, ``type:text/plain``, ``section_type:default``, ``doc:<docid>``,
            ``source:<path>``).
        references: sorted, distinct targets (``kbid:<26 characters>``, ``doc:<docid>``, ``doc:<docid>#<anchor>``).
        stored: bytes given back with a hit; opaque to the engine.
        listed: whether any manifest lists the section.
    """

    kbid: bytes
    fields: tuple[str, str, str, str, str]
    filters: tuple[str, ...]
    references: tuple[str, ...]
    stored: bytes
    listed: bool


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """The bytes of one segment's four files; grammar in csrc/README.md."""

    terms: bytes
    positions: bytes
    corpus: bytes
    references: bytes


@dataclass(frozen=True, slots=True)
class Params:
    """BM25F parameters: saturation ``k1``, and length normalisation ``b`` and weight for each of ``FIELDS``."""

    k1: float
    b: tuple[float, float, float, float, float]
    weights: tuple[float, float, float, float, float]


class Alternative(NamedTuple):
    """One way to satisfy a clause: a stem, or several that must stand at consecutive positions of one field."""

    stems: tuple[str, ...]
    weight: float = 1.0


class Clause(NamedTuple):
    """Alternatives of which the best counts.

    Attributes:
        label: the query's own words, for explain; the engine ignores it.
        alternatives: at least one.
        kind: ``should`` adds to the score, ``must`` does and is required, ``must_not`` excludes.
        field: index into ``FIELDS`` when only that field counts, else None.
    """

    label: str
    alternatives: tuple[Alternative, ...]
    kind: Literal["should", "must", "must_not"] = "should"
    field: int | None = None


class Plan(NamedTuple):
    """A resolved query. Without a must or should clause, every allowed section matches with score 0."""

    clauses: tuple[Clause, ...]


class EngineHit(NamedTuple):
    """A section found: its segment's place in the searcher's list, its entry there, its score, its kbid as text.

    ``matched`` has bit i set when clause i matched.
    """

    segment: int
    entry: int
    score: float
    matched: int
    kbid: str


class EngineResult(NamedTuple):
    """Hits by falling score, then kbid; ``total`` counts up to ``TOTAL_LIMIT`` and then stays there."""

    hits: tuple[EngineHit, ...]
    total: int
    total_is_exact: bool


class VectorHit(NamedTuple):
    """A section found by its vector: its segment's place in the searcher's list, its entry there, cosine, kbid."""

    segment: int
    entry: int
    score: float
    kbid: str


TOTAL_LIMIT = 1000
"""Totals are exact up to this number; past it they are this number, a lower bound."""


class Share(NamedTuple):
    """What one clause gave to one section's score. The values of all shares, added in order with +, are the score.

    Attributes:
        clause: index into the plan's clauses.
        alternative: index of the alternative that gave the most (the first of equals).
        value: weight x idf x saturation.
        weight: the alternative's weight.
        idf: of the stem, or the sum over a phrase's stems.
        saturation: x / (k1 + x), x the weighted, length-normalised frequency over the fields.
        frequencies: occurrences in each of ``FIELDS``.
    """

    clause: int
    alternative: int
    value: float
    weight: float
    idf: float
    saturation: float
    frequencies: tuple[int, int, int, int, int]
