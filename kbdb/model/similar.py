"""What similar answers."""

from __future__ import annotations

from dataclasses import dataclass

from kbdb.model.search import Unreadable


@dataclass(frozen=True, slots=True)
class SimilarHit:
    """A section near in meaning. ``score`` is the cosine."""

    kbid: str
    docid: str
    title: str
    heading_path: tuple[str, ...]
    line: int
    line_end: int
    source: str
    score: float
    tags: tuple[str, ...]
    section_type: str


@dataclass(frozen=True, slots=True)
class SimilarResult:
    """The answer to similar: the nearest first, the section itself left out.

    ``warnings`` tell of sections that cannot be among them yet; ``unreadable``: sections that are, and cannot be shown.
    """

    kbid: str
    title: str
    generation: int
    limit: int
    engine_ms: float
    elapsed_ms: float
    warnings: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]
    hits: tuple[SimilarHit, ...]
