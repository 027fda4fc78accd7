"""Prints how well kbdb's lexical search does on the shared test collections, and fails where it misses a bar.

    python -m bench.quality [DATA]

DATA is the folder of the collections; default: ``data`` in $KBDB_SHARED, else in ``../shared`` beside the checkout.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.quality.collection import load_collection
from bench.quality.experiment import Experiment
from bench.quality.metrics import Scores, average

BARS: dict[str, float | None] = {
    "cranfield": 0.412,
    "cisi": 0.391,
    "docs-qa": 0.564,
    "locomo": 0.458,
    "cmrc2018-zh": 0.95,
    "xquad/zh": 0.95,
    "xquad/en": None,
    "xquad/ru": None,
}
"""The collections, each with the least nDCG@10 that is good enough, where one is set."""


@dataclass(frozen=True, slots=True)
class Result:
    """A collection's scores beside its bar."""

    name: str
    documents: int
    queries: int
    scores: Scores
    bar: float | None

    @property
    def is_good_enough(self) -> bool:
        return self.bar is None or self.scores.ndcg >= self.bar


def measure(data: Path) -> Iterator[Result]:
    """Every collection's result, with kbdb's defaults and all of its queries.

    Args:
        data: the folder of the collections.
    """
    for name, bar in BARS.items():
        groups = load_collection(data / name)
        documents = sum(len(group.documents) for group in groups)
        queries = sum(len(group.queries) for group in groups)
        yield Result(name, documents, queries, average(Experiment(groups).scores()), bar)


def data_folder(named: str | None = None) -> Path:
    """Where the collections are."""
    if named:
        return Path(named)
    shared = os.environ.get("KBDB_SHARED")
    return (Path(shared) if shared else Path(__file__).resolve().parents[3] / "shared") / "data"


def main(arguments: list[str]) -> int:
    """Prints the table; 0 when every bar is reached, 1 when one is missed, 2 without collections."""
    data = data_folder(arguments[0] if arguments else None)
    if not data.is_dir():
        print(f"no test collections at {data}", file=sys.stderr)
        return 2
    missed = []
    print(f"{'collection':12} {'documents':>9} {'queries':>7} {'nDCG@10':>8} {'bar':>6} {'recall@10':>9} {'MRR':>6}")
    for result in measure(data):
        scores = result.scores
        bar = "-" if result.bar is None else f"{result.bar:.3f}"
        mark = "" if result.is_good_enough else "  below its bar"
        print(
            f"{result.name:12} {result.documents:9} {result.queries:7} {scores.ndcg:8.4f} {bar:>6} "
            f"{scores.recall:9.4f} {scores.mrr:6.4f}{mark}",
            flush=True,
        )
        if not result.is_good_enough:
            missed.append(result.name)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
