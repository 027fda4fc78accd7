"""The measurements: each starts from a running daemon, or starts commands, and returns numbers.

Clients that ask at the same time are processes of their own, as agents are. Times are wall time in milliseconds.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import psutil

from bench.speed.corpus import section, write_markdown
from kbdb.client.client import Client

MS = 1000.0
FRESH = 20_000_000
"""Sections from this number on are in no corpus."""

SEARCH_S = 5.0
"""How long parallel clients search."""


def percentile(times: Sequence[float], share: float) -> float:
    """The time that this share of the times does not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def round_trip(root: Path, queries: Sequence[str], passes: int) -> dict[str, float]:
    """What a warm search costs a client beyond what it takes in the daemon; each query's best pass."""
    whole = [float("inf")] * len(queries)
    beyond = [float("inf")] * len(queries)
    beside_engine = [float("inf")] * len(queries)
    with Client(root) as client:
        for _ in range(passes):
            for place, query in enumerate(queries):
                began = perf_counter()
                answer = client.call_raw("search", {"query": query})
                took = (perf_counter() - began) * MS
                whole[place] = min(whole[place], took)
                beyond[place] = min(beyond[place], took - answer["elapsed_ms"])
                beside_engine[place] = min(beside_engine[place], took - answer["engine_ms"])
    return {
        "round_trip_p50": median(whole),
        "beyond_search_p50": median(beyond),
        "beyond_engine_p50": median(beside_engine),
    }


def throughput(root: Path, queries: Sequence[str], clients: int) -> dict[str, float]:
    """Searches a second of clients that ask at the same time, and the CPU that each costs, client's and daemon's.

    What the cores allow is told twice: by the CPU a search takes in the crowd, and by what it takes where one client
    asks alone. A crowd in which threads hinder each other does well by the first and not by the second.
    """
    with Client(root) as client:
        daemon = psutil.Process(client.daemon_pid)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    _, alone_served, alone_used = _searched(root, queries, 1, daemon)
    searches, served, used = _searched(root, queries, clients, daemon)
    return {
        "searches_per_s": searches / SEARCH_S,
        "cpu_ms_per_search": (served + used) * MS,
        "daemon_cpu_ms_per_search": served * MS,
        "alone_cpu_ms_per_search": (alone_served + alone_used) * MS,
        "possible_per_s": cores / (served + used),
        "possible_alone_per_s": cores / (alone_served + alone_used),
    }


def _searched(root: Path, queries: Sequence[str], clients: int, daemon: psutil.Process) -> tuple[int, float, float]:
    """How many searches so many clients make, and the seconds of CPU that one takes in the daemon and in its client."""
    go = multiprocessing.Event()
    counts: Any = multiprocessing.Queue()
    crowd = [
        multiprocessing.Process(target=_search_for, args=(root, queries[at::clients] or queries, go, counts))
        for at in range(clients)
    ]
    for one in crowd:
        one.start()
    for _ in crowd:
        counts.get()
    before = daemon.cpu_times()
    go.set()
    told = [counts.get() for _ in crowd]
    after = daemon.cpu_times()
    for one in crowd:
        one.join()
    searches = sum(count for count, _ in told)
    served = (after.user + after.system) - (before.user + before.system)
    return searches, served / searches, sum(used for _, used in told) / searches


def _search_for(root: Path, queries: Sequence[str], go: Event, counts: Any) -> None:
    with Client(root) as client:
        client.call_raw("search", {"query": queries[0]})
        counts.put("ready")
        go.wait()
        until, count, cpu = perf_counter() + SEARCH_S, 0, process_time()
        while perf_counter() < until:
            client.call_raw("search", {"query": queries[count % len(queries)]})
            count += 1
        counts.put((count, process_time() - cpu))


def commands(root: Path, query: str, runs: int) -> dict[str, float]:
    """How long ``kbdb search`` takes as a process while a daemon runs, beside a Python that imports typer."""
    installed = Path(sys.executable).with_name("kbdb")
    program = [str(installed)] if installed.exists() else [sys.executable, "-m", "kbdb"]
    search = [*program, "search", query, "--db", str(root)]
    turns = {"typer": [sys.executable, "-c", "import typer"], "search": search, "search_json": [*search, "--json"]}
    times: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(runs):
        for name, command in turns.items():
            began = perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append((perf_counter() - began) * MS)
    return {f"{name}_p50": median(taken) for name, taken in times.items()}


def while_learning(root: Path, queries: Sequence[str], folder: Path, sections: int) -> dict[str, float]:
    """How long searches take at rest, and while a folder of so many sections is learned."""
    write_markdown(folder, (section(FRESH + number) for number in range(sections)))
    with Client(root) as client:
        for query in queries:
            client.call_raw("search", {"query": query})
        rest = _times(client, queries, lambda taken: len(taken) < 3000)
        learning = threading.Thread(target=_learn, args=(root, folder))
        learning.start()
        busy = _times(client, queries, lambda _: learning.is_alive())
    return {
        "rest_p50": median(rest),
        "rest_p99": percentile(rest, 0.99),
        "learning_p50": median(busy),
        "learning_p99": percentile(busy, 0.99),
        "learning_max": max(busy),
        "searches_meanwhile": len(busy),
    }


def _times(client: Client, queries: Sequence[str], goes_on: Callable[[list[float]], bool]) -> list[float]:
    times: list[float] = []
    while goes_on(times):
        began = perf_counter()
        client.call_raw("search", {"query": queries[len(times) % len(queries)]})
        times.append((perf_counter() - began) * MS)
    return times


def _learn(root: Path, folder: Path) -> None:
    with Client(root) as client:
        client.learn(folder)


def memory(root: Path, queries: Sequence[str], searches: int, learns: int) -> dict[str, float]:
    """Megabytes that the daemon holds beside mapped files: when it has answered once, half way, and at the end."""
    found = {}
    with Client(root) as client:
        client.call_raw("search", {"query": queries[0]})
        found["memory_begin"] = _anonymous_mb(client.daemon_pid)
        for half in ("half", "end"):
            for number in range(searches // 2):
                client.call_raw("search", {"query": queries[number % len(queries)]})
            for number in range(learns // 2):
                new = section(FRESH + 1_000_000 + number + (learns if half == "end" else 0))
                client.learn(content=new.body, title=new.title)
            found[f"memory_{half}"] = _anonymous_mb(client.daemon_pid)
    return found


def _anonymous_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024 / 1e6


def connections(root: Path, count: int) -> dict[str, float]:
    """Kilobytes that an idle connection costs the daemon, and threads that so many of them add."""
    with Client(root) as first:
        daemon = psutil.Process(first.daemon_pid)
        for _ in range(50):
            first.call_raw("ping")
        before, threads = _anonymous_mb(daemon.pid), daemon.num_threads()
        idle = [Client(root) for _ in range(count)]
        for client in idle:
            client.call_raw("ping")
        cost = (_anonymous_mb(daemon.pid) - before) * 1000 / count
        more = daemon.num_threads() - threads
        for client in idle:
            client.close()
    return {"connection_kb": cost, "threads_added": more}
