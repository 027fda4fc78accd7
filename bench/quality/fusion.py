"""Prints the Markdown table of README.md on fusion: nDCG@10 with other numbers than kbdb's.

    python -m bench.quality.fusion [DATA] [--cache DIR]

A star marks what differs from kbdb's own beyond noise (the interval of a paired bootstrap does not hold 0).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.quality.__main__ import data_folder
from bench.quality.cache import cached, local_provider
from bench.quality.collection import Group, Query, load_collection
from bench.quality.experiment import ALL_HABITS, PARAMS, Experiment, Habits
from bench.quality.meaning import Meaning, fused
from bench.quality.metrics import mean, paired_bootstrap, scores_of
from bench.quality.passages import NAMES
from bench.quality.variants import with_params
from kbdb.embed.api import EmbeddingProvider
from kbdb.plan import Params

DEPTH = 200
"""The longest list by meaning that is fused."""

Fuse = Callable[[Sequence[str], Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Legs:
    """A collection's questions, each with the documents nearest to it."""

    groups: Sequence[Group]
    queries: Sequence[Query]
    nearest: Sequence[Sequence[str]]

    @classmethod
    def of(cls, groups: Sequence[Group], provider: EmbeddingProvider) -> Legs:
        hits = [found for group in groups for found in Meaning(group, provider).answers(group.queries, DEPTH)]
        queries = [query for group in groups for query in group.queries]
        return cls(groups, queries, [[document for document, _ in found] for found in hits])

    def words(self, params: Params = PARAMS, habits: Habits = ALL_HABITS) -> list[list[str]]:
        """The documents that words find for each question."""
        return [ranking for _, ranking in Experiment(self.groups, habits).answers(params)]

    def values(self, words: Sequence[Sequence[str]], fuse: Fuse) -> list[float]:
        """nDCG@10 of each question."""
        legs = zip(self.queries, words, self.nearest, strict=True)
        return [scores_of(fuse(one, other), query.grades).ndcg for query, one, other in legs]


def rows(legs: Legs) -> Iterator[tuple[str, list[float]]]:
    """What is compared; kbdb's own first."""
    words = legs.words()
    yield "**kbdb: k 60, 100 of each leg**", legs.values(words, fused)
    yield "words alone", legs.values(words, lambda one, _: one)
    yield "meaning alone", legs.values(words, lambda _, other: other)
    for k in (5, 10, 20, 40, 100):
        yield f"k {k}", legs.values(words, partial(fused, k=k))
    for depth in (20, 50):
        yield f"{depth} of each leg", legs.values(words, partial(fused, depth=depth))
    for title in (1.0, 2.0, 2.5, 3.5, 4.0, 5.0):
        yield f"title {title}", legs.values(legs.words(with_params(title=title)), fused)
    for b in (0.5, 0.75):
        yield f"b {b}", legs.values(legs.words(with_params(b=b)), fused)
    yield "whole identifiers weigh 0.5", legs.values(legs.words(habits=Habits(whole_weight=0.5)), fused)


def main(arguments: Sequence[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.fusion", description=__doc__)
    parser.add_argument("data", nargs="?", help="the folder of the collections")
    parser.add_argument("--cache", type=Path, help="a folder where vectors are kept for the next time")
    asked = parser.parse_args(arguments)
    provider = cached(local_provider(), asked.cache)
    columns = [list(rows(Legs.of(load_collection(data_folder(asked.data) / name), provider))) for name in NAMES]
    print(f"| | {' | '.join(NAMES)} |\n|{' --- |' * (len(NAMES) + 1)}")
    for number, (label, _) in enumerate(columns[0]):
        cells = [_cell(column[number][1], column[0][1]) for column in columns]
        print(f"| {label} | {' | '.join(cells)} |")
    return 0


def _cell(values: Sequence[float], own: Sequence[float]) -> str:
    return f"{mean(values):.4f}{'' if paired_bootstrap(values, own).is_noise else '*'}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
