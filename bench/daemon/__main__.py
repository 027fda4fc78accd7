"""Measures a daemon over a corpus of the speed benchmark, and prints what came out beside what it has to be.

    python -m bench.daemon --work DIR --size 100000

DIR is the work folder of ``python -m bench run``; the corpus is made there if it is not yet, and a copy of its database
is what the daemon serves.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.daemon import measures
from bench.speed.phases import Options, prepare
from bench.speed.places import Places
from bench.speed.store import clone
from kbdb.client.client import Client

CLIENTS = 8
LEARNED = 10_000


def main(arguments: list[str]) -> int:
    """Runs all measurements; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.daemon", description=__doc__)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR")
    parser.add_argument("--size", type=int, default=100_000, help="sections")
    parser.add_argument("--learned", type=int, default=LEARNED, help="sections learned while searches go on")
    asked = parser.parse_args(arguments)
    os.environ.pop("KBDB_DAEMON", None)
    places = Places(asked.work)
    prepare(asked.size, places, Options(("kbdb",)))
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        root = Path(folder) / "database"
        clone(places.index("kbdb", asked.size), root)
        try:
            for line in _lines(root, places.ensure_queries(), Path(folder) / "new", asked.learned):
                print(line, flush=True)
        finally:
            with Client(root) as client:
                client.shutdown()
    return 0


def _lines(root: Path, queries: Mapping[str, Sequence[str]], new: Path, learned: int) -> Iterator[str]:
    mixed = queries["mixed23"]
    yield "| what | measured | has to be |\n| --- | --- | --- |"
    trip = measures.round_trip(root, mixed, 5)
    yield f"| a search over the socket, p50 | {trip['round_trip_p50']:.3f} ms | |"
    yield f"| beyond what it takes in the engine, p50 | {trip['beyond_engine_p50']:.3f} ms | ≤ 0.3 ms |"
    yield f"| beyond what it takes in the daemon, page and all, p50 | {trip['beyond_search_p50']:.3f} ms | |"
    yield _crowd(measures.throughput(root, mixed, CLIENTS))
    times = measures.commands(root, mixed[0], 15)
    for name in ("search", "search_json"):
        took, ratio = times[f"{name}_p50"], times[f"{name}_p50"] / times["typer_p50"]
        yield f"| `kbdb {name.replace('_', ' --')}` | {took:.0f} ms, {ratio:.2f} x import typer | ≤ 1.5 x |"
    yield _busy(measures.while_learning(root, mixed, new, learned), learned)
    held = measures.memory(root, mixed, 10_000, 1000)
    megabytes = ", ".join(f"{held[f'memory_{when}']:.0f} MB" for when in ("begin", "half", "end"))
    yield f"| memory at first, half way and after 10,000 searches, 1,000 learns | {megabytes} | ≤ 80 MB, flat |"
    idle = measures.connections(root, 50)
    cost, threads = idle["connection_kb"], idle["threads_added"]
    yield f"| an idle connection; threads that 50 add | {cost:.0f} kB; {threads} | ≤ 100 kB; 0 |"


def _crowd(found: Mapping[str, float]) -> str:
    share, by_one = (found["searches_per_s"] / found[name] for name in ("possible_per_s", "possible_alone_per_s"))
    cpu, served, alone = (found[f"{name}cpu_ms_per_search"] for name in ("", "daemon_", "alone_"))
    rate = f"{found['searches_per_s']:,.0f} searches/s, {share:.2f} of what the cores allow"
    costs = f"{cpu:.3f} ms of CPU each, {served:.3f} the daemon's"
    one = f"{by_one:.2f} by the {alone:.3f} ms that one takes alone"
    return f"| {CLIENTS} clients at once | {rate} ({costs}); {one} | ≥ 0.8 |"


def _busy(found: Mapping[str, float], learned: int) -> str:
    p99 = f"p99 {found['learning_p99']:.2f} ms, {found['learning_p99'] / found['rest_p99']:.1f} x that at rest"
    others = f"p50 {found['learning_p50']:.2f} and {found['rest_p50']:.2f}, max {found['learning_max']:.1f}"
    count = f"{found['searches_meanwhile']:,} searches"
    return f"| searches while {learned:,} sections are learned | {p99} ({others}; {count}) | ≤ 5 x |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
