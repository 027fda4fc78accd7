"""The list of segments that make up the index at one moment, and how it grows and merges.

Immutable: ``added`` and ``merged`` give a new list and leave the old one to whoever reads it. Later segments win:
an entry counts unless a later segment holds the same kbid, as an entry or as removed (csrc/README.md, 8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial

from kbdb.index import bitmaps
from kbdb.index.api import EngineModule, Into, Segment, Stem
from kbdb.index.in_memory import in_memory
from kbdb.plan import Entry, Params, SegmentFiles

MERGED_AT_ONCE = 4
"""So many segments in memory of about one size become one: most commits merge nothing, and searches visit few."""

SMALL = 1024
"""A segment in memory of this weight is left alone until the index is written, so that no commit merges for long, or
until a commit brings as much itself."""

FLUSHED_SOON = 16_384
FLUSHED_FACTOR = 4
"""While a commit waits, writing the index merges up to this weight, or so many times the weight of what is new."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One segment in the list.

    Attributes:
        segment: the open segment.
        current: the entries that no later segment replaces or removes.
        folder: number of the folder it lies in, or None while no written index has it: it is in memory, or a piece of a
            build that lies on disk until all are merged.
        files: its bytes while it is only in memory.
        weight: what merging it costs, in entries.
    """

    segment: Segment
    current: bytes
    folder: int | None
    files: SegmentFiles | None
    weight: int

    @classmethod
    def of(cls, segment: Segment, folder: int | None, files: SegmentFiles | None) -> Slot:
        """A segment of which no later one replaces anything."""
        weight = segment.sections + len(segment.removed())
        return cls(segment, bitmaps.full(segment.sections), folder, files, weight)

    def without(self, kbids: Sequence[bytes]) -> Slot:
        """The slot once a later segment replaces or removes these sections; itself where it holds none of them."""
        found = [entry for entry in map(self.segment.find, kbids) if entry >= 0]
        if not found:
            return self
        gone = bitmaps.having(self.segment.sections, found)
        return replace(self, current=bitmaps.without(self.current, gone))

    @property
    def is_as_built(self) -> bool:
        """Whether merging it alone would give the bytes that it has in memory."""
        whole = self.current == bitmaps.full(self.segment.sections)
        return self.files is not None and whole and not self.segment.removed()

    def is_small(self, limit: int) -> bool:
        """Whether it is in memory, and below a weight."""
        return self.folder is None and self.weight < limit


@dataclass(frozen=True, slots=True)
class SegmentList:
    """Segments, oldest first.

    Attributes:
        engine: the engine that opened them.
        fingerprint: of the analysis they were built with.
        params: of BM25F, for segments built here.
        stem: surface words to stems, for segments built here.
        slots: the segments.
    """

    engine: EngineModule
    fingerprint: int
    params: Params
    stem: Stem
    slots: tuple[Slot, ...] = ()

    def find(self, kbid: bytes) -> tuple[Slot, int] | None:
        """The slot and entry that stand for a section, or None where the index does not hold it."""
        for slot in reversed(self.slots):
            entry = slot.segment.find(kbid)
            if entry >= 0:
                return (slot, entry) if bitmaps.has(slot.current, entry) else None
        return None

    def with_segment(self, segment: Segment, folder: int | None, files: SegmentFiles | None) -> SegmentList:
        """This list with a newer segment at its end."""
        gone = [*map(segment.kbid, range(segment.sections)), *segment.removed()] if self.slots else []
        return self._with([*(slot.without(gone) for slot in self.slots), Slot.of(segment, folder, files)])

    def added(self, entries: Iterable[Entry], removed: Iterable[bytes] = ()) -> SegmentList:
        """This list with a segment in memory for new versions of sections, and for sections that are no more."""
        builder = self.engine.Builder(self.fingerprint, self.params)
        for entry in entries:
            builder.add(entry)
        for kbid in removed:
            if self.find(kbid) is not None:
                builder.remove(kbid)
        files = builder.finish(self.stem)
        segment = self.opened(files)
        if not segment.sections and not segment.removed():
            return self
        return self.with_segment(segment, None, files)._settled()

    def write(self, first: int, into: Into, end: int | None = None) -> None:
        """Writes one segment that stands for those from place ``first`` on, up to the one before ``end``."""
        merging = self.slots[first:end]
        if len(merging) == 1 and merging[0].is_as_built:
            assert merging[0].files is not None
            for number, data in enumerate(astuple(merging[0].files)):
                into(number, 0, data)
            return
        older = self._with(self.slots[:first])
        self.engine.merge(
            [slot.segment for slot in merging],
            [slot.current for slot in merging],
            [kbid for slot in merging for kbid in slot.segment.removed() if older._holds(kbid)],
            fingerprint=self.fingerprint,
            params=self.params,
            into=into,
        )

    def merged(self, first: int) -> SegmentList:
        """This list with the segments from place ``first`` on made into one, in memory."""
        files = in_memory(partial(self.write, first))
        return self.with_merged(first, self.opened(files), None, files)

    def with_merged(self, first: int, segment: Segment, folder: int | None, files: SegmentFiles | None) -> SegmentList:
        """This list with a segment that ``write`` made in the place of those it stands for."""
        return self._with([*self.slots[:first], Slot.of(segment, folder, files)])

    def with_run_merged(self, run: Sequence[Slot], segment: Segment, folder: int) -> SegmentList:
        """This list with one segment in the place of a run of its slots, merged while the list grew.

        Args:
            run: the slots as they were when merging began; all are on disk, and in this list.
            segment: what ``write`` made of them.
            folder: where it lies.
        """
        first = [slot.folder for slot in self.slots].index(run[0].folder)
        end = first + len(run)
        gone = [
            then.segment.kbid(entry)
            for then, now in zip(run, self.slots[first:end], strict=True)
            for entry in bitmaps.entries(bitmaps.without(then.current, now.current))
        ]
        merged = Slot.of(segment, folder, None).without(gone)
        return self._with([*self.slots[:first], merged, *self.slots[end:]])

    def run_to_merge(self) -> tuple[int, int] | None:
        """The places of segments on disk that are worth merging beside the work, first and end; None where none are.

        Those are ``MERGED_AT_ONCE`` or more side by side of about one size, and smaller ones among them: each section
        is rewritten a number of times that grows with the logarithm of the store.
        """
        levels = [-1 if slot.folder is None else _level(slot.weight) for slot in self.slots]
        for last in reversed(range(len(levels))):
            first = last
            while first and 0 <= levels[first - 1] <= levels[last]:
                first -= 1
            run = self.slots[first : last + 1]
            if len(run) >= MERGED_AT_ONCE and sum(slot.weight for slot in run) > FLUSHED_SOON:
                return first, last + 1
        return None

    def flush_from(self, *, soon: bool = False, least: int = 0) -> int:
        """The first place to merge from when the index is written: all in memory, and older segments not much larger.

        Each segment kept is more than twice as large as the next, so that a section is rewritten a number of times that
        grows with the logarithm of the store.

        Args:
            soon: a commit waits: what is written stays in proportion to what is new, and larger segments wait longer.
            least: segments before this place are left alone.
        """
        first = next((place for place, slot in enumerate(self.slots) if slot.folder is None), len(self.slots))
        weight = sum(slot.weight for slot in self.slots[first:])
        most = max(FLUSHED_SOON, FLUSHED_FACTOR * weight)
        while first > least and self.slots[first - 1].weight <= 2 * weight:
            if soon and weight + self.slots[first - 1].weight > most:
                break
            first -= 1
            weight += self.slots[first].weight
        return first

    def _settled(self) -> SegmentList:
        """This list with small segments in memory merged where enough of about one size stand at its end."""
        first, weight = len(self.slots) - 1, self.slots[-1].weight
        limit = max(SMALL, MERGED_AT_ONCE * weight)
        while weight < limit:
            run = first
            while run and self.slots[run - 1].is_small(limit) and _level(self.slots[run - 1].weight) <= _level(weight):
                run -= 1
            if first - run + 1 < MERGED_AT_ONCE:
                break
            weight += sum(slot.weight for slot in self.slots[run:first])
            first = run
        return self if first == len(self.slots) - 1 else self.merged(first)

    def _with(self, slots: Sequence[Slot]) -> SegmentList:
        return SegmentList(self.engine, self.fingerprint, self.params, self.stem, tuple(slots))

    def _holds(self, kbid: bytes) -> bool:
        return any(slot.segment.find(kbid) >= 0 for slot in self.slots)

    def opened(self, files: SegmentFiles) -> Segment:
        """A segment of these files, as those of this list are opened."""
        return self.engine.Segment(
            files.terms,
            files.positions,
            files.corpus,
            files.references,
            fingerprint=self.fingerprint,
            name="segment in memory",
        )


def _level(weight: int) -> int:
    """Segments of one level are of about one size: within a factor of ``MERGED_AT_ONCE``."""
    level = 0
    while weight >= MERGED_AT_ONCE:
        weight //= MERGED_AT_ONCE
        level += 1
    return level
