"""The stress test of concurrent writers: many ``kbdb learn`` at once on one empty database, and one daemon for all.

python -m bench.stress [--learners 10,30,50] [--rounds 3] [--kills 20]

Exit code 1 where a learner failed, ``kbdb check`` found a fault, a section is missing, double or damaged, or more than
one daemon served. After that the daemon is killed again and again while clients write and search, and it is printed how
long the next command takes, beside what it may: on a busy machine that is no verdict.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import kbdb
from kbdb.client.address import owner


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one round.

    Attributes:
        learners: how many commands ran at once.
        failed: what the ones said that did not exit with 0.
        check: the answer of ``kbdb check``.
        sections: by ``kbdb status``, and as section files; ``expected``: as the documents have.
        damaged: section files whose content is not what their checksum says.
        daemons: how many served.
        engine: by ``kbdb status``.
        seconds: from the first start to the last exit.
    """

    learners: int
    failed: tuple[str, ...]
    check: dict[str, object]
    sections: tuple[int, int]
    expected: int
    damaged: tuple[str, ...]
    daemons: int
    engine: str
    seconds: float

    def faults(self) -> list[str]:
        """What is wrong; nothing when the test is passed."""
        found = [f"a learner failed: {told}" for told in self.failed]
        if self.check.get("ok") is not True:
            found.append(f"check: {self.check}")
        if self.sections != (self.expected, self.expected):
            found.append(f"{self.sections[0]} sections, {self.sections[1]} files in the place of {self.expected}")
        found += [f"checksum mismatch: {path}" for path in self.damaged]
        if self.daemons != 1:
            found.append(f"{self.daemons} daemons served")
        return found


def stress(folder: Path, learners: int, environment: dict[str, str] | None = None) -> Outcome:
    """One round.

    Args:
        folder: an empty folder with a short path, for the database, the documents and the daemon's files.
        learners: how many commands to run at once.
        environment: of the commands, beside what this process has.
    """
    sources, runtime = folder / "sources", folder / "run"
    sources.mkdir()
    runtime.mkdir(mode=0o700)
    root = folder / ".kbdb"
    kbdb.init(root).close()
    documents = [_write_document(sources, number) for number in range(learners)]
    own = {"KBDB_DB": str(root), "KBDB_DAEMON": "on", "XDG_RUNTIME_DIR": str(runtime)}
    env = os.environ | own | (environment or {})
    try:
        began = time.monotonic()
        running = [_start(env, "learn", str(path)) for path, _ in documents]
        failed = tuple(told for process in running if (told := _failure(process)))
        seconds = time.monotonic() - began
        check = json.loads(_out(_start(env, "check", "--json")))
        status = json.loads(_out(_start(env, "status", "--json")))
    finally:
        _out(_start(env, "daemon", "stop"))
    files = sorted((root / "sections").rglob("*.sec"))
    served = sum(log.read_text().count(f" INFO serves {root}") for log in runtime.glob("*.log"))
    return Outcome(
        learners,
        failed,
        check,
        (status["sections"], len(files)),
        sum(sections for _, sections in documents),
        tuple(path.name for path in files if not _is_whole(path)),
        served,
        status["engine"]["implementation"],
        seconds,
    )


RECOVERY_BAR_S = 2.0
"""How long the first command after a kill of the daemon may take."""

LOAD = """
import os, sys
from kbdb.client import Client
from kbdb.errors import DaemonLostError, DaemonStartError
turn, parent = 0, os.getppid()
while os.getppid() == parent:
    try:
        with Client(sys.argv[1]) as client:
            while os.getppid() == parent:
                turn += 1
                client.learn(content=f"client {sys.argv[2]} wrote sentence {turn}", title=f"Note {sys.argv[2]} {turn}")
                client.search("client wrote a sentence")
    except (DaemonLostError, DaemonStartError):
        pass
"""


