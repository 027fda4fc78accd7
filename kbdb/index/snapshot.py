"""What one reader sees: segments, the bitmaps of live and hidden entries, and searchers over them.

A snapshot never changes; commits make new ones. Searchers are made when first needed, and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from kbdb.index import bitmaps
from kbdb.index.api import Searcher, VectorSearcher
from kbdb.index.segments import SegmentList, Slot
from kbdb.index.vector_list import VectorList
from kbdb.plan import Params

_OF_VECTORS = {"vectors", "vector_searcher", "without_vector"}


@dataclass(frozen=True)
class Snapshot:
    """The index at one generation and one instant.

    Attributes:
        generation: of the commit it shows.
        segments: what is indexed.
        live: for each segment, the entries that are live.
        params: of BM25F.
        vectors: of the sections; None where there are none.
    """

    generation: int
    segments: SegmentList
    live: tuple[bytes, ...]
    params: Params
    vectors: VectorList | None = field(default=None, kw_only=True)

    @cached_property
    def searcher(self) -> Searcher:
        """Over what is live."""
        return self._searcher(self.live)

    @cached_property
    def hidden_searcher(self) -> Searcher | None:
        """Over what is stored but not live; None when everything is."""
        if self.live == tuple(slot.current for slot in self.slots):
            return None
        hidden = [bitmaps.without(slot.current, live) for slot, live in zip(self.slots, self.live, strict=True)]
        return self._searcher(hidden)

    @cached_property
    def vector_searcher(self) -> VectorSearcher | None:
        """Over the vectors of what is live; None where there are none.

        Raises:
            CorruptError: they are damaged.
        """
        if self.vectors is None:
            return None
        return self.vectors.searcher([slot.segment for slot in self.slots], self.live)

    @cached_property
    def without_vector(self) -> tuple[bytes, ...]:
        """For each segment, the live entries that have no vector (errors as ``vector_searcher``)."""
        return self.live if self.vector_searcher is None else tuple(self.vector_searcher.missing())

    def with_vectors(self, vectors: VectorList | None) -> Self:
        """The same with these vectors; what was made to search words is kept."""
        made = {name: value for name, value in self.__dict__.copy().items() if name not in _OF_VECTORS}
        other = replace(self, vectors=vectors)
        other.__dict__.update(made)
        return other

    @property
    def slots(self) -> tuple[Slot, ...]:
        return self.segments.slots

    def allowed(self, groups: Sequence[Sequence[str]], none_of: Sequence[str] = ()) -> list[bytes] | None:
        """Bitmaps of the entries that hold at least one filter key of every group, and none of ``none_of``.

        None when nothing is asked.
        """
        if not groups and not none_of:
            return None
        return [bitmaps.without(_allowed(slot, groups), _holding(slot, none_of)) for slot in self.slots]

    def is_live(self, kbid: bytes) -> bool:
        """Whether a section is live here."""
        for slot, live in zip(self.slots, self.live, strict=True):
            entry = slot.segment.find(kbid)
            if entry >= 0 and bitmaps.has(live, entry):
                return True
        return False

    def referring(self, targets: Sequence[str]) -> list[tuple[Slot, int]]:
        """The live entries that refer to one of the targets, by kbid."""
        found = [
            (slot, entry)
            for slot, live in zip(self.slots, self.live, strict=True)
            for entry in {entry for target in targets for entry in slot.segment.references(target)}
            if bitmaps.has(live, entry)
        ]
        return sorted(found, key=lambda place: place[0].segment.kbid(place[1]))

    def _searcher(self, bits: Sequence[bytes]) -> Searcher:
        return self.segments.engine.Searcher([slot.segment for slot in self.slots], bits, self.params)


def _allowed(slot: Slot, groups: Sequence[Sequence[str]]) -> bytes:
    bits = bitmaps.full(slot.segment.sections)
    for group in groups:
        bits = bitmaps.both(bits, _holding(slot, group))
    return bits


def _holding(slot: Slot, keys: Sequence[str]) -> bytes:
    """The entries that hold at least one of the filter keys."""
    bits = bitmaps.empty(slot.segment.sections)
    for key in keys:
        bits = bitmaps.either(bits, slot.segment.filter(key))
    return bits
