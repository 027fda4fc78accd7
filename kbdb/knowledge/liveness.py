"""Which entries of each segment are live, kept from one commit to the next.

An entry is live when a live document lists it, its section is active and no later segment replaces it. Segments never
change, so a commit changes the bits of those entries alone that its events speak of; a new segment is looked through
once. Nothing here is stored: whatever the history, the bits are those that ``Liveness`` finds when it begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbdb.index import bitmaps
from kbdb.index.api import Segment
from kbdb.index.segments import Slot
from kbdb.knowledge.entries import StoredSection
from kbdb.model.truth import Event, State
from kbdb.store.beliefs import Beliefs
from kbdb.store.ids import kbid_decode, kbid_encode


class Liveness:
    """The bits of the segments shown last. Used by one thread at a time.

    Args:
        beliefs: what is believed.
        now: the instant for which the bits are to hold.
    """

    def __init__(self, beliefs: Beliefs, now: str) -> None:
        self._beliefs = beliefs
        self._now = now
        self._kept: dict[int, _Kept] = {}

    def follow(self, beliefs: Beliefs, events: Iterable[Event]) -> None:
        """Goes on to what is believed after some more events."""
        self._beliefs = beliefs
        kbids: set[str] = set()
        docids: set[str] = set()
        for event in events:
            kbids.update(event.kbids)
            if event.successor:
                kbids.add(event.successor)
            if event.docid:
                docids.add(event.docid)
        self._look_again(kbids, docids)

    def advance(self, now: str) -> None:
        """Goes on to another instant; where a clock went back, all is looked through again."""
        before, self._now = self._now, now
        if now < before:
            self._kept.clear()
        if expired := set(self._beliefs.expiring(before, now)):
            self._look_again(expired, ())

    def live(self, slots: Sequence[Slot]) -> tuple[bytes, ...]:
        """The live entries of each slot; the very bytes of last time where nothing changed."""
        kept = {}
        for slot in slots:
            known = self._kept.get(id(slot.segment))
            kept[id(slot.segment)] = known or _Kept(slot.segment, self._believed(slot.segment))
        self._kept = kept
        return tuple(kept[id(slot.segment)].live(slot.current) for slot in slots)

    def _look_again(self, kbids: Iterable[str], docids: Iterable[str]) -> None:
        for kept in self._kept.values():
            segment = kept.segment
            found = {entry for kbid in kbids if (entry := segment.find(kbid_decode(kbid))) >= 0}
            found.update(entry for docid in docids for entry in segment.holders(f"doc:{docid}"))
            if found:
                believed = {entry for entry in found if self._is_believed(segment, entry)}
                kept.set(found - believed, believed)

    def _believed(self, segment: Segment) -> bytes:
        """The entries that a live document lists and whose sections are active."""
        listed = segment.listed()
        if not self._beliefs.spoken_of:
            return listed
        if segment.sections <= self._beliefs.spoken_of:
            believed = (entry for entry in bitmaps.entries(listed) if self._is_believed(segment, entry))
            return bitmaps.having(segment.sections, believed)
        doubtful = {segment.find(kbid_decode(kbid)) for kbid in self._beliefs.inactive(self._now)}
        for docid in self._beliefs.withdrawn_documents():
            doubtful.update(segment.holders(f"doc:{docid}"))
        gone = (entry for entry in doubtful if entry >= 0 and not self._is_believed(segment, entry))
        return bitmaps.without(listed, bitmaps.having(segment.sections, gone))

    def _is_believed(self, segment: Segment, entry: int) -> bool:
        if self._beliefs.section(kbid_encode(segment.kbid(entry)), self._now).state is not State.ACTIVE:
            return False
        places = StoredSection.decode(segment.stored(entry)).places
        return any(self._beliefs.document(place.docid).state == "live" for place in places)


class _Kept:
    """The bits of one segment.

    Attributes:
        segment: kept open, so that no other takes its identity.
        believed: listed by a live document and active, replaced or not.
    """

    __slots__ = ("_current", "_live", "believed", "segment")

    def __init__(self, segment: Segment, believed: bytes) -> None:
        self.segment = segment
        self.believed = believed
        self._current = b""
        self._live: bytes | None = None

    def set(self, off: Iterable[int], on: Iterable[int]) -> None:
        """Changes entries' bits."""
        bits = bytearray(self.believed)
        for entry in off:
            bits[entry >> 3] &= ~(1 << (entry & 7))
        for entry in on:
            bits[entry >> 3] |= 1 << (entry & 7)
        if bits != self.believed:
            self.believed, self._live = bytes(bits), None

    def live(self, current: bytes) -> bytes:
        """The believed among the current entries."""
        if self._live is None or self._current is not current:
            self._live, self._current = bitmaps.both(self.believed, current), current
        return self._live