def recovery(folder: Path, kills: int, clients: int = 4) -> list[float]:
    """How long the first command took after each ``kill -9`` of a daemon under load, its start included, in seconds.

    Args:
        folder: as for ``stress``.
        kills: how often.
        clients: processes that learn and search meanwhile.
    """
    runtime, root = folder / "run", folder / ".kbdb"
    runtime.mkdir(mode=0o700)
    kbdb.init(root).close()
    env = os.environ | {"KBDB_DB": str(root), "KBDB_DAEMON": "on", "XDG_RUNTIME_DIR": str(runtime)}
    chance, took = random.Random(kills), []
    load = [subprocess.Popen([sys.executable, "-c", LOAD, str(root), str(one)], env=env) for one in range(clients)]
    try:
        for _ in range(kills):
            time.sleep(chance.uniform(0.5, 1.5))
            while not _kill_daemon(root):
                time.sleep(0.01)
            began = time.monotonic()
            if told := _failure(_start(env, "status", "--json")):
                raise RuntimeError(f"the command after a kill failed: {told}")
            took.append(time.monotonic() - began)
    finally:
        for process in load:
            process.kill()
            process.wait()
        _out(_start(env, "daemon", "stop"))
    return took


def _kill_daemon(root: Path) -> bool:
    found = owner(root)
    if found is None or not found.is_daemon or not found.pid:
        return False
    os.kill(found.pid, signal.SIGKILL)
    return True


def recovery_words(took: Sequence[float]) -> str:
    """The figure and its bar."""
    ordered = sorted(took)
    marks = f"half within {ordered[len(ordered) // 2]:.2f} s, all within {ordered[-1]:.2f} s"
    verdict = "passes" if ordered[-1] <= RECOVERY_BAR_S else "missed"
    return f"next command after {len(ordered)} kills under load: {marks}; has to be ≤ {RECOVERY_BAR_S:g} s: {verdict}"


def _write_document(folder: Path, number: int) -> tuple[Path, int]:
    """A document like no other, and how many sections it has."""
    parts = 2 + number % 4
    text = f"# Document {number}\n\nThe opening of document {number}.\n"
    for part in range(parts):
        words = " ".join(f"word{number}x{part}x{place}" for place in range(60))
        text += f"\n## Part {part} of document {number}\n\n{words}.\n"
    path = folder / f"document-{number}.md"
    path.write_text(text, encoding="utf-8")
    return path, 1 + parts


def _start(env: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kbdb", *words],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def _failure(process: subprocess.Popen[str]) -> str:
    """What a command said that failed; empty for one that did not."""
    out, errors = process.communicate()
    return f"exit code {process.returncode}: {errors or out}" if process.returncode else ""


def _out(process: subprocess.Popen[str]) -> str:
    return process.communicate()[0]


def _is_whole(path: Path) -> bool:
    """Whether a section file's content has the checksum in its header; read without kbdb's own code."""
    _, header, content = path.read_bytes().split(b"+++\n", 2)
    return hashlib.sha256(content).hexdigest().encode() in header


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the rounds, and prints a line for each."""
    parser = argparse.ArgumentParser(prog="python -m bench.stress", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--learners", default="10,30,50", help="how many at once, one run after another")
    parser.add_argument("--rounds", type=int, default=3, help="how often each of them")
    parser.add_argument("--kills", type=int, default=20, help="how often the daemon is killed under load; 0 for never")
    given = parser.parse_args(arguments)
    wrong = 0
    for learners in map(int, given.learners.split(",")):
        for _ in range(given.rounds):
            with tempfile.TemporaryDirectory(prefix="kb") as folder:
                outcome = stress(Path(folder), learners)
            faults = outcome.faults()
            wrong += bool(faults)
            verdict = "; ".join(faults) or "passes"
            print(
                f"{learners} learners, {outcome.sections[0]} sections, {outcome.seconds:.1f} s: {verdict}", flush=True
            )
    if given.kills:
        with tempfile.TemporaryDirectory(prefix="kb") as folder:
            print(recovery_words(recovery(Path(folder), given.kills)), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
