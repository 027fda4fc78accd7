"""retrieve and list: what is stored, as it is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kbdb.errors import (
    CorruptError,
    InvalidArgumentError,
    KbdbError,
    SectionNotFoundError,
    UnsupportedFormatError,
)
from kbdb.knowledge.around import successor_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import StoredSection, tag_key
from kbdb.knowledge.excerpt import cut
from kbdb.knowledge.named import documents_named, no_document, require_document, require_section
from kbdb.knowledge.search import shown_place
from kbdb.lines import LineRange
from kbdb.model.read import DocumentView, ListItem, ListResult, SectionPlace, SectionView, SectionViews
from kbdb.model.search import Unreadable
from kbdb.model.truth import Manifest, Placement, Section, State

STATES = {"documents": ("live", "retired", "forgotten"), "sections": (*(str(state) for state in State), "unlisted")}
"""What can be listed, and in which states it can be."""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """What list shows: everything that fits all that is given."""

    state: str | None = None
    tags: tuple[str, ...] = ()
    type: str | None = None
    section_type: str | None = None
    docid: str | None = None


Part = tuple[LineRange | None, int | None]
"""Lines of a content, and how many bytes of them."""


def retrieve_section(core: Core, kbid: str, part: Part | None = None) -> SectionView:
    """A section with its state and every place where a manifest lists it.

    Raises:
        SectionNotFoundError: nothing of that id is stored.
        CorruptError: its file is damaged.
        InvalidArgumentError: it has no such part.
    """
    require_section(core, kbid)
    view = next(_views(core, [core.store.read_section(kbid)]))
    if part is None:
        return view
    content, excerpt = cut(view.content, view.type, *part)
    return replace(view, content=content, excerpt=excerpt)


def read_sections(core: Core, kbids: Sequence[str]) -> SectionViews:
    """Sections as ``retrieve_section`` gives them, in this order; one that cannot be read costs no other."""
    sections, missing, unreadable = [], [], []
    for kbid, section in zip(kbids, core.store.read_sections(kbids), strict=True):
        if isinstance(section, Section):
            sections.append(section)
        elif isinstance(section, SectionNotFoundError):
            missing.append(kbid)
        else:
            unreadable.append(Unreadable(kbid, str(core.store.layout.section(kbid)), section.message))
    return SectionViews(tuple(_views(core, sections)), tuple(missing), tuple(unreadable))


def _views(core: Core, sections: Sequence[Section]) -> Iterator[SectionView]:
    """The sections as they are shown; a manifest that lists several of them is read once."""
    now, places = utc_now(), {section.kbid: list[SectionPlace]() for section in sections}
    for manifest in core.indexer.manifests_listing(*places):
        state = core.beliefs.document(manifest.docid).state
        for placement in manifest.sections:
            if placement.kbid in places:
                places[placement.kbid].append(_place(manifest, placement, state))
    for section in sections:
        stored = core.indexer.stored(section.kbid)
        yield SectionView(
            kbid=section.kbid,
            section_type=section.section_type,
            type=section.type,
            title=section.title,
            state=core.beliefs.section(section.kbid, now).state,
            tags=stored.tags if stored else (),
            description=stored.description if stored else "",
            content=section.content,
            places=tuple(places[section.kbid]),
            successor=successor_of(core, section.kbid),
        )


def section_bytes(core: Core, kbid: str) -> bytes:
    """The content of a section.

    Raises:
        SectionNotFoundError: nothing of that id is stored.
        CorruptError: its file is damaged.
    """
    require_section(core, kbid)
    return core.store.read_section(kbid).content


def retrieve_document(core: Core, docid: str, part: Part | None = None) -> DocumentView:
    """A document with its source, byte for byte.

    Raises:
        DocumentNotFoundError: there is no such document.
        CorruptError: a file of it is damaged.
        InvalidArgumentError: it has no such part.
    """
    manifest = require_document(core, docid)
    state, content = core.beliefs.document(docid).state, content_of(core, manifest)
    if part is None:
        return DocumentView(manifest, state, content)
    content, excerpt = cut(content, manifest.type, *part)
    shown = tuple(p for p in manifest.sections if p.line <= excerpt.last and p.line_end >= excerpt.first)
    return DocumentView(replace(manifest, head="", sections=shown), state, content, excerpt)


def content_of(core: Core, manifest: Manifest) -> bytes:
    """The bytes a manifest mirrors."""
    pieces = [manifest.head.encode()]
    sections = core.store.read_sections(placement.kbid for placement in manifest.sections)
    for placement, section in zip(manifest.sections, sections, strict=True):
        if isinstance(section, KbdbError):
            raise section
        pieces += (section.content, placement.gap.encode())
    return b"".join(pieces)


def list_(core: Core, what: str, only: ListFilter, limit: int, offset: int) -> ListResult:
    """A page of documents or sections.

    Raises:
        InvalidArgumentError: something else, a state that those have not, or a page that cannot be.
        DocumentNotFoundError: sections of a document that is not there.
        CorruptError: the manifest of the document whose sections to list is damaged.
    """
    _check_list(what, only.state, limit, offset)
    listed = _list_documents if what == "documents" else _list_sections
    return listed(core, only, limit, offset)


def _list_documents(core: Core, only: ListFilter, limit: int, offset: int) -> ListResult:
    """Documents by source, then docid. One whose manifest is damaged is left out with a warning.

    A document is of the section type of any of its sections.
    """
    tags = {tag_key(tag) for tag in only.tags}
    named = None if only.docid is None else documents_named(core, only.docid)
    kind = None if only.section_type is None else core.indexer.holding(f"section_type:{only.section_type}")
    items, damaged = [], []
    for docid in core.store.manifest_ids():
        try:
            manifest = core.store.read_manifest(docid)
        except (CorruptError, UnsupportedFormatError) as error:
            damaged.append(f"left out of the list: {error.message}")
            continue
        state = core.beliefs.document(docid).state
        if (
            (only.state is None or only.state == state)
            and (only.type is None or only.type == manifest.type)
            and (named is None or docid in named)
            and tags <= {tag_key(tag) for tag in manifest.tags}
            and (kind is None or any(placement.kbid in kind for placement in manifest.sections))
        ):
            items.append(document_item(core, manifest, state))
    items.sort(key=lambda item: (item.source, item.docid))
    return ListResult(tuple(items[offset : offset + limit]), len(items), offset, limit, (*damaged, *core.notices))


def _list_sections(core: Core, only: ListFilter, limit: int, offset: int) -> ListResult:
    """Sections by kbid, or in a document's order where one is named; those that nothing lists come along as such."""
    if only.docid is not None:
        docids = documents_named(core, only.docid)
        if not docids:
            raise no_document(core, only.docid)
        kbids = tuple(dict.fromkeys(p.kbid for docid in docids for p in require_document(core, docid).sections))
    else:
        kbids = tuple(core.store.section_ids())
    items = [item for kbid in kbids if (item := _section_item(core, kbid, only)) is not None]
    page = tuple(replace(item, title=core.title_of(item.kbid)) for item in items[offset : offset + limit])
    return ListResult(page, len(items), offset, limit, core.notices)


