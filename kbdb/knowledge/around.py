"""What stands around sections: the links from and to them, their documents, and what stands beside them.

Made for one answer. Each document, and each section of it, is looked at once however many links lead there, so that a
table of contents costs about as much as the document it is of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from kbdb.ingest.links import anchors_of
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import StoredSection, references_of, text_of
from kbdb.knowledge.search import shown_place
from kbdb.model.read import Reference, SectionRef
from kbdb.model.truth import Manifest, Placement, Section
from kbdb.store.ids import is_docid, is_kbid, kbid_decode, kbid_encode

MOST_AROUND = 200
"""As many of a section's links, of what links to it, and of what stands beside it are named; the others are counted.

Sections under one heading all stand beside each other: without an end, recalling them all would name each as often as
there are sections.
"""


class Around:
    """What an answer needs of the documents that its sections stand in and lead to.

    Attributes:
        core: the database.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self._documents: dict[str, Listed | None] = {}
        self._titles: dict[str, str] = {}

    def documents_of(self, kbid: str) -> list[Listed]:
        """The live documents that list a section, those that mirror a source first; where none is live, all."""
        stored = self.core.indexer.stored(kbid)
        docids = sorted({place.docid for place in stored.places}) if stored else []
        found = [document for docid in docids if (document := self._document(docid)) and kbid in document.placements]
        found.sort(key=lambda document: not document.manifest.origin.source)
        return [document for document in found if self.core.document_is_live(document.manifest.docid)] or found

    def targets(self, section: Section) -> tuple[str, ...]:
        """What a section links to, as it is written down."""
        stored = self.core.indexer.stored(section.kbid)
        return references_of(section, text_of(section), stored.places) if stored else ()

    def section_at(self, target: str) -> str:
        """The live section that a link leads to, if any: of a document the first, or its anchor's."""
        return self._found_at(target)[0]

    def reference(self, target: str) -> Reference:
        """A link's target with the live section that stands for it."""
        head, stored, docid = self._found_at(target)
        if stored is None:
            return Reference(target, "", docid, "")
        return Reference(target, head, docid or shown_place(self.core, stored).docid, self.title_of(head))

    def _found_at(self, target: str) -> tuple[str, StoredSection | None, str]:
        """The section, what the index keeps of it, and the document that the target names."""
        kind, _, rest = target.partition(":")
        docid, _, anchor = rest.partition("#")
        kbid = ""
        if kind == "kbid":
            docid, kbid = "", rest if is_kbid(rest) else ""
        elif is_docid(docid) and self.core.document_is_live(docid) and (document := self._document(docid)):
            kbid = document.section_at(anchor)
        head = current(self.core, kbid) if kbid else ""
        stored = self.core.indexer.stored(head) if head else None
        return ("", None, docid) if stored is None else (head, stored, docid)

    def back_references(self, kbid: str, documents: Iterable[Listed]) -> tuple[list[SectionRef], int]:
        """The live sections that link here: to the section itself, to its heading, or to a document it opens.

        Returns:
            The first of them, and how many there are.
        """
        targets = {f"kbid:{kbid}"}
        for document in documents:
            doc = f"doc:{document.manifest.docid}"
            targets.update(f"{doc}#{anchor}" if anchor else doc for anchor in document.names_of(kbid))
        found: list[SectionRef] = []
        count = 0
        for slot, entry in self.core.snapshot().referring(sorted(targets)):
            other = kbid_encode(slot.segment.kbid(entry))
            if other == kbid:
                continue
            count += 1
            if count <= MOST_AROUND:
                stored = StoredSection.decode(slot.segment.stored(entry))
                found.append(SectionRef(other, self.title_of(other), shown_place(self.core, stored).docid))
        return found, count

    def siblings(self, document: Listed, kbid: str) -> tuple[list[SectionRef], int]:
        """The live sections under the same heading: the first of them, and how many there are."""
        beside = document.live_under(document.placements[kbid].parent)
        count = len(beside) - (kbid in beside)
        docid = document.manifest.docid
        others = [other for other in list(beside)[: MOST_AROUND + 1] if other != kbid][:MOST_AROUND]
        return [SectionRef(other, self.title_of(other), docid) for other in others], count

    def title_of(self, kbid: str) -> str:
        """As of ``Core``, remembered."""
        title = self._titles.get(kbid)
        if title is None:
            title = self._titles[kbid] = self.core.title_of(kbid)
        return title

    def _document(self, docid: str) -> Listed | None:
        if docid not in self._documents:
            manifest = self.core.indexer.manifest(docid)
            self._documents[docid] = None if manifest is None else Listed(self.core, manifest)
        return self._documents[docid]


class Listed:
    """A manifest with what is looked up in it again and again.

    Attributes:
        manifest: the manifest.
    """

    def __init__(self, core: Core, manifest: Manifest) -> None:
        self.manifest = manifest
        self._core = core
        self._live_under: dict[str, dict[str, None]] = {}

    @cached_property
    def placements(self) -> dict[str, Placement]:
        """Where each section stands first."""
        return {placement.kbid: placement for placement in reversed(self.manifest.sections)}

    def section_at(self, anchor: str) -> str:
        """The section that an anchor leads to, ``""`` for none; the empty one leads to the beginning."""
        if anchor:
            return self._anchors.get(anchor, "")
        return self.manifest.sections[0].kbid if self.manifest.sections else ""

    def names_of(self, kbid: str) -> list[str]:
        """The anchors that name a section; the empty one where it opens the document."""
        opens = [""] if self.section_at("") == kbid else []
        return [*opens, *self._names.get(kbid, ())]

    def live_under(self, parent: str) -> dict[str, None]:
        """The live sections under a heading, in their order, each once."""
        if parent not in self._live_under:
            snapshot, listed = self._core.snapshot(), self._under[parent]
            self._live_under[parent] = dict.fromkeys(kbid for kbid in listed if snapshot.is_live(kbid_decode(kbid)))
        return self._live_under[parent]

    @cached_property
    def _under(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for placement in self.manifest.sections:
            found.setdefault(placement.parent, []).append(placement.kbid)
        return found

    @cached_property
    def _anchors(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, kbid in self._named:
            found.setdefault(name, kbid)
        return found

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, kbid in self._named:
            found.setdefault(kbid, []).append(name)
        return found

    @cached_property
    def _named(self) -> list[tuple[str, str]]:
        return list(self._each_anchor())

    def _each_anchor(self) -> Iterator[tuple[str, str]]:
        """Every anchor that leads into the document, and where to; equal headings are numbered."""
        seen: Counter[str] = Counter()
        kbids = [placement.kbid for placement in self.manifest.sections]
        for kbid, section in zip(kbids, self._core.store.read_sections(kbids), strict=True):
            if not isinstance(section, Section):
                continue
            for slug in anchors_of(text_of(section), section.title):
                yield (f"{slug}-{seen[slug]}" if seen[slug] else slug), kbid
                seen[slug] += 1


def current(core: Core, kbid: str) -> str:
    """The live section that stands for one now: itself, or what took its place; ``""`` where none is."""
    head = core.beliefs.head_of(kbid)
    return head if core.snapshot().is_live(kbid_decode(head)) else ""


def successor_of(core: Core, kbid: str) -> str:
    """What stands in a section's place now, at the end of its chain of successors; ``""`` where nothing does."""
    head = current(core, kbid)
    return "" if head == kbid else head
