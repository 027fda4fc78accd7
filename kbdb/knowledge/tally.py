"""Commits what was planned and keeps the account of one call of learn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kbdb.errors import KbdbError
from kbdb.index.snapshot import Snapshot
from kbdb.index.text_key import distinct_stems_of
from kbdb.ingest.body import body_of
from kbdb.knowledge import embed_sections
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import text_of
from kbdb.knowledge.planning import Planned
from kbdb.model.learn import AddSectionResult, LearnedDocument, NearDuplicate, Suppressed
from kbdb.model.truth import Section
from kbdb.store.ids import kbid_decode, kbid_encode

NEAR_DUPLICATE = 0.85
"""Jaccard from which two sections are reported as near duplicates (DESIGN: engine)."""

READ_FOR_ONE = 32
"""Reading the postings of so many entries costs about as much as tokenising the text of one."""

NEAR_DUPLICATES_EACH = 5
"""At most this many are reported for one section."""

_Hits = Sequence[tuple[int, int, float]]
"""Slot, entry and Jaccard index."""


@dataclass(slots=True)
class Tally:
    """What a call of learn has done so far; ``commit`` is the only step that writes."""

    core: Core
    documents: list[LearnedDocument] = field(default_factory=list)
    added: set[str] = field(default_factory=set)
    reused: int = 0
    retired: list[str] = field(default_factory=list)
    near_duplicates: dict[tuple[str, str], NearDuplicate] = field(default_factory=dict)
    suppressed: list[Suppressed] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    interrupted_by: str = ""

    def fail(self, source: str, error: KbdbError) -> None:
        """A source that could not be learned."""
        text = {"code": error.code, "message": error.message, "hint": error.hint}
        self.documents.append(LearnedDocument("", source, "failed", 0, (), text))

    def commit(self, batch: Sequence[Planned]) -> None:
        """Stores the planned documents, then counts them in; nothing is counted that is not stored."""
        changes = [planned.change for planned in batch if planned.change is not None]
        if changes:
            self.core.commit(changes)
        for planned in batch:
            self._count(planned)
        try:
            self._find_near_duplicates(section for planned in batch for section in planned.added)
        except KbdbError as error:
            self.warnings.append(f"near duplicates could not be looked for: {error.message}")

    def result(self, seconds: float) -> AddSectionResult:
        """The account."""
        kbids = tuple(dict.fromkeys(kbid for document in self.documents for kbid in document.kbids))
        return AddSectionResult(
            kbids=kbids,
            generation=self.core.generation,
            documents=tuple(self.documents),
            sections_added=len(self.added),
            sections_reused=self.reused,
            sections_retired=len(set(self.retired)),
            near_duplicates=tuple(self.near_duplicates.values()),
            suppressed=tuple(self.suppressed),
            vector_embedding_failed=embed_sections.failed(self.core, kbids, self.added),
            elapsed_ms=seconds * 1000,
            missing=tuple(self.missing),
            pruned=tuple(self.pruned),
            superseded=tuple(self.superseded),
            warnings=(*self.warnings, *self.core.notices),
            interrupted=self.interrupted_by != "",
            interrupted_by=self.interrupted_by,
        )

    def _count(self, planned: Planned) -> None:
        self.documents.append(planned.document)
        fresh = {section.kbid for section in planned.added} - self.added
        self.reused += planned.reused + len(planned.added) - len(fresh)
        self.added |= fresh
        self.retired.extend(planned.retired)
        self.superseded.extend(planned.superseded)
        self.suppressed.extend(planned.suppressed)
        self.warnings.extend(planned.warnings)

    def _find_near_duplicates(self, sections: Iterable[Section]) -> None:
        snapshot = self.core.snapshot()
        for section, hits in self._alike(snapshot, sections):
            for place, entry, jaccard in hits:
                other = kbid_encode(snapshot.slots[place].segment.kbid(entry))
                if other == section.kbid or (other, section.kbid) in self.near_duplicates:
                    continue
                title = self.core.title_of(other)
                self.near_duplicates[section.kbid, other] = NearDuplicate(section.kbid, other, title, jaccard)

    def _alike(self, snapshot: Snapshot, sections: Iterable[Section]) -> Iterator[tuple[Section, _Hits]]:
        """Each section with the live entries that are much like it.

        The segment that was just built knows their stems; one that holds much else would have to be read in full.
        """
        searcher = snapshot.searcher
        for place, found in self._places(snapshot, sections).items():
            if snapshot.slots[place].segment.sections <= READ_FOR_ONE * len(found):
                entries = [entry for entry, _ in found]
                alike = searcher.similar_to(place, entries, NEAR_DUPLICATE, NEAR_DUPLICATES_EACH)
                yield from zip((section for _, section in found), alike, strict=True)
                continue
            for _, section in found:
                body = body_of(text_of(section), section.title, section.type)
                stems = distinct_stems_of(self.core.engine, self.core.stem, section.title, body)
                yield section, searcher.similar(stems, NEAR_DUPLICATE, NEAR_DUPLICATES_EACH + 1)

    def _places(self, snapshot: Snapshot, sections: Iterable[Section]) -> dict[int, list[tuple[int, Section]]]:
        """For each slot that has any, the entries of the sections."""
        places = {id(slot): place for place, slot in enumerate(snapshot.slots)}
        found: dict[int, list[tuple[int, Section]]] = {}
        for section in sections:
            held = snapshot.segments.find(kbid_decode(section.kbid))
            if held is not None:
                found.setdefault(places[id(held[0])], []).append((held[1], section))
        return found
