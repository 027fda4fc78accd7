"""Turns a section and its places into what the index holds of it, and back into what a hit shows.

An entry is a pure function of the truth files: of the section, and of all manifests that list it, live or not.
Whether it is live is no part of it: events decide that when a snapshot is made.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from kbdb.ingest.body import body_of
from kbdb.ingest.links import links
from kbdb.ingest.media import MARKDOWN
from kbdb.ingest.parse import is_text
from kbdb.knowledge.sources import docid_of_source
from kbdb.model import Manifest, Placement, Section
from kbdb.plan import Entry
from kbdb.store.ids import kbid_decode

GROUP, ITEM = "\x1e", "\x1f"
"""In what is stored: between the section's values and each of its places, and between the values of one."""

JSON = b"["
"""What is stored begins so where a text holds one of these marks itself."""

MARK_BYTES = 6


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """What the index keeps of one listing of a section: where a hit is cited.

    Attributes:
        mark: ``mark_of`` the document's title, which is indexed with the section but not kept.
    """

    docid: str
    source: str
    mark: str
    heading_path: tuple[str, ...]
    level: int
    line: int
    line_end: int


@dataclass(frozen=True, slots=True)
class StoredSection:
    """What the index keeps of a section, to show a hit without reading manifests.

    Title and content are not here: they stand in the section's own file, which a hit reads anyway. The types do too,
    but lists of many sections need them, and they take no bytes where they are the usual ones.
    """

    section_type: str
    type: str
    tags: tuple[str, ...]
    description: str
    places: tuple[StoredPlace, ...]

    def encode(self) -> bytes:
        """The same bytes for the same value, and other bytes for another."""
        groups = [[self.section_type, self.type, self.description, *self.tags]]
        for p in self.places:
            docid = "" if p.source and p.docid == docid_of_source(p.source) else p.docid
            lines = f"{p.level},{p.line},{p.line_end - p.line}"
            groups.append([docid, p.source, p.mark, lines, *p.heading_path])
        if groups[0][:2] == USUAL_TYPES:
            groups[0][:2] = ["", ""]
        text = GROUP.join(map(ITEM.join, groups))
        if text.count(GROUP) + text.count(ITEM) != sum(map(len, groups)) - 1:
            text = json.dumps(groups, ensure_ascii=False, separators=(",", ":"))
        return text.encode()

    @classmethod
    def decode(cls, data: bytes) -> StoredSection:
        """The inverse of ``encode``; the index's checksum has vouched for the bytes."""
        text = data.decode()
        groups = json.loads(text) if data.startswith(JSON) else [group.split(ITEM) for group in text.split(GROUP)]
        section_type, type, description, *tags = groups[0]
        if not type:
            section_type, type = USUAL_TYPES
        places = []
        for docid, source, mark, lines, *path in groups[1:]:
            level, line, more = map(int, lines.split(","))
            docid = docid or docid_of_source(source)
            places.append(StoredPlace(docid, source, mark, tuple(path), level, line, line + more))
        return cls(section_type, type, tuple(tags), description, tuple(places))


USUAL_TYPES = ["default", MARKDOWN]


@lru_cache(maxsize=1024)
def mark_of(title: str) -> str:
    """Tells a document's title from its other titles."""
    return b64encode(blake2b(title.encode(), digest_size=MARK_BYTES).digest()).decode()


class Listing:
    """A manifest, ready to say where it lists which section.

    Attributes:
        manifest: the manifest.
        kbids: what it lists, each once, in its order.
    """

    __slots__ = ("_places", "kbids", "keys", "manifest")

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self._places: dict[str, list[Placement]] = {}
        for placement in manifest.sections:
            self._places.setdefault(placement.kbid, []).append(placement)
        self.kbids = self._places.keys()
        self.keys = [f"doc:{manifest.docid}", *map(tag_key, manifest.tags)]
        if manifest.origin.source:
            self.keys.append(source_key(manifest.origin.source))

    def placements(self, kbid: str) -> Sequence[Placement]:
        """Where the section stands, in the document's order."""
        return self._places.get(kbid, ())

    def opens_with(self, kbid: str) -> bool:
        """Whether the section is the document's first."""
        return bool(self.manifest.sections) and self.manifest.sections[0].kbid == kbid


def stored_of(section: Section, listings: Iterable[Listing]) -> StoredSection:
    """What the index keeps of a section.

    Args:
        section: the section.
        listings: of the manifests that list it, each once, in any order.
    """
    ordered = sorted(listings, key=lambda listing: listing.manifest.docid)
    places, tags = [], set[str]()
    descriptions: dict[str, None] = {}
    for listing in ordered:
        manifest = listing.manifest
        tags.update(manifest.tags)
        if manifest.description and listing.opens_with(section.kbid):
            # A document's description stands for the whole; it is indexed with its first section.
            descriptions[manifest.description] = None
        for p in listing.placements(section.kbid):
            source, mark = manifest.origin.source, mark_of(manifest.title)
            places.append(StoredPlace(manifest.docid, source, mark, p.heading_path, p.level, p.line, p.line_end))
    return StoredSection(
        section.section_type, section.type, tuple(sorted(tags)), "\n".join(descriptions), tuple(places)
    )


def entry_of(section: Section, listings: Sequence[Listing]) -> Entry:
    """What the index holds of the section; ``listings`` as for ``stored_of``."""
    stored = stored_of(section, listings)
    text = text_of(section)
    filters = {f"section_type:{section.section_type}", f"type:{section.type}"}
    for listing in listings:
        filters.update(listing.keys)
    above = dict.fromkeys(_titles_above(section.kbid, listings))
    above.pop(section.title, None)
    body = body_of(text, section.title, section.type)
    return Entry(
        kbid=kbid_decode(section.kbid),
        fields=(section.title, body, stored.description, "\n".join(stored.tags), "\n".join(above)),
        filters=tuple(sorted(filters, key=str.encode)),
        references=references_of(section, text, stored.places),
        stored=stored.encode(),
        listed=bool(stored.places),
    )


def _titles_above(kbid: str, listings: Iterable[Listing]) -> Iterator[str]:
    for listing in sorted(listings, key=lambda listing: listing.manifest.docid):
        for placement in listing.placements(kbid):
            yield listing.manifest.title
            yield from placement.heading_path


def references_of(section: Section, text: str, places: Sequence[StoredPlace]) -> tuple[str, ...]:
    """What the section's text links to, from wherever it stands; sorted, each target once."""
    homes = sorted({(place.source, place.docid) for place in places}) or [("", "")]
    targets = {
        target for source, docid in homes for target in links(text, source, docid, docid_of_source, section.type)
    }
    return tuple(sorted(targets, key=str.encode))


def text_of(section: Section) -> str:
    """The section's content as text; empty for content that is not text."""
    return section.content.decode() if is_text(section.type) else ""


def tag_key(tag: str) -> str:
    """The filter key of a tag; case does not matter."""
    return f"tag:{tag.casefold()}"


def source_key(source: str) -> str:
    """The filter key of what was learned from a path."""
    return f"source:{source}"
