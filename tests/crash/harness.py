"""Runs a command again and again, killed at another fault point each time; the caller checks what is left.

A command is a function of this module that runs kbdb code in another process (``forked``, ``script``). Its standard
output is what it acknowledged: a line counts once it has been written. Used for the store here and for the ``kbdb``
commands as a whole.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ZYGOTE = Path(__file__).with_name("zygote.py")


@dataclass(frozen=True, slots=True)
class Run:
    """A command that ended. ``acknowledged`` are the whole lines of its output; ``fault`` is what was armed."""

    returncode: int
    acknowledged: tuple[str, ...]
    stderr: str
    fault: str = ""

    @property
    def was_killed(self) -> bool:
        return self.returncode in (-signal.SIGKILL, 137)


class Command(Protocol):
    """Runs kbdb code on a folder to its end, with a fault armed or its fault points logged."""

    def __call__(self, folder: Path, *, fault: str = "", log: Path | None = None) -> Run: ...


Check = Callable[[Path, Run], None]
Prepare = Callable[[Path], None]


@contextmanager
def forked(target: str) -> Iterator[Command]:
    """A command that calls a Python function with the folder's path, in a process forked for each run.

    Args:
        target: ``module:function``; the module is imported once, in a process of its own.
    """
    zygote = subprocess.Popen(
        [sys.executable, str(ZYGOTE), target],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment("", None),
        text=True,
    )
    assert zygote.stdin is not None
    assert zygote.stdout is not None
    orders, answers = zygote.stdin, zygote.stdout

    def command(folder: Path, *, fault: str = "", log: Path | None = None) -> Run:
        with tempfile.TemporaryDirectory() as place:
            output, errors = Path(place, "output"), Path(place, "errors")
            order = {"folder": str(folder), "fault": fault, "log": str(log or ""), "output": str(output)}
            print(json.dumps(order | {"errors": str(errors)}), file=orders, flush=True)
            code = int(answers.readline())
            return Run(code, _lines(output.read_bytes()), errors.read_text("utf-8", "replace"), fault)

    with zygote:
        yield command
        orders.close()


def script(argv_for: Callable[[Path], Sequence[str]]) -> Command:
    """A command that runs an argv, which may depend on the folder, as a process of its own."""

    def command(folder: Path, *, fault: str = "", log: Path | None = None) -> Run:
        done = subprocess.run(argv_for(folder), env=_environment(fault, log), capture_output=True, check=False)
        return Run(done.returncode, _lines(done.stdout), done.stderr.decode("utf-8", "replace"), fault)

    return command


def passages(command: Command, folder: Path, log: Path) -> list[str]:
    """Every passage of a fault point in a run without faults, as ``name:nth``, in the order of the run."""
    done = command(folder, log=log)
    assert done.returncode == 0, done.stderr
    seen: Counter[str] = Counter()
    found = []
    for name in log.read_text(encoding="utf-8").splitlines():
        seen[name] += 1
        found.append(f"{name}:{seen[name]}")
    return found


def everything(found: list[str]) -> list[str]:
    """All passages."""
    return found


def one_of_each(found: list[str]) -> list[str]:
    """The first or, every other time, the last passage of each point: for a run that must not take long."""
    of_point: dict[str, list[str]] = {}
    for passage in found:
        of_point.setdefault(passage.rpartition(":")[0], []).append(passage)
    return [same[0 if place % 2 else -1] for place, same in enumerate(of_point.values())]


def crash_everywhere(
    command: Command,
    check: Check,
    folder: Path,
    *,
    prepare: Prepare | None = None,
    sample: Callable[[list[str]], list[str]] = everything,
) -> int:
    """Kills a command at every passage of every fault point, each time on a fresh folder.

    Args:
        command: what to run.
        check: called with the folder and the run that was killed; asserts what must hold.
        folder: where to work; each run's folder is removed after its check.
        prepare: brings an empty folder to the state the command starts from; done once and copied.
        sample: chooses among the passages.

    Returns:
        How many passages were tried.
    """
    start = folder / "start"
    start.mkdir(parents=True)
    if prepare is not None:
        prepare(start)
    found = sample(passages(command, _copy(start, folder / "recorded"), folder / "points.log"))
    for passage in found:
        # Always the same place: a database knows its folder.
        place = _copy(start, folder / "run")
        done = command(place, fault=f"{passage}=kill")
        assert done.was_killed, f"{passage} was not reached again: {done}"
        try:
            check(place, done)
        except BaseException as error:
            error.add_note(f"after a kill at {passage}, with {len(done.acknowledged)} lines acknowledged")
            raise
        shutil.rmtree(place)
    return len(found)


def crash_at_random_moments(
    argv_for: Callable[[Path], Sequence[str]], check: Check, folder: Path, *, moments: int, within_s: float, seed: int
) -> None:
    """Kills a process with ``kill -9`` after random times.

    Args:
        argv_for: argv to run on the folder it is given; it should run for longer than ``within_s``.
        check: called with the folder and the run that was killed.
        folder: where to work.
        moments: how many runs.
        within_s: the longest time before the kill, in seconds.
        seed: of the times.
    """
    times = random.Random(seed)
    for number in range(moments):
        place, output = folder / f"moment-{number}", folder / f"moment-{number}.out"
        place.mkdir(parents=True)
        with output.open("wb") as file:
            argv, environment = argv_for(place), _environment("", None)
            child = subprocess.Popen(argv, env=environment, stdout=file, stderr=subprocess.DEVNULL)
            time.sleep(times.uniform(0.0, within_s))
            child.kill()
            code = child.wait()
        check(place, Run(code, _lines(output.read_bytes()), ""))
        shutil.rmtree(place)


def _environment(fault: str, log: Path | None) -> dict[str, str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("KBDB_FAULT", "KBDB_FAULT_LOG")}
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    if fault:
        environment["KBDB_FAULT"] = fault
    if log is not None:
        environment["KBDB_FAULT_LOG"] = str(log)
    return environment


def _lines(output: bytes) -> tuple[str, ...]:
    whole = output[: output.rfind(b"\n") + 1]
    return tuple(whole.decode("utf-8", "replace").splitlines())


def _copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, symlinks=True)
    return target
