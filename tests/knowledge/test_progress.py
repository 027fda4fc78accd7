"""Long runs tell how far they are, and one that is ended early leaves everything as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kbdb
from kbdb import progress
from kbdb.errors import InterruptedByUserError
from kbdb.knowledge import KnowledgeBase
from kbdb.progress import Progress, Report

NOTES = 7

Run = Callable[[KnowledgeBase, Path, Report], object]
RUNS: dict[str, Run] = {
    "check": lambda kb, _, report: kb.check(report),
    "gc": lambda kb, _, report: kb.gc(keep_days=0, progress=report),
    "rebuild": lambda kb, _, report: kb.rebuild(report),
    "export": lambda kb, place, report: kb.export(place / "out", report),
    "import": lambda kb, place, report: kb.import_(place / "export", report),
}


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """A database with garbage in it, and an export of another one beside it; each step is told."""
    monkeypatch.setattr(progress, "TOLD_EACH", 1)
    with kbdb.init(tmp_path / "other") as other:
        for number in range(NOTES):
            other.learn(content=f"elsewhere {number}", title=f"Elsewhere {number}")
        other.export(tmp_path / "export")
    kb = kbdb.init(tmp_path / "own")
    for number in range(NOTES):
        kb.learn(content=f"fact {number}", title=f"Fact {number}", docid=f"fact-{number}")
    kb.learn(content="another fact 0", title="Fact 0", docid="fact-0", replace=True)
    return kb


def files(place: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", RUNS)
def test_steps_are_told_up_to_the_last(kb: KnowledgeBase, tmp_path: Path, name: str) -> None:
    steps: list[Progress] = []
    with kb:
        RUNS[name](kb, tmp_path, steps.append)
    assert [step.done for step in steps] == list(range(1, steps[-1].total + 1))
    assert steps[-1].total >= NOTES


@pytest.mark.parametrize("at", [1, NOTES - 1])
@pytest.mark.parametrize("name", RUNS)
def test_a_run_ended_early_changes_nothing(kb: KnowledgeBase, tmp_path: Path, name: str, at: int) -> None:
    def end(step: Progress) -> None:
        if step.done == at:
            raise InterruptedByUserError("enough")

    with kb:
        before, generation = files(tmp_path), kb.generation
        with pytest.raises(InterruptedByUserError):
            RUNS[name](kb, tmp_path, end)
        assert (files(tmp_path), kb.generation) == (before, generation)
        assert kb.check().ok
        assert kb.search("fact").total == NOTES
