"""Where the time of a query and of a build goes, with the physical floor beside it.

The floor is the time that the bytes which must be touched take at the speed of a memory copy in the same run. What
the processor does instead is told by callgrind, in instructions; names of functions within the engine are only known
to a build that kept them (README.md).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeVar

from bench.speed import callgrind, floor
from bench.speed.callgrind import Counts
from bench.speed.engines.kbdb import BareIndex, Settings
from bench.speed.places import Places
from bench.speed.process import CHECKOUT, WorkerProcess
from bench.speed.queries import PHRASES, SETS, as_written
from bench.speed.table import markdown_table, number

PASSES = 7
COUNTED_QUERIES = 50
"""Of one set, under callgrind, which makes everything fifty times slower."""
SHOWN_FUNCTIONS = 15
US = 1e6

Asked = TypeVar("Asked")


def of_queries(places: Places, size: int) -> Iterator[str]:
    """A query's time, beside the time its postings take to read, for each set.

    Times are medians over queries of each one's best pass.
    """
    folder = places.index("kbdb", size)
    index = BareIndex(folder, Settings.read(folder))
    bytes_a_posting = _bytes_a_posting(index, folder)
    sets = places.read_queries()
    body = []
    for which in SETS:
        asked = [as_written(which, query) for query in sets[which]]
        rank = median(_best(index.rank, query) for query in asked)
        bare = median(_best(lambda plan: index.searcher.rank(plan, 10), index.plan(query)) for query in asked)
        touched = [_postings(index, query) for query in asked]
        read = median(touched) * (sum(bytes_a_posting) if which == PHRASES else bytes_a_posting[0])
        least = read / floor.bandwidth(int(read)) * US
        shares = [rank, rank - bare, bare, least]
        body.append(
            [which, *map(number, shares), f"{median(touched):,.0f}", f"{read / 1e3:,.0f}", number(bare / least)]
        )
    yield markdown_table(
        ["set", "rank us", "parse and resolve", "engine", "floor", "postings", "KB", "engine / floor"], body
    )


def of_build(places: Places, size: int) -> Iterator[str]:
    """A rebuild's time, beside the time that reading its section files and writing its index take in memory."""
    folder = places.index("kbdb", size)
    with WorkerProcess("kbdb", size, places) as worker:
        used = worker.ask("rebuild")
    read = sum(path.stat().st_size for path in (folder / ".kbdb" / "sections").rglob("*.sec"))
    written = sum(path.stat().st_size for path in (folder / ".kbdb" / "indexes").rglob("*.*"))
    least = (read + written) / floor.bandwidth(floor.LARGE)
    numbers = (used["cpu_s"], used["wall_s"], least, read / 1e6, written / 1e6, used["cpu_s"] / least)
    yield markdown_table(
        ["sections", "CPU s", "wall s", "floor s", "MB read", "MB written", "CPU / floor"],
        [[f"{size:,}", *map(number, numbers)]],
    )


def instructions(places: Places, size: int, which: str) -> Iterator[str]:
    """Where the instructions of a set's queries, or of a rebuild, are executed.

    Args:
        places: the work folder.
        size: of the corpus.
        which: a query set, or ``build``.
    """
    if not callgrind.is_available():
        yield "Instructions were not counted: valgrind is not installed."
        return
    folder = str(places.index("kbdb", size).resolve())
    if which == "build":
        per, repeats, asked = size, (0, 1), []
    else:
        asked = [as_written(which, query) for query in places.read_queries()[which][:COUNTED_QUERIES]]
        # One pass warms up: checksums are verified when a list is first used.
        per, repeats = len(asked), (1, 2)
    what = "build" if which == "build" else "query"
    setup, whole = (_counted([what, folder, str(count), *asked]) for count in repeats)
    yield from _tables(callgrind.less(whole, setup), per, "section" if which == "build" else f"{which} query")


def cycles(places: Places, size: int, which: str) -> str:
    """What ``perf stat`` counts for a set's queries, setup included; why not, where it cannot."""
    folder = str(places.index("kbdb", size).resolve())
    asked = [as_written(which, query) for query in places.read_queries()[which]]
    command = _command(["query", folder, "20", *asked])
    try:
        ran = subprocess.run(
            ["perf", "stat", "-e", "cycles,instructions,cache-misses,branch-misses", *command],
            env=_environment(),
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        return f"Cycles were not counted: {error}"
    if "not supported" in ran.stderr:
        return "Cycles were not counted: the machine offers no hardware counters."
    return f"```\n{ran.stderr.strip()}\n```"


def _tables(counts: Counts, per: int, unit: str) -> Iterator[str]:
    total = sum(counts.values())
    if not total:
        return
    yield f"{number(total / per)} instructions a {unit}"
    objects = callgrind.by_object(counts).most_common()
    yield markdown_table(
        ["object", "share"], ([name, f"{number / total:.1%}"] for name, number in objects if number >= total / 100)
    )
    shown = counts.most_common(SHOWN_FUNCTIONS)
    yield markdown_table(
        ["function", "object", "share", f"instructions a {unit}"],
        ([function, Path(path).name, f"{count / total:.1%}", number(count / per)] for (path, function), count in shown),
    )


def _counted(arguments: Sequence[str]) -> Counts:
    return callgrind.count(_command(arguments), _environment(), CHECKOUT)


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "bench.speed.profiled", *arguments]


def _environment() -> dict[str, str]:
    # The order of sets and dicts of strings would differ between the two runs that are compared.
    return os.environ | {"PYTHONPATH": str(CHECKOUT), "PYTHONHASHSEED": "0"}


def _best(call: Callable[[Asked], object], asked: Asked) -> float:
    """Microseconds of the best of several calls."""
    best = float("inf")
    for _ in range(PASSES):
        began = perf_counter()
        call(asked)
        best = min(best, perf_counter() - began)
    return best * US


def _postings(index: BareIndex, query: str) -> int:
    """The length of all lists that a query's stems have; an engine that skips reads less."""
    plan = index.plan(query)
    stems = {stem for clause in plan.clauses for one in clause.alternatives for stem in one.stems}
    return sum(index.searcher.df(stem) for stem in stems)


def _bytes_a_posting(index: BareIndex, folder: Path) -> tuple[float, float]:
    """What one posting takes in terms.idx and in positions.idx, on average."""
    postings = sum(index.segment.distinct(entry) for entry in range(index.segment.sections))
    sizes = {path.name: path.stat().st_size for path in (folder / ".kbdb" / "indexes").glob("*/*.idx")}
    return sizes["terms.idx"] / postings, sizes["positions.idx"] / postings
