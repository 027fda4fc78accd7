"""Reciprocal rank fusion: one ranking out of several, by ranks alone (Cormack, Clarke, Buettcher, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Sequence

RRF_K = 60
"""The higher, the less the first ranks stand out."""

RRF_DEPTH = 100
"""Each list is read down to this rank."""


def fuse(lists: Sequence[Sequence[str]], k: int = RRF_K, depth: int = RRF_DEPTH) -> list[tuple[str, float]]:
    """Ranks ids by the sum of ``1 / (k + rank)`` over the lists that hold them, rank from 1; ties by id.

    Args:
        lists: kbids, best first, each at most once in a list.
        k: 0 or more.
        depth: how far each list is read.

    Returns:
        (kbid, score), best first.
    """
    scores: dict[str, float] = {}
    for ranked in lists:
        for rank, kbid in enumerate(ranked[:depth], 1):
            scores[kbid] = scores.get(kbid, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
