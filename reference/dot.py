"""Products of vectors and cosines (csrc/README.md, section 10)."""

from __future__ import annotations

from collections.abc import Sequence

LANES = 8


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """The sum of the products, added up in the one order that gives the same last bit everywhere."""
    sums = [0.0] * LANES
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        sums[i % LANES] = sums[i % LANES] + a * b
    low = (sums[0] + sums[4]) + (sums[2] + sums[6])
    high = (sums[1] + sums[5]) + (sums[3] + sums[7])
    return low + high


def cosine(product: float, left: float, right: float) -> float:
    """The cosine of two vectors by their product and lengths, which are above 0."""
    return max(-1.0, min(1.0, product / (left * right)))
