"""Actors that work on one database together, and the verdict on what they did."""

from __future__ import annotations

import subprocess
from pathlib import Path

from household import Household

from kbdb.client import Client
from tests.concurrency import history

CHECKOUT = Path(__file__).parent.parent.parent

ROLES = {"revise": 2, "forget": 1, "learn": 1, "watch": 2, "browse": 1, "tidy": 1}
"""How many there are of each."""


class Crew:
    """Actors at work.

    Args:
        home: whose database they work on.
        folder: for what they write down.
    """

    def __init__(self, home: Household, folder: Path) -> None:
        self._home = home
        self._stop = folder / "stop"
        names = [f"{role}{number}" for role, count in ROLES.items() for number in range(count)]
        self._histories = {name: folder / f"{name}.jsonl" for name in names}
        self._actors = {name: self._start(name) for name in names}

    def _start(self, name: str) -> subprocess.Popen[str]:
        words = (name.rstrip("0123456789"), name, self._home.root, self._histories[name], self._stop)
        return self._home.start(
            *map(str, words), program=("-m", "tests.concurrency.actor"), env={"PYTHONPATH": str(CHECKOUT)}
        )

    def are_at_work(self) -> bool:
        """Whether each that writes down something has; fails where one has ended."""
        ended = [self._home.end(actor) for actor in self._actors.values() if actor.poll() is not None]
        assert not ended, ended
        writing = [path for name, path in self._histories.items() if name.startswith(("revise", "forget", "watch"))]
        return all(path.exists() and path.stat().st_size for path in writing)

    def finish(self, *, may_lose: bool = False) -> int:
        """Stops all, asserts that all went well, and that everything acknowledged is there.

        Args:
            may_lose: whether calls may have ended with their daemon.

        Returns:
            How many calls were written down.
        """
        self._stop.touch()
        told = {name: self._home.end(actor) for name, actor in self._actors.items()}
        assert not [ran for ran in told.values() if ran.code], [ran.errors for ran in told.values() if ran.code]
        assert may_lose or not (lost := [ran.errors for ran in told.values() if ran.errors]), lost
        calls = [history.load(path) for path in self._histories.values() if path.exists()]
        assert not history.faults(calls)
        with Client(self._home.root) as client:
            for fact in told["learn0"].out.split():
                assert client.search(f'"{fact}"').total == 1, fact
            assert client.check().ok
        return sum(map(len, calls))
