"""Measures hybrid searches beside lexical ones on one database: the engine's time, and the whole answer's.

    python -m bench.hybrid --work DIR --size 100000

DIR is that of ``python -m bench``. The vectors are made up, clustered as sentence embeddings are, and so are those of
the queries: what a provider takes is no part of it. Exit code 1 where the bar is missed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.speed.latency import percentile
from bench.speed.places import Places
from bench.vectors import DIMENSIONS, QUERIES, made
from kbdb.embed.api import EmbeddingProvider
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.embed_sections import Made
from kbdb.model.embedding import Fingerprint

if TYPE_CHECKING:
    import numpy as np

ENGINE_MS = 1.0
"""What a hybrid search may take in the engine at 100,000 sections, p50."""

CHUNK = 10_000
FINGERPRINT = Fingerprint("made up", DIMENSIONS, "none", "unit", "")
SETTINGS = (
    f'[embedding]\nprovider = "api"\nmodel = "made up"\ndimensions = {DIMENSIONS}\napi_url = "http://127.0.0.1:9"\n'
)


class MadeUp(EmbeddingProvider):
    """Gives each question one of some vectors.

    Args:
        rows: the vectors.
    """

    def __init__(self, rows: np.ndarray[Any, Any]) -> None:
        self._rows = rows
        self._asked = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        """The next rows."""
        places = [(self._asked + place) % len(self._rows) for place in range(len(texts))]
        self._asked += len(texts)
        return self._rows[places]

    def dimensions(self) -> int:
        """As many as the rows have."""
        return DIMENSIONS

    def model_name(self) -> str:
        """As in the fingerprint."""
        return FINGERPRINT.model

    def fingerprint(self) -> Fingerprint:
        """The same for all."""
        return FINGERPRINT

    def scripts(self) -> frozenset[str] | None:
        """All."""
        return None

    def floors(self) -> tuple[float, float] | None:
        """Unknown."""
        return None


def main(arguments: list[str]) -> int:
    """Measures and prints; 1 where the bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.hybrid", description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="where python -m bench left the database")
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--passes", type=int, default=5, help="over the queries; each one's best counts")
    asked = parser.parse_args(arguments)
    places = Places(asked.work)
    queries = places.ensure_queries()
    print("| queries | mode | engine p50 / p99 | answer p50 / p99 |\n| --- | --- | --- | --- |")
    is_missed = False
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        home = Path(folder)
        shutil.copytree(places.index("kbdb", asked.size) / ".kbdb", home / ".kbdb")
        (home / ".kbdb" / "worker.toml").write_text(SETTINGS, encoding="ascii")
        with KnowledgeBase.open(home / ".kbdb") as kb:
            _give_vectors(kb)
            for name, texts in queries.items():
                for mode in ("lexical", "vector", "hybrid"):
                    engine, answer = _times(kb, texts[:QUERIES], mode, asked.passes)
                    cells = (name, mode, _both(engine), _both(answer))
                    print(f"| {' | '.join(cells)} |", flush=True)
                    is_missed |= mode == "hybrid" and percentile(engine, 0.5) > ENGINE_MS
    return int(is_missed)


def _give_vectors(kb: KnowledgeBase) -> None:
    kbids = [item.kbid for item in _live(kb)]
    collection = made("clustered", len(kbids))
    kb._core.embedding.__dict__["provider"] = MadeUp(collection.queries)
    for start in range(0, len(kbids), CHUNK):
        rows = collection.rows[start : start + CHUNK]
        kb.take_vectors(Made(FINGERPRINT, tuple(kbids[start : start + CHUNK]), rows.tobytes()))
    kb.settle()


def _live(kb: KnowledgeBase) -> Iterator[Any]:
    yield from kb.list("sections", state="active", limit=1 << 40).items


def _times(kb: KnowledgeBase, queries: Sequence[str], mode: str, passes: int) -> tuple[list[float], list[float]]:
    """Each query's best time in the engine, and as a whole, in milliseconds."""
    engine, answer = [float("inf")] * len(queries), [float("inf")] * len(queries)
    for _ in range(passes):
        for place, query in enumerate(queries):
            found = kb.search(query, mode=mode)
            if found.retrieval_method != mode:
                raise SystemExit(f"{query!r} was answered by {found.retrieval_method}: {found.warnings}")
            engine[place] = min(engine[place], found.engine_ms)
            answer[place] = min(answer[place], found.elapsed_ms)
    return engine, answer


def _both(times: Sequence[float]) -> str:
    return f"{percentile(times, 0.5):.3f} / {percentile(times, 0.99):.3f} ms"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
