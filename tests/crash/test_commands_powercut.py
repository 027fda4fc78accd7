"""A power cut during the verbs of a KnowledgeBase: unsynced bytes and names are lost in any combination."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from kbdb import platform
from kbdb.knowledge import KnowledgeBase
from tests.crash.commands import SCENARIOS, View, states
from tests.crash.left_over import check_left_over
from tests.crash.powercut import (
    BYTES_ONLY,
    EVERYTHING,
    LATEST_ONLY,
    NAMES_ONLY,
    NOTHING,
    Disk,
    Keeps,
    Recording,
    at_random,
    recording,
)
from tests.crash.quick import without_syncs

EXTREMES = (NOTHING, EVERYTHING, NAMES_ONLY, BYTES_ONLY, LATEST_ONLY)
NAMES = ("init", "learn", "relearn", "merge", "rebuild", "rebuild-in-pieces", "gc", "import")


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with without_syncs():
        yield


@dataclass(frozen=True, slots=True)
class Lived:
    """A scenario that was lived without a power cut: what may be cut, and what must be found."""

    record: Recording
    before: Disk
    generations: list[int]
    known: dict[int, View]

    def check_cut(self, moment: int, keeps: Keeps, place: Path) -> None:
        """Cuts the power after so many operations and asserts what must hold."""
        disk = deepcopy(self.before)
        disk.apply(self.record.operations[:moment])
        disk.cut(keeps, place)
        acknowledged = self.record.acknowledged_at(moment)
        try:
            check_left_over(place, self.known, self.generations[acknowledged - 1] if acknowledged else None)
        except BaseException as error:
            error.add_note(
                f"power cut after {moment} operations, {self.record.operations[moment - 1 : moment]} the last"
            )
            raise
        shutil.rmtree(place)


def _live(name: str, tmp_path: Path, whole_file_system: bool = False) -> Lived:
    scenario, start, home = SCENARIOS[name], tmp_path / "start", tmp_path / "home"
    start.mkdir()
    scenario.prepare(start)
    known = states(scenario, start, tmp_path / "known")
    shutil.copytree(start, home)
    before, generations = Disk(home), []

    def acknowledge(kb: KnowledgeBase) -> None:
        generations.append(kb.generation)
        record.acknowledge()

    with recording(home) as record, patch.object(platform, "sync_files", return_value=whole_file_system):
        scenario.live(home, acknowledge)
    return Lived(record, before, generations, known)


@pytest.mark.parametrize("whole_file_system", [False, True])
@pytest.mark.parametrize("cuts", [pytest.param(5, id="5"), pytest.param(100, id="100", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_after_a_power_cut_what_was_acknowledged_is_there_and_all_is_whole(
    name: str, cuts: int, whole_file_system: bool, tmp_path: Path
) -> None:
    lived = _live(name, tmp_path, whole_file_system)
    for number in range(cuts):
        moment = (number + 1) * 7919 % (len(lived.record.operations) + 1)
        keeps = EXTREMES[number] if number < len(EXTREMES) else at_random(number)
        lived.check_cut(moment, keeps, tmp_path / "cut")


def test_an_index_that_is_named_is_there(tmp_path: Path) -> None:
    lived = _live("merge", tmp_path)
    moments = [
        moment
        for moment, operation in enumerate(lived.record.operations, start=1)
        if operation.target is not None and operation.target.name == "meta.toml"
    ]
    assert len(moments) > 4
    for moment in moments:
        lived.check_cut(moment, LATEST_ONLY, tmp_path / "cut")
