"""What learning answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A live section whose set of stems is much like a new one's (Jaccard >= 0.85)."""

    kbid: str
    other: str
    title: str
    jaccard: float


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A learned section that stays out of search because its text was forgotten, superseded or marked wrong.

    ``kbid`` is empty where a whole document was forgotten. ``restore``: the command that brings it back, if any does.
    """

    kbid: str
    title: str
    state: str
    since: str
    reason: str
    restore: str = ""


DocumentStatus = Literal["added", "updated", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class LearnedDocument:
    """What became of one source. ``error`` is None or ``{"code", "message", "hint"}``."""

    docid: str
    source: str
    status: DocumentStatus
    sections: int
    kbids: tuple[str, ...]
    error: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class AddSectionResult:
    """The answer to learn.

    ``missing`` lists documents whose source is gone from the learned folder, ``pruned`` those retired for it.
    ``interrupted`` is true when something ended the call early; what is listed was stored. ``interrupted_by`` says
    what did, as an error's code: ``INTERRUPTED`` by who asked, ``DAEMON_STOPPED``.
    ``vector_embedding_failed`` is None while sections wait for their vectors.
    """

    kbids: tuple[str, ...]
    generation: int
    documents: tuple[LearnedDocument, ...]
    sections_added: int
    sections_reused: int
    sections_retired: int
    near_duplicates: tuple[NearDuplicate, ...]
    suppressed: tuple[Suppressed, ...]
    vector_embedding_failed: bool | None
    elapsed_ms: float
    missing: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: bool = False
    interrupted_by: str = ""
