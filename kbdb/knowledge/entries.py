"""Turns a section and its places into what the index holds of it, and back into what a hit shows.

An entry is a pure function of the truth files: of the section, and of all manifests that list it, live or not.
Whether it is live is no part of it: events decide that when a snapshot is made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kbdb.ingest.body import body_of
from kbdb.ingest.links import links
from kbdb.ingest.parse import is_text
from kbdb.model import Manifest, Placement, Section
from kbdb.plan import Entry
from kbdb.store.ids import docid_for, kbid_decode


@dataclass(frozen=True, slots=True)
class Place:
    """One manifest's listing of a section."""

    manifest: Manifest
    placement: Placement


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """What the index keeps of a place, to show it with a hit; ``document`` is the document's title."""

    docid: str
    source: str
    document: str
    heading_path: tuple[str, ...]
    level: int
    line: int
    line_end: int


@dataclass(frozen=True, slots=True)
class StoredSection:
    """What the index keeps of a section, to show it with a hit without reading its manifests."""

    title: str
    section_type: str
    type: str
    tags: tuple[str, ...]
    description: str
    places: tuple[StoredPlace, ...]

    def encode(self) -> bytes:
        """Compact JSON, the same bytes for the same value."""
        places = [[p.docid, p.source, p.document, p.heading_path, p.level, p.line, p.line_end] for p in self.places]
        value = [self.title, self.section_type, self.type, self.tags, self.description, places]
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes) -> StoredSection:
        """The inverse of ``encode``; the index's checksum has vouched for the bytes."""
        title, section_type, type, tags, description, places = json.loads(data)
        return cls(
            title,
            section_type,
            type,
            tuple(tags),
            description,
            tuple(StoredPlace(p[0], p[1], p[2], tuple(p[3]), p[4], p[5], p[6]) for p in places),
        )


def places_of(kbid: str, manifests: Sequence[Manifest]) -> list[Place]:
    """Every listing of a section, by docid, then by order in the document."""
    by_docid = sorted(manifests, key=lambda manifest: manifest.docid)
    return [Place(manifest, p) for manifest in by_docid for p in manifest.sections if p.kbid == kbid]


def stored_of(section: Section, places: Sequence[Place]) -> StoredSection:
    """What a hit on the section shows."""
    return StoredSection(
        title=section.title,
        section_type=section.section_type,
        type=section.type,
        tags=tags_of(places),
        description=_description(places),
        places=tuple(
            StoredPlace(
                place.manifest.docid,
                place.manifest.origin.source,
                place.manifest.title,
                place.placement.heading_path,
                place.placement.level,
                place.placement.line,
                place.placement.line_end,
            )
            for place in places
        ),
    )


def entry_of(section: Section, stored: StoredSection) -> Entry:
    """What the index holds of the section."""
    text = text_of(section)
    body = body_of(text, section.title, section.type)
    docids = sorted({place.docid for place in stored.places})
    filters = {f"section_type:{section.section_type}", f"type:{section.type}"}
    filters.update(f"doc:{docid}" for docid in docids)
    filters.update(source_key(place.source) for place in stored.places if place.source)
    filters.update(tag_key(tag) for tag in stored.tags)
    above = (title for place in stored.places for title in (place.document, *place.heading_path))
    headings = dict.fromkeys(title for title in above if title != section.title)
    homes = sorted({(place.source, place.docid) for place in stored.places}) or [("", "")]
    targets = {
        target for source, docid in homes for target in links(text, source, docid, docid_of_source, section.type)
    }
    return Entry(
        kbid=kbid_decode(section.kbid),
        fields=(section.title, body, stored.description, "\n".join(stored.tags), "\n".join(headings)),
        filters=tuple(sorted(filters, key=str.encode)),
        references=tuple(sorted(targets, key=str.encode)),
        stored=stored.encode(),
        listed=bool(stored.places),
    )


def text_of(section: Section) -> str:
    """The section's content as text; empty for content that is not text."""
    return section.content.decode() if is_text(section.type) else ""


def tags_of(places: Sequence[Place]) -> tuple[str, ...]:
    """The united tags of the documents that list a section."""
    return tuple(sorted({tag for place in places for tag in place.manifest.tags}))


def tag_key(tag: str) -> str:
    """The filter key of a tag; case does not matter."""
    return f"tag:{tag.casefold()}"


def source_key(source: str) -> str:
    """The filter key of what was learned from a path."""
    return f"source:{source}"


def docid_of_source(source: str) -> str:
    """The docid of the document learned from this source (path or URL)."""
    return docid_for(source, readable_of(source))


def readable_of(source: str) -> str:
    """The part of a source that its docid's readable half is made of: the last part of the path, without suffix."""
    name = source.rstrip("/").rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name


def _description(places: Sequence[Place]) -> str:
    """A document's description stands for the whole; it is indexed with its first section."""
    leading = (place for place in places if place.manifest.sections[0].kbid == place.placement.kbid)
    return "\n".join(dict.fromkeys(place.manifest.description for place in leading if place.manifest.description))
