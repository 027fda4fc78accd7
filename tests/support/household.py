"""The commands of one test and the daemons they start: real processes, none of which outlives it.

A daemon detaches from the command that starts it, and its parent is then whoever takes in orphans. Within a
``Household`` that is this process, so that each of them is known here, whatever became of its files.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from daemons import wait_for

PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command gave."""

    code: int
    out: str
    errors: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Household:
    """Runs commands on one database, by its daemon.

    Attributes:
        root: the ``.kbdb`` folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._own: list[subprocess.Popen[str]] = []

    def start(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = ("-m", "kbdb"),
        before: Callable[[], None] | None = None,
    ) -> subprocess.Popen[str]:
        """Starts ``kbdb WORDS…``.

        Args:
            words: the command.
            env: to add to the environment.
            program: what Python runs in the place of kbdb.
            before: called in the new process.
        """
        environment = {name: value for name, value in os.environ.items() if name != "KBDB_DAEMON"}
        process = subprocess.Popen(
            [sys.executable, *program, *words],
            env=environment | {"KBDB_DB": str(self.root)} | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            preexec_fn=before,
        )
        self._own.append(process)
        return process

    def end(self, process: subprocess.Popen[str]) -> Ran:
        """Waits for a command."""
        out, errors = process.communicate()
        return Ran(process.returncode, out, errors)

    def run(self, *words: str, **how: Any) -> Ran:
        """Runs a command to its end."""
        return self.end(self.start(*words, **how))

    def tell(self, *words: str, **how: Any) -> Any:
        """The JSON of a command that succeeds."""
        ran = self.run(*words, "--json", **how)
        assert ran.code == 0, ran
        return ran.json

    def found(self, words: str) -> int:
        """How many sections a search finds."""
        ran = self.run("search", words, "--json")
        assert ran.code in (0, 3), ran
        return int(ran.json["total"])

    def owner(self) -> int:
        """The pid in the owner's lock; 0 while one is about to be written."""
        return int((self.root / "lock").read_text() or 0)

    def orphans(self) -> list[int]:
        """The processes that live on without the command that started them: daemons, and what daemons left."""
        found = []
        for pid in children(os.getpid()):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                if os.getsid(pid) == os.getsid(0):
                    continue
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG) is None:
                    found.append(pid)
        return found

    def stop(self) -> None:
        """Ends the daemon well."""
        self.run("daemon", "stop")
        wait_for(lambda: not self.orphans())

    def kill_all(self) -> None:
        """Ends whatever is left of this household."""
        for process in self._own:
            process.kill()
            process.communicate()
        wait_for(lambda: not self._kill_orphans())

    def _kill_orphans(self) -> list[int]:
        pids = self.orphans()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return pids


@contextmanager
def household(root: Path) -> Iterator[Household]:
    """A household that is cleared away in the end."""
    if sys.platform != "linux":
        pytest.skip("needs a system where a process can take in orphans")
    _take_in_orphans(True)
    made = Household(root)
    try:
        yield made
    finally:
        made.kill_all()
        _take_in_orphans(False)


def children(parent: int) -> list[int]:
    """The children of a process, those that ended and were not waited for included."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            _, ppid = path.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if int(ppid) == parent:
                found.append(int(path.parent.name))
    return found


def _take_in_orphans(wants: bool) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(wants), 0, 0, 0)
