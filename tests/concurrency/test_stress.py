"""Many ``kbdb learn`` at once on one empty database: the stress test that ``python -m bench.stress`` runs by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from daemons import wait_for
from household import household

from bench.stress import recovery, recovery_words, stress


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


def test_the_time_to_recover_from_a_kill_is_measured_and_set_beside_its_bar(runtime: Path) -> None:
    folder = runtime / "killed"
    folder.mkdir()
    took = recovery(folder, 2, clients=1)
    assert len(took) == 2
    assert recovery_words([0.5, *took]).startswith("next command after 3 kills under load: half within ")
    assert recovery_words([0.1, 1.5]).endswith("all within 1.50 s; has to be ≤ 2 s: passes")
    assert recovery_words([0.1, 2.5]).endswith("missed")
