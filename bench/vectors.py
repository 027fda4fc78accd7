"""Measures searches of vectors beside numpy's exact scan, in turns and on one thread, and prints what came out.

    python -m bench.vectors --sizes 10000,100000 --kinds clustered,uniform
    python -m bench.vectors --file VECTORS.npy --queries QUERIES.npy

``clustered`` is like sentence embeddings: 64 latent dimensions, 1,000 centres, a little noise all around; ``uniform``
has no neighbourhoods, so that little can be ruled out. Exit code 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import mmap
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from bench.speed.latency import MS, percentile
from kbdb.index import bitmaps
from kbdb.index.api import EngineModule, Segment, Vectors, VectorSearcher
from kbdb.index.engine import engine
from kbdb.plan import Entry, Params

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

DIMENSIONS = 384
QUERIES = 200
LIMIT = 10
FUSED = 100
"""As many hits as hybrid searches take."""

CHUNK = 100_000
"""Vectors that are made at a time."""

LEAST_RECALL = 0.999
BARS = {10_000: 0.5, 100_000: 0.15}
"""By size: what a search may take of numpy's time, for clustered vectors."""

ALIKE = 1e-6
"""Cosines so close are one to numpy, which adds up in 32 bits."""

COLUMNS = (
    *("set", "vectors", "numpy p50", "10 hits p50 / p99", "of numpy", "recall@10", "100 hits p50", "every vector p50"),
    *("first check", "join", "sketches", "memory"),
)


@dataclass(frozen=True, slots=True)
class Collection:
    """Vectors and queries, one a row, of length 1."""

    name: str
    rows: np.ndarray[Any, Any]
    queries: np.ndarray[Any, Any]


