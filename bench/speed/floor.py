"""How fast this machine moves memory: what no engine can be faster than."""

from __future__ import annotations

from time import perf_counter

LARGE = 256 << 20
"""Bytes that are in no cache."""

_SECONDS = 0.3


def bandwidth(size: int) -> float:
    """Bytes a second that a copy of a buffer reads and writes, the best of many.

    Args:
        size: of the buffer, in bytes; small ones stay in the caches.
    """
    import numpy as np

    size = max(size, 4096)
    source, target = np.ones(size // 8), np.empty(size // 8)
    repeats = max(1, (1 << 22) // size)
    best = float("inf")
    until = perf_counter() + _SECONDS
    while perf_counter() < until:
        began = perf_counter()
        for _ in range(repeats):
            np.copyto(target, source)
        best = min(best, (perf_counter() - began) / repeats)
    return 2 * source.nbytes / best
