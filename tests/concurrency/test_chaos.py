"""The end of the daemon, again and again, under load: by ``kill -9``, and as it should end."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path

import pytest
from daemons import is_alive, wait_for
from household import Household, children

from kbdb import platform
from kbdb.client.address import read_address
from tests.concurrency.crew import Crew


@pytest.mark.parametrize("rounds", [5, pytest.param(100, marks=pytest.mark.long)])
def test_a_daemon_killed_at_any_moment_loses_nothing_and_keeps_nobody_out(
    home: Household, runtime: Path, tmp_path: Path, rounds: int
) -> None:
    chance = random.Random(rounds)
    crew = Crew(home, tmp_path)
    wait_for(crew.are_at_work)
    took = []
    for _ in range(rounds):
        time.sleep(chance.uniform(0, 1))
        killed = _kill_owner(home)
        if chance.random() < 0.3:
            # The next one, too, while it starts.
            wait_for(lambda killed=killed: home.owner() not in (0, killed))
            time.sleep(chance.uniform(0, 0.3))
            killed = _kill_owner(home)
        began = time.monotonic()
        assert home.run("list", "--json").code in (0, 3)
        took.append(time.monotonic() - began)
        assert home.owner() != killed
    assert crew.are_at_work()
    crew.finish(may_lose=True)
    home.stop()
    assert {path.suffix for path in runtime.iterdir()} <= {".log", ".lock"}
    assert not [path for path in (*runtime.iterdir(), home.root / "lock") if platform.is_locked(path)]
    print(_told(took))


@pytest.mark.parametrize("rounds", [5, pytest.param(50, marks=pytest.mark.long)])
def test_a_daemon_that_is_stopped_at_any_moment_loses_no_call_at_all(
    home: Household, runtime: Path, tmp_path: Path, rounds: int
) -> None:
    chance = random.Random(rounds)
    crew = Crew(home, tmp_path)
    wait_for(crew.are_at_work)
    for turn in range(rounds):
        time.sleep(chance.uniform(0, 1))
        if turn % 2:
            wait_for(lambda: _terminate(home))
        else:
            home.run("daemon", "stop")
    wait_for(crew.are_at_work)
    crew.finish()
    home.stop()
    assert [log.name for log in runtime.glob("*.log") if "Traceback" in log.read_text()] == []


def _terminate(home: Household) -> bool:
    """Asks the daemon by a signal to end, where one listens."""
    at = read_address(home.root)
    if not at or not at.address or not is_alive(at.pid):
        return False
    os.kill(at.pid, signal.SIGTERM)
    return True


def _kill_owner(home: Household) -> int:
    """Kills the daemon; what parses for it ends by itself."""
    owner = home.owner()
    ends = {owner, *children(owner)}
    with contextlib.suppress(ProcessLookupError):
        os.kill(owner, signal.SIGKILL)
    wait_for(lambda: not any(map(is_alive, ends)))
    return owner


def _told(took: list[float]) -> str:
    """How long the first command after each kill took, its own start included."""
    took = sorted(took)
    marks = {"least": 0.0, "half of them": 0.5, "9 of 10": 0.9, "99 of 100": 0.99, "most": 1.0}
    told = ", ".join(f"{name} {took[min(int(len(took) * part), len(took) - 1)]:.2f} s" for name, part in marks.items())
    return f"next command after {len(took)} kills: {told}"
