"""Times of warm queries: the engines take turns, pass by pass, so that whatever disturbs the machine meets all alike.

A pass asks every query of a set once. What counts is each query's best pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from bench.speed import engines
from bench.speed.engines.api import Engine
from bench.speed.places import Places
from bench.speed.process import WorkerProcess
from bench.speed.queries import PHRASES, SETS

MS = 1000.0


def measure(kind: str, names: Sequence[str], size: int, places: Places, passes: int, budget: float) -> dict[str, Any]:
    """Times of one kind of query, by engine and set.

    Args:
        kind: ``rank`` or ``search``.
        names: of the engines.
        size: of the corpus, in sections.
        places: the work folder.
        passes: how many, besides one that warms up.
        budget: seconds that an engine may spend on a set; a slow one makes fewer passes, the one that warms up
            counting where there is no other.

    Returns:
        Milliseconds: ``{engine: {set: {"p50", "p99", "passes", "hits"}}}``.
    """
    found: dict[str, Any] = {name: {} for name in names}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(WorkerProcess(name, size, places)) for name in names}
        for worker in workers.values():
            worker.ask("open")
        for which in SETS:
            able = {name: worker for name, worker in workers.items() if _can(engines.make(name), kind, which)}
            for name, times in _take_turns(able, kind, which, passes, budget).items():
                found[name][which] = times
    return found


def _can(engine: Engine, kind: str, which: str) -> bool:
    return (kind != "search" or engine.has_search) and (which != PHRASES or engine.has_phrases)


def _take_turns(
    workers: dict[str, WorkerProcess], kind: str, which: str, passes: int, budget: float
) -> dict[str, dict[str, Any]]:
    times: dict[str, list[list[float]]] = {name: [] for name in workers}
    hits: dict[str, list[int]] = {}
    order = list(workers)
    for _ in range(passes + 1):
        for name in order:
            if sum(map(sum, times[name])) < budget:
                answer = workers[name].ask("one_pass", kind=kind, which=which)
                times[name].append(answer["seconds"])
                hits[name] = answer["hits"]
        order.append(order.pop(0))
    return {name: _summary(times[name], hits[name]) for name in workers}


def _summary(times: list[list[float]], hits: list[int]) -> dict[str, Any]:
    warm = times[1:] or times
    best = [min(query) * MS for query in zip(*warm, strict=True)]
    return {
        "p50": percentile(best, 0.50),
        "p99": percentile(best, 0.99),
        "passes": len(warm),
        "hits": sum(hits) / len(hits),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values, and one, do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
