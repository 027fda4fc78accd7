"""Many ``kbdb learn`` at once on one empty database: the stress test that ``python -m bench.stress`` runs by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from daemons import wait_for
from household import household

from bench.stress import stress


@pytest.mark.parametrize("engine", ["c", "reference"])
@pytest.mark.parametrize(
    "learners", [10, pytest.param(30, marks=pytest.mark.long), pytest.param(50, marks=pytest.mark.long)]
)
def test_so_many_learners_at_once_lose_nothing_and_meet_one_daemon(runtime: Path, learners: int, engine: str) -> None:
    folder = runtime / "stress"
    folder.mkdir()
    with household(folder / ".kbdb") as home:
        outcome = stress(folder, learners, {} if engine == "c" else {"KBDB_ENGINE": engine})
        assert not outcome.faults()
        assert outcome.engine == engine
        wait_for(lambda: not home.orphans())
