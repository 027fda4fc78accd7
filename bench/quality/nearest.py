"""Holds the engine's search of vectors against an exact scan, on the real embeddings of the collections.

    python -m bench.quality.nearest [DATA] [--cache DIR]

Sketches choose what is scored; the ten that come out must be the ten of all vectors, for 999 of 1,000 questions. The
exit code is 1 where they are not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.quality.__main__ import BARS, data_folder
from bench.quality.cache import cached, local_provider
from bench.quality.collection import load_collection
from bench.quality.experiment import PARAMS, kbid_of
from bench.quality.meaning import whole
from kbdb.index import bitmaps
from kbdb.index.engine import engine
from kbdb.index.segments import SegmentList
from kbdb.index.vector_list import VectorList
from kbdb.plan import Entry

if TYPE_CHECKING:
    from kbdb.embed.api import Vectors

LIMIT = 10
LEAST = 0.999
ALIKE = 1e-6
"""Cosines so close are one to numpy, which adds up in 32 bits."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of so many questions, for how many the engine's ten hits are those of its own full scan, and of numpy's."""

    questions: int
    own: int
    numpy: int

    @property
    def is_good_enough(self) -> bool:
        return min(self.own, self.numpy) >= LEAST * self.questions


def agreement(rows: Vectors, queries: Vectors) -> Agreement:
    """Searches vectors by sketches and without them.

    Args:
        rows: one vector a row, of length 1.
        queries: likewise.
    """
    import numpy as np

    kbids = sorted(kbid_of(str(number)) for number in range(len(rows)))
    entries = [Entry(kbid, ("", "word", "", "", ""), (), (), b"", True) for kbid in kbids]
    segments = SegmentList(engine(), 0, PARAMS, lambda words: words).added(entries)
    listed = [slot.segment for slot in segments.slots]
    vectors = VectorList(engine(), rows.shape[1]).added(kbids, np.ascontiguousarray(rows, "<f4").tobytes())
    searcher = vectors.searcher(listed, [bitmaps.full(segment.sections) for segment in listed])
    own = close = 0
    for query in queries:
        data = np.ascontiguousarray(query, "<f4").tobytes()
        hits = searcher.search(data, LIMIT)
        own += hits == searcher.search(data, LIMIT, exact=True)
        cosines = rows @ query
        least = np.sort(cosines)[-LIMIT:][0] - ALIKE
        close += len(hits) == min(LIMIT, len(rows)) and all(cosines[hit.entry] >= least for hit in hits)
    return Agreement(len(queries), own, close)


def main(arguments: Sequence[str]) -> int:
    """Prints a line for each collection."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.nearest", description=__doc__)
    parser.add_argument("data", nargs="?", help="the folder of the collections")
    parser.add_argument("--cache", type=Path, help="a folder where vectors are kept for the next time")
    asked = parser.parse_args(arguments)
    provider = cached(local_provider(), asked.cache)
    is_missed = False
    collections = {name: load_collection(data_folder(asked.data) / name) for name in BARS}
    collections["all together"] = tuple(group for groups in collections.values() for group in groups)
    print("| collection | vectors | questions | as the engine's full scan | as numpy's |")
    print("| --- | --- | --- | --- | --- |")
    for name, groups in collections.items():
        rows = provider.embed([text for group in groups for document in group.documents for text in whole(document)])
        queries = provider.embed([query.text for group in groups for query in group.queries])
        found = agreement(rows, queries)
        print(f"| {name} | {len(rows)} | {found.questions} | {found.own} | {found.numpy} |", flush=True)
        is_missed = is_missed or not found.is_good_enough
    return 1 if is_missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