def _check_list(what: str, state: str | None, limit: int, offset: int) -> None:
    if what not in STATES:
        raise InvalidArgumentError(f"cannot list {what!r}", f"use {' or '.join(STATES)}")
    if state is not None and state not in STATES[what]:
        raise InvalidArgumentError(f"state is {state!r}", f"use one of: {', '.join(STATES[what])}")
    if limit < 1 or offset < 0:
        raise InvalidArgumentError(
            f"limit {limit} and offset {offset} make no page", "limit is at least 1, offset at least 0"
        )


def _place(manifest: Manifest, placement: Placement, state: str) -> SectionPlace:
    return SectionPlace(
        manifest.docid,
        manifest.origin.source,
        placement.level,
        placement.parent,
        placement.heading_path,
        placement.line,
        placement.line_end,
        state,
    )


def _section_type(core: Core, manifest: Manifest) -> str:
    stored = core.indexer.stored(manifest.sections[0].kbid) if manifest.sections else None
    return stored.section_type if stored else "default"


def document_item(core: Core, manifest: Manifest, state: str) -> ListItem:
    """A document as a list shows it."""
    return ListItem(
        docid=manifest.docid,
        kbid="",
        title=manifest.title,
        type=manifest.type,
        section_type=_section_type(core, manifest),
        state=state,
        source=manifest.origin.source,
        tags=manifest.tags,
        sections=len(manifest.sections),
        updated=manifest.updated,
    )


def _section_item(core: Core, kbid: str, only: ListFilter) -> ListItem | None:
    """An item, its title still to come from the section's file, or None for a section that does not fit."""
    stored = core.indexer.stored(kbid)
    if stored is None:
        return None
    state = section_state(core, kbid, stored)
    tags = {tag_key(tag) for tag in only.tags}
    fits = (
        (only.state is None or only.state == state)
        and (only.section_type is None or only.section_type == stored.section_type)
        and (only.type is None or only.type == stored.type)
        and tags <= {tag_key(tag) for tag in stored.tags}
    )
    if not fits:
        return None
    place = shown_place(core, stored)
    return ListItem(
        docid=place.docid,
        kbid=kbid,
        title="",
        type=stored.type,
        section_type=stored.section_type,
        state=state,
        source=place.source,
        tags=stored.tags,
        sections=1,
        updated="",
    )


def section_state(core: Core, kbid: str, stored: StoredSection) -> str:
    """``unlisted`` where no live document lists an active section, else what is believed of it."""
    state = core.beliefs.section(kbid, utc_now()).state
    if state == "active" and not any(core.document_is_live(place.docid) for place in stored.places):
        return "unlisted"
    return str(state)
