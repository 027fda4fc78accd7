"""Prints what the best cosine tells: of questions that the store answers, and of questions that it cannot.

    python -m bench.quality.verdicts [DATA] [--cache DIR] [--answered COSINE] [--weak COSINE]

The second kind are the questions of the other collections, and for LoCoMo those about other people's conversations.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.quality.__main__ import data_folder
from bench.quality.cache import cached, local_provider
from bench.quality.collection import Group, Query, load_collection
from bench.quality.meaning import Meaning
from kbdb.embed.api import EmbeddingProvider

NAMES = ("docs-qa", "cranfield", "cisi", "locomo", "xquad/en")
"""The collections in the model's language."""

ASKED = 300
"""So many questions of another collection, spread over it, are asked of a store."""

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Cosines:
    """Of the best hit of each question that a collection was asked.

    Attributes:
        right: the hit is relevant.
        wrong: it is not, or nobody judged it.
        elsewhere: the question is another collection's, by that one's name.
    """

    right: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)
    elsewhere: dict[str, list[float]] = field(default_factory=dict)


def cosines_of(name: str, collections: Mapping[str, Sequence[Group]], provider: EmbeddingProvider) -> Cosines:
    """Asks a collection its own questions and those of the others.

    Args:
        name: the collection's.
        collections: all of them.
        provider: gives the vectors.
    """
    found = Cosines()
    for group in collections[name]:
        meaning = Meaning(group, provider)
        for query, hits in zip(group.queries, meaning.answers(group.queries), strict=True):
            hit, cosine = next(hit for hit in hits if query.grades.get(hit[0], 0) >= 0)
            (found.right if query.grades.get(hit, 0) else found.wrong).append(cosine)
        for other, groups in collections.items():
            strangers = [query for one in groups if one is not group for query in one.queries]
            if strangers:
                asked = _some(strangers, ASKED // len(collections[name]))
                best = meaning.cosines([query.text for query in asked]).max(axis=1)
                found.elsewhere.setdefault(other, []).extend(map(float, best))
    return found


def _some(queries: Sequence[Query], most: int) -> Sequence[Query]:
    return queries[:: -(-len(queries) // most)]


def main(arguments: list[str]) -> int:
    """Prints a table of the shares, and one of the cosines."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.verdicts", description=__doc__)
    parser.add_argument("data", nargs="?", help="the folder of the collections")
    parser.add_argument("--cache", type=Path, help="a folder where vectors are kept for the next time")
    local = local_provider()
    answered, weak = local.floors() or (1.0, 0.0)
    parser.add_argument("--answered", type=float, default=answered, help="from this cosine on a question is answered")
    parser.add_argument("--weak", type=float, default=weak, help="below this one it is unanswered")
    asked = parser.parse_args(arguments)
    collections = {name: load_collection(data_folder(asked.data) / name) for name in NAMES}
    provider = cached(local, asked.cache)
    print("| asked of | questions | answered | weak | unanswered |" + "".join(f" {q:.0%} |" for q in QUANTILES))
    print(f"|{' --- |' * (5 + len(QUANTILES))}")
    shares: dict[str, list[tuple[float, float]]] = {}
    for name in NAMES:
        found = cosines_of(name, collections, provider)
        lines = {"best hit relevant": found.right, "best hit not relevant": found.wrong}
        lines |= {f"questions of {other}": cosines for other, cosines in found.elsewhere.items()}
        for kind, cosines in lines.items():
            share = _shares(cosines, asked.answered, asked.weak)
            told = "other conversations" if kind == f"questions of {name}" else kind
            _print_line(f"{name}: {told}", cosines, share)
            general = "questions of others" if kind.startswith("questions") and told == kind else told
            shares.setdefault(general, []).append(share)
    for kind, listed in shares.items():
        answered, weak = (sum(column) / len(listed) for column in zip(*listed, strict=True))
        print(f"| **mean: {kind}** | | {answered:.1%} | {weak:.1%} | {1 - answered - weak:.1%} |")
    return 0


def _shares(cosines: Sequence[float], answered: float, weak: float) -> tuple[float, float]:
    """How many are answered, and how many weak."""
    high = sum(cosine >= answered for cosine in cosines)
    return high / len(cosines), (sum(cosine >= weak for cosine in cosines) - high) / len(cosines)


def _print_line(name: str, cosines: Sequence[float], share: tuple[float, float]) -> None:
    import numpy as np

    spread = " | ".join(f"{value:.2f}" for value in np.quantile(cosines, QUANTILES))
    answered, weak = share
    counts = f"{len(cosines)} | {answered:.1%} | {weak:.1%} | {1 - answered - weak:.1%}"
    print(f"| {name} | {counts} | {spread} |", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
