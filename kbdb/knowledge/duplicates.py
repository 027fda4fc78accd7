"""Near duplicates by meaning: pairs of live sections whose vectors point nearly the same way. Changes nothing.

It needs the vectors alone, and no provider: those of another model than is configured now compare among themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest

from kbdb.errors import CorruptError, InvalidArgumentError, KbdbError
from kbdb.index import bitmaps
from kbdb.index.api import VectorSearcher
from kbdb.index.vector_list import VectorList
from kbdb.knowledge.core import Core
from kbdb.knowledge.search import NOWHERE, shown_place
from kbdb.knowledge.view import View
from kbdb.model.upkeep import DuplicatePair, DuplicateReport, DuplicateSection
from kbdb.progress import Report, now_and_then
from kbdb.store.ids import kbid_decode, kbid_encode

THRESHOLD = 0.95
"""The least cosine of near duplicates, unless told otherwise (README.md tells what it was measured on)."""

NEAREST = 10
"""Each section is compared with so many: of a crowd that all say the same, not every pair is named."""

MOST_PAIRS = 1000
"""A report names at most so many."""

BATCH = 64
"""Others write after so many sections: comparing 100,000 takes a minute or more."""

Found = tuple[float, str, str]
"""A pair: its cosine, negative so that the nearest come first; then its kbids, sorted."""


def check_threshold(threshold: float) -> float:
    """A threshold that can be one.

    Raises:
        InvalidArgumentError: it is out of range, or no number.
    """
    if not 0.0 < threshold <= 1.0:
        raise InvalidArgumentError(f"threshold is {threshold}", "use a cosine above 0 and up to 1, such as 0.95")
    return threshold


def near_duplicates(core: Core, threshold: float, progress: Report | None = None) -> DuplicateReport:
    """The pairs of live sections whose cosine is at least ``threshold``, by falling cosine, then kbids.

    Others write meanwhile; what they change does not show.

    Args:
        core: the database.
        threshold: as ``check_threshold`` gives it.
        progress: called now and then; may end the run.
    """
    shown = core.snapshot()
    try:
        vectors, searcher = shown.vectors, shown.vector_searcher
        missing = sum(map(bitmaps.count, shown.without_vector))
    except CorruptError:
        # Told as a fault by check itself.
        vectors = searcher = None
        missing = sum(map(bitmaps.count, shown.live))
    if vectors is None or searcher is None:
        return DuplicateReport(threshold, 0, missing, 0, True, ())
    pairs = _Pairs(core, shown, vectors, searcher, threshold)
    nearest = nsmallest(MOST_PAIRS, pairs.found(progress))
    names = {kbid: None for _, *both in nearest for kbid in both}
    known = dict(zip(names, _sections(core, list(names)), strict=True))
    told = tuple(DuplicatePair(-negative, known[low], known[high]) for negative, low, high in nearest)
    return DuplicateReport(threshold, searcher.sections, missing, pairs.total, not pairs.is_crowded, told)


class _Pairs:
    """Goes through the sections of a snapshot.

    Attributes:
        total: pairs found so far.
        is_crowded: whether a section had more neighbours than were looked at.
    """

    def __init__(
        self, core: Core, shown: View, vectors: VectorList, searcher: VectorSearcher, threshold: float
    ) -> None:
        self.total = 0
        self.is_crowded = False
        self._core, self._shown, self._vectors, self._searcher = core, shown, vectors, searcher
        self._threshold = threshold
        self._starts = [0]
        for slot in shown.slots:
            self._starts.append(self._starts[-1] + slot.segment.sections)

    def found(self, progress: Report | None) -> Iterator[Found]:
        """Each pair once."""
        seen = set[int]()
        tell = now_and_then(progress, self._searcher.sections)
        for done, (number, kbid) in enumerate(self._sections(), 1):
            for other, name, score in self._near(kbid):
                # A number stands for a pair: there may be many.
                pair = min(number, other) * self._starts[-1] + max(number, other)
                if pair not in seen:
                    seen.add(pair)
                    yield -score, min(kbid, name), max(kbid, name)
            self.total = len(seen)
            tell(done)
            if done % BATCH == 0:
                self._core.between_batches()

    def _sections(self) -> Iterator[tuple[int, str]]:
        """The numbers and kbids of the live sections that have a vector."""
        shown = self._shown
        for start, slot, live, missing in zip(
            self._starts, shown.slots, shown.live, shown.without_vector, strict=False
        ):
            for entry in bitmaps.entries(bitmaps.without(live, missing)):
                yield start + entry, kbid_encode(slot.segment.kbid(entry))

    def _near(self, kbid: str) -> Iterator[tuple[int, str, float]]:
        """Numbers, kbids and cosines of the other sections that are near enough to one."""
        vector = self._vectors.vector(kbid_decode(kbid))
        assert vector is not None, "the searcher knows of a vector"
        hits = [hit for hit in self._searcher.search(vector, NEAREST + 1) if hit.kbid != kbid][:NEAREST]
        near = [hit for hit in hits if hit.score >= self._threshold]
        self.is_crowded = self.is_crowded or len(near) == NEAREST
        for hit in near:
            yield self._starts[hit.segment] + hit.entry, hit.kbid, hit.score


def _sections(core: Core, kbids: list[str]) -> Iterator[DuplicateSection]:
    """What a report tells of sections; of one whose file is damaged or gone by now, what the index knows."""
    for kbid, section in zip(kbids, core.store.read_sections(kbids), strict=True):
        stored = core.indexer.stored(kbid)
        place = NOWHERE if stored is None else shown_place(core, stored)
        title = "" if isinstance(section, KbdbError) else section.title
        yield DuplicateSection(kbid, place.docid, title, place.source, place.line)
