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
        mean([one.ndcg for one in listed]), mean([one.recall for one in listed]), mean([one.mrr for one in listed])
    )


def mean(values: Sequence[float]) -> float:
    """Of at least one value."""
    return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True)
class Difference:
    """What one way of ranking gains over another in the mean, and between which two numbers that lies.

    Attributes:
        mean: over all questions.
        low: 2.5 % of the resampled means are below.
        high: 2.5 % of them are above.
    """

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """Whether the interval holds 0."""
        return self.low <= 0.0 <= self.high

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ({self.low:+.3f}..{self.high:+.3f})"


def paired_bootstrap(one: Sequence[float], other: Sequence[float], resamples: int = 10_000) -> Difference:
    """How much better ``one`` is than ``other``, by resampling the questions; the same each time.

    Args:
        one: a value for each question.
        other: values for the same questions, in the same order.
        resamples: how often as many questions are drawn, each again and again.
    """
    import numpy as np

    differences = np.array(one) - np.array(other)
    random = np.random.Generator(np.random.PCG64(42))
    means = [differences[random.integers(0, len(differences), len(differences))].mean() for _ in range(resamples)]
    low, high = np.quantile(means, (0.025, 0.975))
    return Difference(float(differences.mean()), float(low), float(high))


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
