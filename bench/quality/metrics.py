"""nDCG, recall and reciprocal rank of one ranking, as trec_eval computes them; averaged by ``evaluate``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

DEPTH = 10
"""nDCG and recall look at so many hits."""

RECIPROCAL_DEPTH = 100
"""The first relevant hit is looked for so deep."""


@dataclass(frozen=True, slots=True)
class Scores:
    """How good one ranking, or the average one, is; each number from 0 to 1."""

    ndcg: float
    recall: float
    mrr: float


def scores_of(ranking: Sequence[str], grades: Mapping[str, int]) -> Scores:
    """Judges a ranking.

    Args:
        ranking: document ids, best first.
        grades: of the judged documents. Others count 0; those of negative grade are taken out of the ranking; at
            least one is positive.
    """
    judged = [grades.get(document, 0) for document in ranking]
    gains = [grade for grade in judged if grade >= 0]
    relevant = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    found = sum(gain > 0 for gain in gains[:DEPTH])
    first = next((rank for rank, gain in enumerate(gains[:RECIPROCAL_DEPTH], 1) if gain > 0), math.inf)
    return Scores(_discounted(gains[:DEPTH]) / _discounted(relevant[:DEPTH]), found / len(relevant), 1 / first)


def average(scores: Iterable[Scores]) -> Scores:
    """The means of at least one ranking's scores."""
    listed = list(scores)
    return Scores(
        math.fsum(one.ndcg for one in listed) / len(listed),
        math.fsum(one.recall for one in listed) / len(listed),
        math.fsum(one.mrr for one in listed) / len(listed),
    )


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
