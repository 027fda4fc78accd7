"""daemon: what its commands tell of a daemon that runs, hangs, comes or goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_fixtures import root, runtime
from household import Household, household

import kbdb
from kbdb import platform

__all__ = ["root", "runtime"]


@pytest.fixture
def home(root: Path) -> Iterator[Household]:
    """An empty database, and commands that go through its daemon."""
    kbdb.init(root).close()
    with household(root) as made:
        yield made


def test_logs_are_found_from_another_runtime_folder(home: Household, runtime: Path) -> None:
    home.tell("daemon", "start")
    elsewhere = runtime / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    told = home.tell("daemon", "logs", env={"XDG_RUNTIME_DIR": str(elsewhere)})
    assert told["path"] == str(runtime / platform.log_name(platform.context_id(home.root)))
    assert any(" serves " in line for line in told["lines"])
    home.stop()


def test_logs_go_on_in_what_was_rotated_away(home: Household, runtime: Path) -> None:
    name = platform.log_name(platform.context_id(home.root))
    (runtime / f"{name}.2").write_text("0\n1\n")
    (runtime / f"{name}.1").write_text("2\n3\n")
    (runtime / name).write_text("4\n")
    assert home.tell("daemon", "logs", "--lines", "1")["lines"] == ["4"]
    assert home.tell("daemon", "logs", "--lines", "2")["lines"] == ["3", "4"]
    assert home.tell("daemon", "logs", "--lines", "9")["lines"] == ["0", "1", "2", "3", "4"]
