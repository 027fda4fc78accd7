"""What status, check, rebuild, gc, export and import answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kbdb.model.embedding import EmbeddingStatus


@dataclass(frozen=True, slots=True)
class GcResult:
    """Sections that no manifest lists and no belief needs, removed."""

    removed: int
    bytes_freed: int
    kbids: tuple[str, ...]
    dry_run: bool
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class RebuildResult:
    """The answer to rebuild; ``warnings`` tell what had to be left out. ``vectors``: how many were made;
    ``vector_embedding_failed``: whether that was not possible, and the index of words alone is new."""

    sections: int
    vectors: int
    elapsed_ms: float
    warnings: tuple[str, ...] = ()
    vector_embedding_failed: bool = False


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The answer to export and import."""

    path: str
    sections: int
    documents: int
    suppressed: int
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class CheckFault:
    """One thing check found wrong, and what to do about it."""

    code: str
    path: str
    kbid: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class DuplicateSection:
    """One of two sections that mean nearly the same, and where it stands."""

    kbid: str
    docid: str
    title: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two live sections that mean nearly the same. ``score`` is the cosine of their vectors."""

    score: float
    first: DuplicateSection
    second: DuplicateSection


@dataclass(frozen=True, slots=True)
class DuplicateReport:
    """Pairs of live sections whose cosine is at least ``threshold``, the nearest first, 1,000 at most.

    ``sections`` have a vector and were compared, ``without_vector`` have none and were not. ``total``: how many pairs
    were found; there may be more where ``total_is_exact`` is false: of each section only the nearest are looked at.
    """

    threshold: float
    sections: int
    without_vector: int
    total: int
    total_is_exact: bool
    pairs: tuple[DuplicatePair, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The answer to check: ``ok`` is true when there are no errors; warnings and duplicates do not count.

    ``duplicates`` is None, and not in its JSON, unless asked for.
    """

    ON_REQUEST: ClassVar = ("duplicates",)

    ok: bool
    errors: tuple[CheckFault, ...]
    warnings: tuple[CheckFault, ...]
    sections: int
    documents: int
    elapsed_ms: float
    duplicates: DuplicateReport | None = None


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Sizes of the index files on disk, summed over segments."""

    terms_idx_bytes: int
    positions_idx_bytes: int
    corpus_dat_bytes: int
    references_idx_bytes: int
    vectors_idx_bytes: int
    segments: int
    stale: bool


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Which engine answers, and what it holds in private memory beside the mapped files."""

    implementation: str
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class DbStatus:
    """The answer to status."""

    database: str
    path: str
    generation: int
    sections: int
    documents: int
    states: Mapping[str, int]
    index: IndexStatus
    engine: EngineStatus
    journal_bytes: int
    daemon: Mapping[str, Any] | None = None
    embedding: EmbeddingStatus = field(default_factory=EmbeddingStatus)
    auto_capture: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
