"""A snapshot of the index with what is known of its words; a search reads nothing else of the index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import groupby

from kbdb.index import bitmaps
from kbdb.index.segments import Slot
from kbdb.index.snapshot import Snapshot
from kbdb.query.lexicon import Analysis, Lexicon

KEYS_AT_ONCE = 128
"""Keys that are taken from a segment at a time: about a page of what is shown."""


@dataclass(frozen=True)
class View(Snapshot):
    """A snapshot that queries are resolved against.

    Attributes:
        analysis: of the database.
    """

    analysis: Analysis

    @cached_property
    def lexicon(self) -> Lexicon:
        """What resolving asks of the snapshot; kept as long as it."""
        return Lexicon(self.searcher, self.analysis)

    def held(self, kind: str, prefix: str = "", after: str = "") -> Iterator[str]:
        """What follows ``kind`` in the filter keys that live sections hold, sorted, each once."""
        passed = f"{kind}{after}" if after else ""
        of_slots = (
            _live_keys(slot, live, f"{kind}{prefix}", passed) for slot, live in zip(self.slots, self.live, strict=True)
        )
        # By their bytes, as segments have them; in Python text compares by code points, which is the same order.
        for key, _ in groupby(merge(*of_slots)):
            yield key[len(kind) :]


def _live_keys(slot: Slot, live: bytes, prefix: str, after: str) -> Iterator[str]:
    while keys := slot.segment.filter_keys(prefix, after, KEYS_AT_ONCE):
        for key, _ in keys:
            if bitmaps.count(bitmaps.both(slot.segment.filter(key), live)):
                yield key
        after = keys[-1][0]
