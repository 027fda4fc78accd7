"""Prints how well kbdb searches the shared test collections, mode by mode, and fails where it misses a bar.

    python -m bench.quality [DATA] [--lexical] [--only NAMES] [--cache DIR]

DATA is the folder of the collections; default: ``data`` in $KBDB_SHARED, else in ``../shared`` beside the checkout.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.quality.cache import cached, local_provider
from bench.quality.collection import load_collection
from bench.quality.metrics import Difference, Scores, average, paired_bootstrap
from bench.quality.modes import Mode, scores_by_mode
from kbdb.embed.api import EmbeddingProvider
from kbdb.errors import KbdbError

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
"""The collections, each with the least nDCG@10 of lexical search that is good enough, where one is set."""

HYBRID_BARS = {"cranfield": 0.458, "cisi": 0.434, "docs-qa": 0.619}
"""The same of hybrid search."""

OTHER_SCRIPTS = ("cmrc2018-zh", "xquad/zh", "xquad/ru")
"""Where the model knows nothing, hybrid search may lose this much to lexical search and no more:"""
TOLERATED = 0.005

COLUMNS = (
    *("collection", "documents", "questions", "mode", "nDCG@10", "bar", "recall@10", "MRR"),
    "nDCG@10 beyond lexical (95 %)",
)


@dataclass(frozen=True, slots=True)
class Result:
    """A collection's scores in one mode beside its bar.

    Attributes:
        gained: over lexical search, in nDCG@10; None for lexical search itself.
    """

    name: str
    documents: int
    queries: int
    mode: Mode
    scores: Scores
    bar: float | None
    gained: Difference | None

    @property
    def is_good_enough(self) -> bool:
        return self.bar is None or self.scores.ndcg >= self.bar

    def cells(self) -> tuple[str, ...]:
        """Its line of the table."""
        scores = self.scores
        bar = "-" if self.bar is None else f"{self.bar:.3f}" + ("" if self.is_good_enough else " **missed**")
        return (
            *(self.name, str(self.documents), str(self.queries), self.mode, f"{scores.ndcg:.4f}", bar),
            *(f"{scores.recall:.4f}", f"{scores.mrr:.4f}", str(self.gained or "")),
        )


def measure(
    data: Path, provider: EmbeddingProvider | None = None, names: Sequence[str] = tuple(BARS)
) -> Iterator[Result]:
    """Every collection's results, with kbdb's defaults and all of its queries.

    Args:
        data: the folder of the collections.
        provider: what gives vectors; without one only lexical search is measured.
        names: of the collections.
    """
    for name in names:
        groups = load_collection(data / name)
        documents = sum(len(group.documents) for group in groups)
        by_mode = scores_by_mode(groups, provider)
        lexical = [one.ndcg for one in by_mode["lexical"]]
        for mode, scores in by_mode.items():
            mean = average(scores)
            gained = None if mode == "lexical" else paired_bootstrap([one.ndcg for one in scores], lexical)
            bar = _bar(name, mode, average(by_mode["lexical"]).ndcg)
            yield Result(name, documents, len(scores), mode, mean, bar, gained)


def _bar(name: str, mode: Mode, lexical: float) -> float | None:
    if mode == "lexical":
        return BARS[name]
    if mode == "vector":
        return None
    return lexical - TOLERATED if name in OTHER_SCRIPTS else HYBRID_BARS.get(name)


def data_folder(named: str | None = None) -> Path:
    """Where the collections are."""
    if named:
        return Path(named)
    shared = os.environ.get("KBDB_SHARED")
    return (Path(shared) if shared else Path(__file__).resolve().parents[3] / "shared") / "data"


def main(arguments: list[str]) -> int:
    """Prints the table; 0 when every bar is reached, 1 when one is missed, 2 without collections or model."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("data", nargs="?", help="the folder of the collections")
    parser.add_argument("--lexical", action="store_true", help="no vectors: neither a model nor the minutes it takes")
    parser.add_argument("--cache", type=Path, help="a folder where vectors are kept for the next time")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=list(BARS), help="collections, with commas"
    )
    asked = parser.parse_args(arguments)
    data = data_folder(asked.data)
    if not data.is_dir():
        print(f"no test collections at {data}", file=sys.stderr)
        return 2
    missed = 0
    try:
        provider = None if asked.lexical else cached(local_provider(), asked.cache)
        print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
        for result in measure(data, provider, asked.only):
            print(f"| {' | '.join(result.cells())} |", flush=True)
            missed += not result.is_good_enough
    except KbdbError as error:
        print(f"{error} (--lexical measures without a model)", file=sys.stderr)
        return 2
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
