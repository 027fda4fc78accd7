"""Turns a section and its places into what the index holds of it, and back into what a hit shows.

An entry is a pure function of the truth files: of the section, and of all manifests that list it, live or not.
Whether it is live is no part of it: events decide that when a snapshot is made.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from kbdb.ingest.body import body_of
from kbdb.ingest.links import links, may_link
from kbdb.ingest.media import MARKDOWN, is_text
from kbdb.knowledge.sources import docid_of_source
from kbdb.model.truth import Manifest, Placement, Section
from kbdb.plan import Entry
from kbdb.store.ids import kbid_bytes

GROUP, ITEM = "\x1e", "\x1f"
"""In what is stored: between the section's values and each of its places, and between the values of one."""

JSON = b"["
"""What is stored begins so where a text holds one of these marks itself."""

MARK_BYTES = 6


class StoredPlace(NamedTuple):
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


class StoredSection(NamedTuple):
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
            groups.append([docid, p.source, p.mark, *p.heading_path, lines])
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
        for docid, source, mark, *path, lines in groups[1:]:
            level, line, more = map(int, lines.split(","))
            docid = docid or docid_of_source(source)
            places.append(StoredPlace(docid, source, mark, tuple(path), level, line, line + more))
        return cls(section_type, type, tuple(tags), description, tuple(places))


USUAL_TYPES = ["default", MARKDOWN]


@lru_cache(maxsize=1024)
def mark_of(title: str) -> str:
    """Tells a document's title from its other titles."""
    return b64encode(blake2b(title.encode(), digest_size=MARK_BYTES).digest()).decode()


class Place(NamedTuple):
    """Where a manifest lists a section: what an entry needs of its ``Placement``, under the same names."""

    heading_path: tuple[str, ...]
    level: int
    line: int
    line_end: int


class ListedBy:
    """A document, as the entries of sections that it lists see it.

    Attributes:
        docid, source, title, description: its own.
        tags: its own, sorted, each once.
        opening: the kbid of its first section, or ``""``.
    """

    __slots__ = ("_filters", "_places", "_stored", "description", "docid", "opening", "source", "tags", "title")

    def __init__(
        self, docid: str, source: str, title: str, description: str, tags: tuple[str, ...], opening: str
    ) -> None:
        self.docid, self.source, self.title, self.description = docid, source, title, description
        self.tags, self.opening = tags, opening
        self._places: dict[str, list[Placement] | list[Place]] = {}
        self._filters: dict[tuple[str, str], tuple[str, ...]] = {}
        self._stored: dict[tuple[str, str], str] = {}

    def at(self, kbid: str, places: list[Place]) -> ListedBy:
        """The same document, listing this section in these places and no other."""
        other = ListedBy(self.docid, self.source, self.title, self.description, self.tags, self.opening)
        other._places[kbid] = places
        other._filters, other._stored = self._filters, self._stored
        return other

    def placements(self, kbid: str) -> Sequence[Placement | Place]:
        """Where the section stands, in the document's order."""
        return self._places.get(kbid, ())

    def places(self, kbid: str) -> list[StoredPlace]:
        """The same, as it is stored."""
        docid, source, mark = self.docid, self.source, mark_of(self.title)
        return [
            StoredPlace(docid, source, mark, p.heading_path, p.level, p.line, p.line_end) for p in self.placements(kbid)
        ]

    def stored(self, section_type: str, type: str, placement: Placement | Place) -> bytes | None:
        """What is stored of a section that stands in this place alone and carries no description.

        None where that is not simply the same for all sections but for the lines.
        """
        if placement.heading_path:
            return None
        head = self._stored.get((section_type, type))
        if head is None:
            place = StoredPlace(self.docid, self.source, mark_of(self.title), (), 0, 0, 0)
            head = StoredSection(section_type, type, self.tags, "", (place,)).encode().decode()
            head = self._stored[section_type, type] = head.removesuffix("0,0,0") if head.endswith("0,0,0") else ""
        if not head:
            return None
        return f"{head}{placement.level},{placement.line},{placement.line_end - placement.line}".encode()

    def filters(self, section_type: str, type: str) -> tuple[str, ...]:
        """The filter keys of a section of these types, sorted, each once."""
        found = self._filters.get((section_type, type))
        if found is None:
            keys = {f"section_type:{section_type}", f"type:{type}", f"doc:{self.docid}"}
            keys.update(map(tag_key, self.tags))
            if self.source:
                keys.add(source_key(self.source))
            found = self._filters[section_type, type] = tuple(sorted(keys, key=str.encode))
        return found


