"""The values that travel between layers: frozen, typed, the same over Python, CLI, daemon and MCP.

``as_json`` is the one way from these values to JSON-ready dicts; it is called at the edge only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal


class State(StrEnum):
    """What is believed of a section (DESIGN: words)."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    EXPIRED = "expired"
    FORGOTTEN = "forgotten"
    ERASED = "erased"


SECTION_TYPES = ("default", "skill", "agent")


@dataclass(frozen=True, slots=True)
class Section:
    """What is stored, searched and cited: immutable and content-addressed.

    ``kbid`` follows from the other fields (``kbdb.store.section.kbid_of``).
    """

    kbid: str
    section_type: str
    type: str
    title: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document came from.

    Attributes:
        who: ``user``, ``agent``, ``import`` or ``auto-capture``.
        source: path relative to the database's folder (``/`` separators), absolute path outside it, URL, or ``""``.
        sha256: hex digest of the source's bytes.
    """

    who: str
    source: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Placement:
    """One section's place in a document.

    Attributes:
        level: heading level 1 to 6; 0 for text before the first heading or without one.
        parent: kbid of the section this one stands under, or ``""``.
        heading_path: titles of the sections above, outermost first, without its own.
        line, line_end: first and last line in the source, from 1, inclusive, white space after the section left out.
        gap: the white space between this section's content and the next (or the end).
    """

    kbid: str
    level: int
    parent: str
    heading_path: tuple[str, ...]
    line: int
    line_end: int
    gap: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A document: what its source said. ``head`` + each content + its ``gap`` is the source, byte for byte.

    ``head`` holds what comes before the first section: byte-order mark, front matter, blank lines.
    Times are ISO 8601 UTC with seconds (``2026-01-31T12:00:00Z``).
    """

    docid: str
    type: str
    title: str
    description: str
    tags: tuple[str, ...]
    subject: str
    origin: Origin
    created: str
    updated: str
    head: str
    sections: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One change of belief. Never holds content.

    Attributes:
        id: sorts by time; unique.
        time: ISO 8601 UTC with microseconds.
        writer: the clone that wrote it; also the stem of its file's name.
        actor: ``user``, ``agent``, ``import``, ``auto-capture`` or ``kbdb``.
        kind: ``revise``, ``invalidate``, ``forget``, ``restore``, ``erase``, ``valid-until``, ``retire``.
            ``retire`` says that a document's source is gone or left these sections out: no belief changes.
        kbids: the sections it speaks of (the old ones, for ``revise``).
        docid: the document it speaks of, or ``""``.
        successor: for ``revise``, the kbid that takes their place.
        until: for ``valid-until``, the instant.
        reason: free text of the actor's.
        text_keys: for ``forget``, ``invalidate``, ``erase`` and ``revise``: how the same text is recognised later.
    """

    id: str
    time: str
    writer: str
    actor: str
    kind: str
    kbids: tuple[str, ...] = ()
    docid: str = ""
    successor: str = ""
    until: str = ""
    reason: str = ""
    text_keys: tuple[str, ...] = ()


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
class SearchHit:
    """A section found. ``content`` and ``explain`` are None, and not in its JSON, unless asked for."""

    ON_REQUEST: ClassVar = ("content", "explain")

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
    ``unreadable``: sections that could not be searched or shown. Times in milliseconds.
    """

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
    ``interrupted`` is true when Ctrl-C ended the call early; what is listed was stored.
    """

    kbids: tuple[str, ...]
    generation: int
    documents: tuple[LearnedDocument, ...]
    sections_added: int
    sections_reused: int
    sections_retired: int
    near_duplicates: tuple[NearDuplicate, ...]
    suppressed: tuple[Suppressed, ...]
    vector_embedding_failed: bool
    elapsed_ms: float
    missing: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an unlearn did, and how to take it back.

    ``kbids``: what was forgotten, with the live sections that said the same text. ``others``: documents touched beside
    the one meant: for a section, all live ones that list it or its text, when there are several; for a document, live
    ones that still list one of its sections.
    """

    event: str
    kbids: tuple[str, ...]
    docid: str
    others: tuple[str, ...]
    restore: str


