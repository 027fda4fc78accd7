"""Near duplicates: live entries whose stems in title and body are much like a given set (csrc/README.md, section 9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbdb.reference.container import container_place
from kbdb.reference.corpus import RECORD, RECORDS, corpus_entry
from kbdb.reference.segment import Segment
from kbdb.reference.terms import postings_read, terms_find
from kbdb.reference.varint import corrupt

if TYPE_CHECKING:
    from kbdb.reference.searcher import Searcher


def similar(searcher: Searcher, stems: Sequence[str]) -> list[tuple[int, int, float]]:
    """The live entries that share a stem with ``stems``: segment, entry, Jaccard index of the two sets of stems."""
    wanted = set(stems)
    found = []
    for number, (segment, live) in enumerate(zip(searcher.segments, searcher.live, strict=True)):
        shared = _shared(segment, live, wanted)
        found += [(number, entry, _jaccard(segment, entry, count, len(wanted))) for entry, count in shared.items()]
    return found


def _shared(segment: Segment, live: set[int], wanted: set[str]) -> dict[int, int]:
    """For each live entry, how many of the stems it holds in title or body."""
    shared: dict[int, int] = defaultdict(int)
    for stem in wanted:
        record = terms_find(segment.terms, stem)
        if record is not None:
            for entry, frequencies in postings_read(segment.terms, record):
                if entry in live and (frequencies[0] or frequencies[1]):
                    shared[entry] += 1
    return shared


def _jaccard(segment: Segment, entry: int, shared: int, wanted: int) -> float:
    distinct = corpus_entry(segment.corpus, entry).distinct
    if distinct < shared:
        place = container_place(segment.corpus, RECORDS, RECORD.size * entry)
        raise corrupt(segment.corpus.path, place, f"entry {entry} shares {shared} of {distinct} stems")
    return shared / (wanted + distinct - shared)
