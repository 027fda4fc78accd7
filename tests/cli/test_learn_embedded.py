"""learn --wait-embeddings, and what status tells of sections that wait for a vector."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_fixtures import root, runtime
from daemons import wait_for
from household import Household, household
from meanings import MeaningService

import kbdb

__all__ = ["root", "runtime"]


@pytest.fixture
def home(root: Path, service: MeaningService) -> Iterator[Household]:
    """An empty database that asks the service, and commands that go through its daemon."""
    kbdb.init(root).close()
    service.configure(root.parent)
    with household(root) as made:
        yield made


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "my notes.md"
    path.write_text("# Storage\n\nWe chose Postgres.\n\n# Picnic\n\nTake an umbrella.\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("daemon", ["on", "off"])
def test_learn_waits_for_vectors_where_it_is_asked_to(home: Household, notes: Path, daemon: str) -> None:
    env = {"KBDB_DAEMON": daemon}
    assert home.tell("learn", str(notes), "--wait-embeddings", env=env)["vector_embedding_failed"] is False
    assert home.tell("status", env=env)["embedding"]["vectors"] == 2
    home.stop()


def test_status_tells_how_many_wait(home: Household, notes: Path, service: MeaningService) -> None:
    service.held.clear()
    assert home.tell("learn", str(notes))["vector_embedding_failed"] is None
    wait_for(lambda: service.asked > 0)
    assert home.tell("status")["embedding"]["waiting"] == 2
    assert "api, meanings, 0 embedded, 2 waiting" in home.run("status").out
    assert "2 sections to embed" in home.run("daemon", "status").out
    service.held.set()
    wait_for(lambda: "to embed" not in home.run("daemon", "status").out)
    assert "api, meanings, 2 embedded\n" in home.run("status").out
    home.stop()


def test_ctrl_c_ends_the_wait_and_what_was_learned_stays(home: Household, notes: Path, service: MeaningService) -> None:
    service.held.clear()
    learning = home.start("learn", str(notes), "--wait-embeddings", "--json")
    wait_for(lambda: service.asked > 0)
    learning.send_signal(signal.SIGINT)
    ended = home.end(learning)
    assert (ended.code, ended.json["vector_embedding_failed"], ended.json["sections_added"]) == (130, None, 2)
    assert home.found("umbrella") == 1
    service.held.set()
    home.stop()
