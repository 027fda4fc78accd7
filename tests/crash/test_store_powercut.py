"""A power cut after every file operation of a store's life, with every kind of loss, and again during recovery."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from kbdb import platform
from kbdb.errors import KbdbError
from kbdb.store.store import Store
from tests.crash import history
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

SEEDS = [pytest.param(range(80), id="80"), pytest.param(range(80, 2000), id="2000", marks=pytest.mark.long)]
EXTREMES = {
    "nothing": NOTHING,
    "everything": EVERYTHING,
    "names without bytes": NAMES_ONLY,
    "bytes without names": BYTES_ONLY,
    "only the latest": LATEST_ONLY,
}


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with without_syncs():
        yield


@pytest.fixture
def known(tmp_path: Path) -> list[history.State]:
    return history.states(tmp_path / "known")


def _lived(home: Path) -> Recording:
    home.mkdir()
    with recording(home) as record:
        history.live(home / ".kbdb", lambda _: record.acknowledge())
    return record


def _check_cut(record: Recording, moment: int, keeps: Keeps, place: Path, known: list[history.State]) -> None:
    disk = Disk.empty(record.home)
    disk.apply(record.operations[:moment])
    disk.cut(keeps, place)
    try:
        history.check_left_over(place / ".kbdb", known, record.acknowledged_at(moment))
    except BaseException as error:
        error.add_note(f"power cut after {moment} operations, the last {record.operations[moment - 1 : moment]}")
        raise
    shutil.rmtree(place)


def _check_random_cuts(record: Recording, seeds: range, place: Path, known: list[history.State]) -> None:
    for seed in seeds:
        _check_cut(record, seed * 7919 % (len(record.operations) + 1), at_random(seed), place, known)


@pytest.mark.parametrize("loss", EXTREMES)
def test_after_every_operation(loss: str, tmp_path: Path, known: list[history.State]) -> None:
    record = _lived(tmp_path / "home")
    for moment in range(len(record.operations) + 1):
        _check_cut(record, moment, EXTREMES[loss], tmp_path / "cut", known)


@pytest.mark.parametrize("whole_file_system", [False, True])
@pytest.mark.parametrize("seeds", SEEDS)
def test_random_losses(whole_file_system: bool, seeds: range, tmp_path: Path, known: list[history.State]) -> None:
    with patch.object(platform, "sync_files", return_value=whole_file_system):
        record = _lived(tmp_path / "home")
    _check_random_cuts(record, seeds, tmp_path / "cut", known)


@pytest.mark.parametrize("seeds", SEEDS)
def test_a_second_cut_during_recovery(seeds: range, tmp_path: Path, known: list[history.State]) -> None:
    record = _lived(tmp_path / "home")
    moments = [m for m in range(len(record.operations) + 1) if record.acknowledged_at(m)]
    for seed in seeds:
        moment = moments[seed * 7919 % len(moments)]
        acknowledged = record.acknowledged_at(moment)
        disk = Disk.empty(record.home)
        disk.apply(record.operations[:moment])
        disk.cut(at_random(seed), tmp_path / "first")
        second = Disk(tmp_path / "first")
        with recording(tmp_path / "first") as recovery:
            store = Store.open(tmp_path / "first" / ".kbdb")
            found = known.index(history.state_of(store), acknowledged)
            store.checkpoint()
            store.close()
        stop = seed * 104729 % (len(recovery.operations) + 1)
        second.apply(recovery.operations[:stop])
        second.cut(at_random(-seed), tmp_path / "second")
        history.check_left_over(tmp_path / "second" / ".kbdb", known[: found + 1], acknowledged)
        shutil.rmtree(tmp_path / "first")
        shutil.rmtree(tmp_path / "second")


def test_the_model_finds_a_store_that_does_not_sync_its_journal(tmp_path: Path, known: list[history.State]) -> None:
    with patch("kbdb.store.files.AppendFile.sync"):
        record = _lived(tmp_path / "home")
    with pytest.raises((AssertionError, KbdbError)):
        _check_random_cuts(record, range(80), tmp_path / "cut", known)
