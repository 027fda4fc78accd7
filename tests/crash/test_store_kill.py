"""The store's process dies at every fault point, and at random moments."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.crash import harness, history
from tests.crash.quick import without_syncs

ENDLESS = Path(__file__).with_name("endless.py")


def test_killed_anywhere_the_store_opens_at_what_was_acknowledged(tmp_path: Path) -> None:
    known = history.states(tmp_path / "known")

    def check(folder: Path, run: harness.Run) -> None:
        history.check_left_over(folder / ".kbdb", known, len(run.acknowledged))

    with without_syncs(), harness.forked("tests.crash.history:main") as command:
        assert harness.crash_everywhere(command, check, tmp_path / "runs") > 60


@pytest.mark.long
def test_killed_at_random_moments_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    def check(folder: Path, run: harness.Run) -> None:
        root = folder / ".kbdb"
        store = history.open_or_make(root)
        stored = {store.read_section(kbid).title for kbid in store.section_ids()}
        assert set(run.acknowledged) <= stored
        assert len(stored) <= len(run.acknowledged) + 1
        store.checkpoint()
        assert {store.read_section(kbid).title for kbid in store.section_ids()} == stored
        store.close()

    def argv(folder: Path) -> list[str]:
        return [sys.executable, str(ENDLESS), str(folder)]

    harness.crash_at_random_moments(argv, check, tmp_path, moments=200, within_s=0.6, seed=2)