class Listing(ListedBy):
    """A manifest, ready to say where it lists which section.

    Attributes:
        manifest: the manifest.
        kbids: what it lists, each once.
    """

    __slots__ = ("kbids", "manifest")

    def __init__(self, manifest: Manifest) -> None:
        opening = manifest.sections[0].kbid if manifest.sections else ""
        tags = tuple(sorted(set(manifest.tags)))
        super().__init__(manifest.docid, manifest.origin.source, manifest.title, manifest.description, tags, opening)
        self.manifest = manifest
        places: dict[str, list[Placement]] = {}
        for placement in manifest.sections:
            places.setdefault(placement.kbid, []).append(placement)
        self._places.update(places)
        self.kbids = self._places.keys()


def entry_of(section: Section, listings: Sequence[ListedBy]) -> Entry:
    """What the index holds of the section.

    Args:
        section: the section.
        listings: of the manifests that list it, each once, in any order.
    """
    if len(listings) == 1 and (simple := _simple_entry(section, listings[0])) is not None:
        return simple
    ordered = sorted(listings, key=lambda listing: listing.docid)
    stored, text = _stored_of(section, ordered), text_of(section)
    above = dict.fromkeys(_titles_above(section.kbid, ordered))
    above.pop(section.title, None)
    return Entry(
        kbid=kbid_bytes(section.kbid),
        fields=(
            section.title,
            body_of(text, section.title, section.type),
            stored.description,
            "\n".join(stored.tags),
            "\n".join(above),
        ),
        filters=_filters_of(section, ordered),
        references=references_of(section, text, stored.places),
        stored=stored.encode(),
        listed=bool(stored.places),
    )


def _simple_entry(section: Section, listing: ListedBy) -> Entry | None:
    """The same for a section that stands in one place, without headings above it, as most do in large collections."""
    placements = listing.placements(section.kbid)
    described = listing.opening == section.kbid and listing.description
    if len(placements) != 1 or described:
        return None
    stored = listing.stored(section.section_type, section.type, placements[0])
    text = text_of(section)
    if stored is None or may_link(text):
        return None
    title = listing.title
    body = body_of(text, section.title, section.type)
    above = "" if title == section.title else title
    return Entry(
        kbid=kbid_bytes(section.kbid),
        fields=(section.title, body, "", "\n".join(listing.tags), above),
        filters=listing.filters(section.section_type, section.type),
        references=(),
        stored=stored,
        listed=True,
    )


def _stored_of(section: Section, ordered: Sequence[ListedBy]) -> StoredSection:
    if len(ordered) == 1:
        (listing,) = ordered
        places, tags = listing.places(section.kbid), listing.tags
    else:
        places = [place for listing in ordered for place in listing.places(section.kbid)]
        tags = tuple(sorted({tag for listing in ordered for tag in listing.tags}))
    # A document's description stands for the whole; it is indexed with its first section.
    opened = (listing.description for listing in ordered if listing.opening == section.kbid)
    description = "\n".join(dict.fromkeys(filter(None, opened)))
    return StoredSection(section.section_type, section.type, tags, description, tuple(places))


def _filters_of(section: Section, listings: Sequence[ListedBy]) -> tuple[str, ...]:
    if len(listings) == 1:
        return listings[0].filters(section.section_type, section.type)
    keys = {f"section_type:{section.section_type}", f"type:{section.type}"}
    keys.update(key for listing in listings for key in listing.filters(section.section_type, section.type))
    return tuple(sorted(keys, key=str.encode))


def _titles_above(kbid: str, ordered: Iterable[ListedBy]) -> Iterator[str]:
    for listing in ordered:
        for placement in listing.placements(kbid):
            yield listing.title
            yield from placement.heading_path


def references_of(section: Section, text: str, places: Sequence[StoredPlace]) -> tuple[str, ...]:
    """What the section's text links to, from wherever it stands; sorted, each target once."""
    if not may_link(text):
        return ()
    homes = sorted({(place.source, place.docid) for place in places}) or [("", "")]
    targets = {
        target for source, docid in homes for target in links(text, source, docid, docid_of_source, section.type)
    }
    return tuple(sorted(targets, key=str.encode))


def text_of(section: Section) -> str:
    """The section's content as text; empty for content that is not text."""
    return section.content.decode() if is_text(section.type) else ""


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without white space around them, sorted, each once."""
    return tuple(sorted({" ".join(tag.split()) for tag in tags} - {""}))


def tag_key(tag: str) -> str:
    """The filter key of a tag; case does not matter."""
    return f"tag:{tag.casefold()}"


def source_key(source: str) -> str:
    """The filter key of what was learned from a path."""
    return f"source:{source}"