@dataclass(frozen=True, slots=True)
class RemoveSectionResult:
    """The answer to unlearn."""

    removed: bool
    elapsed_ms: float
    generation: int
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The answer to restore."""

    kbids: tuple[str, ...]
    docid: str
    generation: int


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The answer to group and ungroup.

    ``kbids``: what the grouping lists, or listed. ``documents``: the documents of their own that sections were given
    because no other live one lists them.
    """

    docid: str
    title: str
    kbids: tuple[str, ...]
    documents: tuple[str, ...]
    generation: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The answer to update.

    ``kbid``: the section that now says what was asked for; ``superseded``: the one whose place it took, if another.
    ``docid``: the document that it stands in. ``documents``: those whose manifests changed.
    """

    kbid: str
    superseded: tuple[str, ...]
    docid: str
    documents: tuple[str, ...]
    generation: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SectionRef:
    """A pointer to a section, enough to cite it."""

    kbid: str
    title: str
    docid: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a section besides its text."""

    type: str
    section_type: str
    state: State
    tags: tuple[str, ...]
    description: str
    created: str
    updated: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A link: ``target`` in kbid: or doc: form; ``kbid`` and ``title`` are empty where nothing is stored for it."""

    target: str
    kbid: str
    docid: str
    title: str


@dataclass(frozen=True, slots=True)
class RecallResult:
    """One section with what stands around it. Lists are empty in the compact form."""

    kbid: str
    title: str
    content: str
    level: int
    parent: str
    metadata: Metadata
    references: tuple[Reference, ...]
    back_references: tuple[SectionRef, ...]
    documents: tuple[str, ...]
    siblings: tuple[SectionRef, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class RecallResults:
    """The answer to recall; ``omitted`` counts sections left out for the token budget, ``missing`` unknown kbids."""

    results: tuple[RecallResult, ...]
    omitted: int = 0
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SectionView:
    """The answer to retrieve(kbid): the section, its state, and every place where a manifest lists it."""

    kbid: str
    section_type: str
    type: str
    title: str
    state: State
    tags: tuple[str, ...]
    description: str
    content: bytes
    places: tuple[SectionPlace, ...]


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """One manifest's listing of a section."""

    docid: str
    source: str
    level: int
    parent: str
    heading_path: tuple[str, ...]
    line: int
    line_end: int
    document_state: str


@dataclass(frozen=True, slots=True)
class SectionViews:
    """The answer to read_sections: what was asked for, in that order.

    ``missing``: kbids of which nothing is stored; ``unreadable``: those whose files are damaged.
    """

    sections: tuple[SectionView, ...]
    missing: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentView:
    """The answer to retrieve(docid): the manifest, and the source byte for byte."""

    manifest: Manifest
    state: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ListItem:
    """One line of list: a document (``kbid`` empty) or a section."""

    docid: str
    kbid: str
    title: str
    type: str
    section_type: str
    state: str
    source: str
    tags: tuple[str, ...]
    sections: int
    updated: str


@dataclass(frozen=True, slots=True)
class ListResult:
    """A page of list; ``total`` counts all that match, ``warnings`` tell what could not be read."""

    items: tuple[ListItem, ...]
    total: int
    offset: int
    limit: int
    warnings: tuple[str, ...] = ()


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
    """The answer to rebuild; ``warnings`` tell what had to be left out."""

    sections: int
    vectors: int
    elapsed_ms: float
    warnings: tuple[str, ...] = ()


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
class CheckResult:
    """The answer to check: ``ok`` is true when there are no errors; warnings do not count."""

    ok: bool
    errors: tuple[CheckFault, ...]
    warnings: tuple[CheckFault, ...]
    sections: int
    documents: int
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Sizes of the index files on disk, summed over segments."""

    terms_idx_bytes: int
    positions_idx_bytes: int
    corpus_dat_bytes: int
    references_idx_bytes: int
    vectors_idx_bytes: int | None
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
    embedding: Mapping[str, Any] = field(default_factory=dict)
    auto_capture: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def as_json(value: Any) -> Any:
    """Turns model values into what ``json.dumps`` takes: dataclasses to dicts in field order, tuples to lists.

    Bytes become text; bytes that are not UTF-8 become ``{"base64": ...}``. What a class names in ``ON_REQUEST`` is left
    out where it is None.
    """
    if is_dataclass(value) and not isinstance(value, type):
        items = {f.name: as_json(getattr(value, f.name)) for f in fields(value)}
        on_request = getattr(value, "ON_REQUEST", ())
        return {name: item for name, item in items.items() if item is not None or name not in on_request}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_json(item) for item in value]
    if isinstance(value, bytes):
        return _bytes_as_json(value)
    return value


def _bytes_as_json(value: bytes) -> Any:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        import base64

        return {"base64": base64.b64encode(value).decode("ascii")}
