"""What recall, retrieve, list and their like answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kbdb.model.search import Unreadable
from kbdb.model.truth import Manifest, State


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
    """One section with what stands around it. Lists are empty in the compact form.

    ``successor``: the live section that stands in this one's place now; ``""`` where none does. ``left_off``: how many
    links and siblings are not in the lists, by their names; None, and not in the JSON, where all are.
    """

    ON_REQUEST: ClassVar = ("left_off",)

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
    successor: str = ""
    left_off: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class RecallResults:
    """The answer to recall.

    ``omitted`` counts the sections left out for the token budget, or because links lead to more than one answer gives;
    ``omitted_kbids`` names them. ``missing``: unknown kbids.
    """

    results: tuple[RecallResult, ...]
    omitted: int = 0
    missing: tuple[str, ...] = ()
    omitted_kbids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Which part of a content is given: from a character of line ``first`` to the end of, or within, line ``last``.

    ``total``: lines of the whole; ``bytes``: its size. ``next``: the ``lines`` to go on with: those of the range
    that did not fit, then what follows it; ``""`` at the end. What is no text has no lines, and nothing of it is given.
    """

    first: int
    column: int
    last: int
    total: int
    next: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SectionView:
    """The answer to retrieve(kbid): the section, its state, and every place where a manifest lists it.

    ``successor``: the live section that stands in this one's place now; ``""`` where none does.
    ``excerpt`` is None, and not in its JSON, unless a part of the content was asked for.
    """

    ON_REQUEST: ClassVar = ("excerpt",)

    kbid: str
    section_type: str
    type: str
    title: str
    state: State
    tags: tuple[str, ...]
    description: str
    content: bytes
    places: tuple[SectionPlace, ...]
    successor: str = ""
    excerpt: Excerpt | None = None


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
    """The answer to retrieve(docid): the manifest, and the source byte for byte.

    ``excerpt`` is None, and not in its JSON, unless a part was asked for; the manifest then lists that part's sections.
    """

    ON_REQUEST: ClassVar = ("excerpt",)

    manifest: Manifest
    state: str
    content: bytes
    excerpt: Excerpt | None = None


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
class DocumentPage:
    """A page of live documents; ``after`` brings the next one, ``""`` on the last."""

    items: tuple[ListItem, ...]
    after: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """Names that begin with what was typed; ``has_more``: there are others beyond the limit."""

    values: tuple[str, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class ListResult:
    """A page of list; ``total`` counts all that match, ``warnings`` tell what could not be read."""

    items: tuple[ListItem, ...]
    total: int
    offset: int
    limit: int
    warnings: tuple[str, ...] = ()
