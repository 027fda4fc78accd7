"""``kbdb learn`` of a folder is ended with ``kill -9`` at random moments."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pytest

import kbdb
from tests.crash import harness
from tests.crash.commands import view_of
from tests.crash.left_over import check_sound, check_tidy

TOLD = Path(__file__).with_name("told.py")
WORDS = ("moon", "sea", "harbour", "ships", "iron", "潮汐", "naïve", *(f"word{number}" for number in range(1500)))
DOCUMENTS = 300
"""Many more than learn commits at a time, so that most kills find something acknowledged and something not."""


def _write_folder(folder: Path, seed: int) -> None:
    """A folder of Markdown; of another seed, every third document differs."""
    for number in range(DOCUMENTS):
        dice = random.Random(number if number % 3 else f"{number} {seed}")
        sections = [
            f"## {' '.join(dice.choices(WORDS, k=3))}\n\n{' '.join(dice.choices(WORDS, k=60))}.\n" for _ in range(2)
        ]
        path = folder / f"part{number % 7}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\n" + "\n".join(sections), encoding="utf-8")


def _argv(database: Path, folder: Path) -> list[str]:
    return [sys.executable, str(TOLD), "learn", str(folder), "--db", str(database)]


def _check_after_kill(acknowledged: list[set[str]]) -> Callable[[Path, harness.Run], None]:
    def check(folder: Path, run: harness.Run) -> None:
        stored = {kbid for line in run.acknowledged if line.startswith("stored ") for kbid in line.split()[1:]}
        acknowledged.append(stored)
        with kbdb.open(folder) as kb:
            for kbid in stored:
                kb.retrieve(kbid=kbid)
            check_sound(kb)
            if len(acknowledged) % 10 == 0:
                view = view_of(kb)
                kb.rebuild()
                assert view_of(kb) == view
        check_tidy(folder)

    return check


@pytest.mark.long
@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_killed_at_random_moments_learn_loses_nothing_acknowledged(again: bool, tmp_path: Path) -> None:
    start, folder = tmp_path / "start", tmp_path / "folder"
    _write_folder(folder, seed=1)
    with kbdb.init(start) as kb:
        if again:
            kb.learn([folder])
    _write_folder(folder, seed=2)
    rehearsal = shutil.copytree(start, tmp_path / "rehearsal")
    began = perf_counter()
    done = harness.script(lambda _: _argv(rehearsal, folder))(rehearsal)
    took = perf_counter() - began
    assert done.returncode == 0, done.stderr

    def argv(place: Path) -> list[str]:
        shutil.copytree(start, place, dirs_exist_ok=True)
        return _argv(place, folder)

    acknowledged: list[set[str]] = []
    check = _check_after_kill(acknowledged)
    harness.crash_at_random_moments(argv, check, tmp_path, moments=100, within_s=took, seed=5)
    assert len({len(stored) for stored in acknowledged}) > 2