def main(arguments: list[str]) -> int:
    """Measures what is asked for; its exit code."""
    asked = _parser().parse_args(arguments)
    # Before numpy is loaded: one thread, as the engine has.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    is_missed = False
    for collection in _collections(asked):
        with tempfile.TemporaryDirectory(dir=asked.work) as folder:
            line, is_right = _measured(collection, Path(folder), asked.passes)
        print(line, flush=True)
        is_missed = is_missed or not is_right
    return 1 if is_missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.vectors", description=__doc__)
    parser.add_argument("--sizes", type=_numbers, default=[10_000, 100_000], help="vectors, with commas")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=["clustered"], help="clustered, uniform")
    parser.add_argument("--file", type=Path, help="an array of 32-bit rows, instead of made ones")
    parser.add_argument("--queries", type=Path, help="an array of queries for it")
    parser.add_argument("--passes", type=int, default=5, help="over the queries; each one's best counts")
    parser.add_argument("--work", type=Path, help="where files are written; default: the system's folder for such")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _collections(asked: argparse.Namespace) -> Iterator[Collection]:
    import numpy as np

    if asked.file is not None:
        rows, queries = (np.load(path).astype(np.float32) for path in (asked.file, asked.queries))
        yield Collection(asked.file.stem, rows, queries[:: max(1, len(queries) // QUERIES)][:QUERIES])
        return
    for kind in asked.kinds:
        for size in asked.sizes:
            yield made(kind, size)


def made(kind: str, size: int) -> Collection:
    """A collection of a kind and size, the same each time."""
    import numpy as np

    random = np.random.Generator(np.random.PCG64(42))
    centres = random.standard_normal((1000, 64), dtype=np.float32)
    spread = random.standard_normal((64, DIMENSIONS), dtype=np.float32)
    rows = np.empty((size + QUERIES, DIMENSIONS), dtype=np.float32)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        part[:] = random.standard_normal(part.shape, dtype=np.float32)
        if kind == "clustered":
            latent = random.standard_normal((len(part), 64), dtype=np.float32)
            part[:] = 2.0 * part + (centres[random.integers(0, 1000, len(part))] + 0.6 * latent) @ spread
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return Collection(kind, rows[:-QUERIES], rows[-QUERIES:])


def _measured(collection: Collection, folder: Path, passes: int) -> tuple[str, bool]:
    """One line of the table, and whether no bar is missed."""
    chosen = engine()
    ids = [hashlib.sha256(b"%d" % number).digest()[:16] for number in range(len(collection.rows))]
    segment = _segment(chosen, ids)
    vectors = _written(chosen, collection, ids, folder / "vectors.idx")
    live = [bitmaps.full(segment.sections)]
    check, _ = _timed(vectors.verify)
    join, searcher = _timed(lambda: chosen.VectorSearcher([vectors], [segment], live))
    sketching, _ = _timed(vectors.prepare)
    times, recall = _compared(searcher, collection, ids, passes)
    memory = (vectors.memory_bytes + searcher.memory_bytes) / 1e6
    share = percentile(times["ten"], 0.5) / percentile(times["numpy"], 0.5)
    bar = BARS.get(len(ids)) if collection.name == "clustered" else None
    cells = (
        *(collection.name, f"{len(ids):,}", f"{percentile(times['numpy'], 0.5):.3f} ms"),
        f"{percentile(times['ten'], 0.5):.3f} / {percentile(times['ten'], 0.99):.3f} ms",
        f"{share:.3f}" + (f" (≤ {bar})" if bar else ""),
        *(f"{recall:.4f}", f"{percentile(times['hundred'], 0.5):.3f} ms", f"{percentile(times['all'], 0.5):.3f} ms"),
        *(f"{check * MS:.0f} ms", f"{join * MS:.0f} ms", f"{sketching * MS:.0f} ms", f"{memory:.1f} MB"),
    )
    return f"| {' | '.join(cells)} |", recall >= LEAST_RECALL and (bar is None or share <= bar)


def _segment(chosen: EngineModule, ids: Sequence[bytes]) -> Segment:
    """A segment of sections that hold hardly anything."""
    builder = chosen.Builder(0, Params(1.2, (0.75,) * 5, (1.0,) * 5))
    for kbid in ids:
        builder.add(Entry(kbid, ("word", "", "", "", ""), (), (), b"", True))
    files = builder.finish(lambda words: words)
    return chosen.Segment(files.terms, files.positions, files.corpus, files.references, fingerprint=0)


def _written(chosen: EngineModule, collection: Collection, ids: Sequence[bytes], path: Path) -> Vectors:
    """The collection in a file, mapped."""
    with path.open("w+b") as file:

        def into(offset: int, data: bytes) -> None:
            file.seek(offset)
            file.write(data)

        chosen.write_vectors(collection.rows.shape[1], ids, collection.rows.data.cast("B"), into)
        file.flush()
        return chosen.Vectors(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _timed(call: Callable[[], T]) -> tuple[float, T]:
    began = perf_counter()
    answer = call()
    return perf_counter() - began, answer


def _compared(
    searcher: VectorSearcher, collection: Collection, ids: Sequence[bytes], passes: int
) -> tuple[dict[str, list[float]], float]:
    """Each query's best time in milliseconds, of each way, and the recall of ten hits.

    The ways take turns, pass by pass, so that each finds in the caches what it left there itself.
    """
    import numpy as np

    rows, queries = collection.rows, [np.ascontiguousarray(query) for query in collection.queries]

    def scan(query: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        scores = rows @ query
        top = np.argpartition(scores, -LIMIT)[-LIMIT:]
        return np.asarray(scores[top[np.argsort(-scores[top])]])

    asked = [query.data.cast("B") for query in queries]
    ways: dict[str, list[Callable[[], Any]]] = {
        "numpy": [partial(scan, query) for query in queries],
        "ten": [partial(searcher.search, data, LIMIT) for data in asked],
        "hundred": [partial(searcher.search, data, FUSED) for data in asked],
        "all": [partial(searcher.search, data, LIMIT, exact=True) for data in asked],
    }
    best = {name: [float("inf")] * len(queries) for name in ways}
    for _ in range(passes):
        for name, calls in ways.items():
            took = [_timed(call)[0] * MS for call in calls]
            best[name] = list(map(min, best[name], took))
    by_entry = sorted(range(len(ids)), key=ids.__getitem__)
    right = 0
    for query, scores, hits in zip(queries, ways["numpy"], ways["ten"], strict=True):
        found = [by_entry[hit.entry] for hit in hits()]
        right += sum(float(rows[number] @ query) >= scores()[-1] - ALIKE for number in found)
    return best, right / (LIMIT * len(queries))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
