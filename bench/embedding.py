"""Measures embedding in the daemon beside onnxruntime alone, the daemon's memory, and searches meanwhile.

    python -m bench.embedding TEXTS.jsonl --sections 1000

TEXTS has an object with ``title`` and ``text`` on each line, as the shared collections do. Needs the extra ``minilm``,
and Linux. Others may use the machine: CPU is compared, of both at the same time, for what a text takes depends on what
else runs. The median of the rounds counts. Exit code 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from statistics import median
from threading import Event, Thread

import psutil

import kbdb
from bench.speed.latency import percentile
from kbdb.client import Client
from kbdb.client.stop import stop
from kbdb.embed import models
from kbdb.embed.api import BATCH
from kbdb.ingest.body import body_of
from kbdb.platform import usable_cores

SETTINGS = '[embedding]\nprovider = "onnx"\n'
LEAST_RATIO, MOST_MB = 0.9, 350.0
WARM_UP = 8
POLL_S = 1.0
SEARCH_PAUSE_S = 0.02
SEARCHED = 200
"""Sections that are embedded while somebody searches."""

QUERIES = ("wing lift", "heat transfer", "boundary layer of a plate", "supersonic flow", "shell buckling", "gas")


@dataclass(frozen=True, slots=True)
class Run:
    """What embedding some texts took.

    Attributes:
        texts: how many.
        cpu_s, wall_s: seconds.
        peak_mb: the most memory that the process ever had.
    """

    texts: int
    cpu_s: float
    wall_s: float
    peak_mb: float

    @property
    def per_cpu_s(self) -> float:
        """Texts in a second of CPU."""
        return self.texts / self.cpu_s

    def __str__(self) -> str:
        rates = f"{self.per_cpu_s:.1f} texts per second of CPU, {self.texts / self.wall_s:.1f} per second"
        return f"{rates}, {self.peak_mb:.0f} MB at most"


def main(arguments: list[str]) -> int:
    """Measures and prints; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.embedding", description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--sections", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parsed = parser.parse_args(arguments)
    if parsed.alone:
        print(json.dumps(_onnxruntime_alone(json.loads(parsed.texts.read_text(encoding="utf-8")))))
        return 0
    os.environ.pop("KBDB_DAEMON", None)
    ratios, peaks = [], []
    with tempfile.TemporaryDirectory(prefix="kb") as folder:
        work = Path(folder)
        os.environ["XDG_RUNTIME_DIR"] = folder
        source = work / "texts.md"
        source.write_text("\n\n".join(_facts(parsed.texts, parsed.sections)), encoding="utf-8")
        for number in range(parsed.rounds):
            served, alone = _both(work, work / f"round {number}", source)
            ratios.append(served.per_cpu_s / alone.per_cpu_s)
            peaks.append(served.peak_mb)
            print(f"round {number + 1}: daemon {served}\n         alone {alone}", flush=True)
        home = work / "searched"
        source.write_text("\n\n".join(_facts(parsed.texts, min(SEARCHED, parsed.sections))), encoding="utf-8")
        _learned(home, source)
        busy, quiet = _searches(home)
    ratio, peak = median(ratios), max(peaks)
    print(f"texts per second of CPU, of onnxruntime alone: {ratio:.3f} (≥ {LEAST_RATIO})")
    print(f"the daemon's memory at most: {peak:.0f} MB (≤ {MOST_MB:g})")
    for name, times in (("while it embeds", busy), ("at rest", quiet)):
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        print(f"a search by words {name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, of {len(times)}")
    return int(ratio < LEAST_RATIO or peak > MOST_MB)


def _facts(path: Path, count: int) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        given = [json.loads(line) for line in lines]
    if len(given) < count:
        raise SystemExit(f"{path} has {len(given)} texts, fewer than {count}")
    return [f"# {' '.join(one['title'].split()) or 'untitled'}\n\n{one['text']}" for one in given[:count]]


def _learned(home: Path, source: Path) -> list[str]:
    """Makes a database that learned a file, and has nothing embedded; the texts in the order they will be."""
    home.mkdir()
    with kbdb.init(home) as kb:
        views = kb.read_sections(sorted(kb.learn([source]).kbids)).sections
        texts = [f"{view.title}\n{body_of(view.content.decode(), view.title, view.type)}" for view in views]
    (home / ".kbdb" / "worker.toml").write_text(SETTINGS, encoding="utf-8")
    return texts


def _both(work: Path, home: Path, source: Path) -> tuple[Run, Run]:
    """What all but the first batches take a daemon, and the same texts onnxruntime alone meanwhile."""
    given = work / "texts.json"
    given.write_text(json.dumps(_learned(home, source)), encoding="utf-8")
    command = [sys.executable, "-m", "bench.embedding", str(given), "--alone"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdout.readline()
        with Client(home) as client:
            total = client.status().embedding.waiting
            process = psutil.Process(client.daemon_pid)
            while (begun := _waiting(client)) > total - BATCH:
                time.sleep(POLL_S)
            cpu_s, began = _cpu_s(process), time.perf_counter()
            print(begun, file=other.stdin, flush=True)
            while _waiting(client):
                time.sleep(POLL_S)
            served = Run(begun, _cpu_s(process) - cpu_s, time.perf_counter() - began, _peak_mb(process.pid))
        other.stdin.close()
        alone = Run(**json.loads(other.stdout.readline()))
    stop(home / ".kbdb")
    return served, alone


def _onnxruntime_alone(texts: Sequence[str]) -> dict[str, float]:
    """The last of the texts, as many as standard input says, over and over until it ends."""
    import numpy as np
    import onnxruntime
    from tokenizers import BertWordPieceTokenizer

    known = models.KNOWN["all-MiniLM-L6-v2"]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, min(4, usable_cores() // 2))
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    package = find_spec(known.package)
    assert package is not None
    assert package.submodule_search_locations is not None
    model = Path(package.submodule_search_locations[0]) / models.MODEL_FILE
    session = onnxruntime.InferenceSession(str(model), options)
    tokenizer = BertWordPieceTokenizer(str(known.vocabulary), lowercase=True)
    tokenizer.enable_truncation(models.MAX_TOKENS)
    names = {given.name for given in session.get_inputs()}

    def run(text: str) -> None:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        session.run(None, {name: given[name] for name in names})

    for text in texts[:WARM_UP]:
        run(text)
    print("ready", flush=True)
    last = int(sys.stdin.readline())
    ended = Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set()

    Thread(target=wait_for_end, daemon=True).start()
    done, cpu_s, began = 0, time.process_time(), time.perf_counter()
    for text in cycle(texts[-last:]):
        if ended.is_set():
            break
        run(text)
        done += 1
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - began
    return {"texts": done, "cpu_s": cpu_s, "wall_s": wall_s, "peak_mb": _peak_mb(os.getpid())}


def _searches(home: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of searches while the daemon embeds, and of as many when it is done."""
    with Client(home) as client:
        total = client.status().embedding.waiting
        while _waiting(client) > total - BATCH:
            time.sleep(POLL_S)
        busy: list[float] = []
        while _waiting(client):
            busy += _timed(client, 10)
        quiet = _timed(client, len(busy))
    stop(home / ".kbdb")
    return busy, quiet


def _timed(client: Client, count: int) -> list[float]:
    times = []
    for number in range(count):
        began = time.perf_counter()
        client.search(QUERIES[number % len(QUERIES)])
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(SEARCH_PAUSE_S)
    return times


def _waiting(client: Client) -> int:
    return client.status().embedding.waiting


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
