"""The phases of a benchmark run at one size: which workers are started, what they are asked, what is kept of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from bench.speed import latency
from bench.speed.latency import MS
from bench.speed.places import Places
from bench.speed.process import WorkerProcess
from bench.speed.queries import SETS, as_written

REBUILT = ("kbdb", "tantivy", "tantivy-stored")
"""Engines whose building is compared; the others are built once."""

SMALL = 1_000
"""Sections of the database that learning in a larger one is compared with."""

WARM_UP = 2
"""Sections learned before any is counted."""

OPENED = ("kbdb", "tantivy")
FIRST_QUERIES = 2
"""First queries tried of each set, each in fresh processes."""


@dataclass(frozen=True, slots=True)
class Options:
    """How much is measured.

    Attributes:
        engines: names, kbdb among them.
        passes: over each query set.
        budget: seconds an engine may spend on one set.
        repeats: builds, and processes for each first query; the best counts.
        learned: sections learned one by one.
    """

    engines: tuple[str, ...]
    passes: int = 15
    budget: float = 10.0
    repeats: int = 3
    learned: int = 50


def prepare(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Makes what is missing: corpus, query sets, each engine's index; brings kbdb's to the version that is measured.

    Returns:
        What making used, by engine, of those that were made.
    """
    places.ensure_corpus(size)
    places.ensure_queries()
    made: dict[str, Any] = {}
    for name in options.engines:
        done = places.index(name, size).with_suffix(".made")
        if not done.exists():
            with WorkerProcess(name, size, places) as worker:
                made[name] = worker.ask("build")
            done.touch()
        if name == "kbdb":
            with WorkerProcess(name, size, places) as worker:
                worker.ask("settle")
    return made


def build(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Seconds and memory of building: kbdb from its section files, the others from memory."""
    found: dict[str, Any] = {}
    for _ in range(options.repeats):
        for name in _those(REBUILT, options):
            with WorkerProcess(name, size, places) as worker:
                used = worker.ask("rebuild" if name == "kbdb" else "build")
            best = found.setdefault(name, used)
            found[name] = {key: min(best[key], used[key]) for key in used}
    return found


def disk(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Bytes of each index."""
    found = {}
    for name in options.engines:
        with WorkerProcess(name, size, places) as worker:
            found[name] = worker.ask("index_bytes")
    return found


def rank(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Times of bare ranking."""
    names = [name for name in options.engines if name != "tantivy-stored"]
    return latency.measure("rank", names, size, places, options.passes, options.budget)


def search(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Times of full answers."""
    names = _those(("kbdb", "tantivy-stored"), options)
    return latency.measure("search", names, size, places, options.passes, options.budget)


def first(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Milliseconds from a closed index to the first answer: the median over queries of each one's best process."""
    sets = places.read_queries()
    asked = [as_written(which, query) for which in SETS for query in sets[which][:FIRST_QUERIES]]
    ways = [(name, True) for name in _those(OPENED, options)] + [("kbdb", False)]
    best: dict[tuple[str, bool], dict[str, tuple[float, float]]] = {way: {} for way in ways}
    for query in asked:
        for _ in range(options.repeats):
            for name, bare in ways:
                with WorkerProcess(name, size, places) as worker:
                    answer = worker.ask("first", query=query, bare=bare)
                took = (answer["open"] + answer["first"], answer["open"])
                best[name, bare][query] = min(took, best[name, bare].get(query, took))
    return {name if bare else f"{name}-database": _middle(list(best[name, bare].values())) for name, bare in ways}


def learn(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Times of learning one section durably, in turns in the database of this size and in a small one."""
    if size > SMALL:
        prepare(SMALL, places, replace(options, engines=("kbdb",)))
    with ExitStack() as stack:
        workers = {name: stack.enter_context(WorkerProcess("kbdb", of, places)) for name, of in _two(size)}
        times: dict[str, list[dict[str, float]]] = {name: [] for name in workers}
        for worker in workers.values():
            worker.ask("begin_learning")
        for number in range(WARM_UP + options.learned):
            for name, worker in workers.items():
                times[name].append(worker.ask("learn", number=number))
        for worker in workers.values():
            worker.ask("end_learning")
    return {name: _learned(found[WARM_UP:]) for name, found in times.items()}


def memory(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Private memory of an open index."""
    found = {}
    for name in _those(OPENED, options):
        with WorkerProcess(name, size, places) as worker:
            found[name] = worker.ask("memory")
    return found


def upkeep(size: int, places: Places, options: Options) -> dict[str, Any]:
    """Seconds of gc and check."""
    del options
    with WorkerProcess("kbdb", size, places) as worker:
        return {"kbdb": worker.ask("upkeep")}


Phase = Callable[[int, Places, Options], dict[str, Any]]

PHASES: dict[str, Phase] = {
    "build": build,
    "disk": disk,
    "rank": rank,
    "search": search,
    "first": first,
    "learn": learn,
    "memory": memory,
    "upkeep": upkeep,
}
"""In the order they run: ``build`` leaves an index of the current version for the others."""


def _those(names: Sequence[str], options: Options) -> list[str]:
    return [name for name in names if name in options.engines]


def _two(size: int) -> list[tuple[str, int]]:
    """The database of this size, and a small one beside a larger one."""
    return [("kbdb", size), ("small", SMALL)] if size > SMALL else [("kbdb", size)]


def _learned(times: list[dict[str, float]]) -> dict[str, float]:
    found = {f"{key}_p50": latency.percentile([one[key] for one in times], 0.5) for key in times[0]}
    worst = {f"{key}_p99": latency.percentile([one[key] for one in times], 0.99) for key in ("learned", "file")}
    return found | worst


def _middle(times: list[tuple[float, float]]) -> dict[str, float]:
    total = sorted(total for total, _ in times)
    opened = sorted(opened for _, opened in times)
    return {"p50": latency.percentile(total, 0.5) * MS, "open_p50": latency.percentile(opened, 0.5) * MS}
