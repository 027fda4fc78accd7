"""Near duplicates: live entries whose stems in title and body are much like a given set (csrc/README.md, section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbdb.reference.searcher import Searcher


def similar(searcher: Searcher, wanted: frozenset[str], threshold: float) -> list[tuple[int, int, float]]:
    """The live entries whose set of stems has a Jaccard index of ``threshold`` or more: segment, entry, index."""
    found = []
    for number, (segment, live) in enumerate(zip(searcher.segments, searcher.live, strict=True)):
        for entry in live:
            held = segment.stem_sets[entry]
            sizes = sorted((len(held), len(wanted)))
            # No index is above the quotient of the sizes: most entries need no comparison.
            if sizes[0] == 0 or sizes[0] / sizes[1] < threshold:
                continue
            shared = len(held & wanted)
            jaccard = shared / (sum(sizes) - shared)
            if jaccard >= threshold:
                found.append((number, entry, jaccard))
    return found
