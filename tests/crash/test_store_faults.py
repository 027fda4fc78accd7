"""A full or broken disk at every fault point: the call that fails changes nothing, and the next one works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbdb.errors import StorageError
from kbdb.store import faults
from kbdb.store.faults import Action
from kbdb.store.store import Change, Store
from tests.crash import history
from tests.crash.quick import without_syncs


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with without_syncs():
        yield


class Failing:
    """Fails the nth passage of any fault point, once; nth 0 only counts."""

    def __init__(self, nth: int, action: Action) -> None:
        self._nth, self._action = nth, action
        self.passed: list[str] = []

    def __call__(self, point: str) -> Action | None:
        self.passed.append(point)
        return self._action if len(self.passed) == self._nth else None


def _stubborn(root: Path) -> tuple[history.State, list[str]]:
    """Goes through the history, each step again when it failed; gives the end and what failed."""
    failures: list[str] = []

    def again(call: Callable[[], Store]) -> Store:
        try:
            return call()
        except StorageError as error:
            failures.append(error.message)
            return call()

    store = again(lambda: Store.create(root))
    for step in history.STEPS:
        before, generation = history.state_of(store), store.generation
        try:
            step(store)
        except StorageError as error:
            failures.append(error.message)
            assert history.state_of(store) == before
            assert store.generation == generation
            if store.failure is not None:
                store.close()
                store = Store.open(root)
                assert history.state_of(store) == before
            step(store)
    store.close()
    store = again(lambda: Store.open(root))
    end = history.state_of(store)
    try:
        store.checkpoint()
    except StorageError as error:
        failures.append(error.message)
        store.close()
        store = Store.open(root)
        store.checkpoint()
    store.close()
    return end, failures


@pytest.mark.parametrize("action", ["enospc", "eio"])
def test_a_failure_at_any_point_leaves_the_state_before_and_can_be_repeated(action: Action, tmp_path: Path) -> None:
    counting = Failing(0, action)
    with faults.hooked(counting):
        expected, _ = _stubborn(tmp_path / "whole" / ".kbdb")
    assert len(counting.passed) > 60
    told = 0
    for nth, point in enumerate(counting.passed, 1):
        root = tmp_path / str(nth) / ".kbdb"
        with faults.hooked(Failing(nth, action)):
            found, failures = _stubborn(root)
        assert found == expected, point
        assert len(failures) <= 1
        told += len(failures)
        store = Store.open(root)
        assert history.state_of(store) == expected, point
        assert store.recovered == ()
        store.close()
        assert not list(root.rglob("*.tmp")), point
    assert told > 20


def test_a_failed_group_takes_all_of_it_back(tmp_path: Path) -> None:
    store = Store.create(tmp_path / ".kbdb")
    store.commit(Change(sections=(history.section("a"),)))
    store.append(Change(sections=(history.section("b"),)))
    store.append(Change(events=(history.event(1, "a"),)))
    with faults.hooked(lambda point: "eio" if point == "sync:journal" else None), pytest.raises(StorageError):
        store.sync()
    assert store.section_ids() == [history.section("a").kbid]
    assert store.read_events() == []
    assert store.failure is not None
    with pytest.raises(StorageError, match="can no longer be trusted"):
        store.append(Change())
    assert store.read_section(history.section("a").kbid).title == "a"
    store.close()


def test_a_commit_counts_when_the_disk_fills_up_between_journal_and_files(tmp_path: Path) -> None:
    store = Store.create(tmp_path / ".kbdb")
    with faults.hooked(lambda point: "enospc" if point == "write:sections" else None):
        store.commit(Change(sections=(history.section("a"),), events=(history.event(1, "a"),)))
        assert store.delayed is not None
        assert "disk is full" in store.delayed.message
        store.commit(Change(events=(history.event(2, "a"),)))
        assert store.read_section(history.section("a").kbid) == history.section("a")
        assert [event.id[-1] for event in store.read_events()] == ["1", "2"]
        assert not Path(store.layout.section(history.section("a").kbid)).exists()
        with pytest.raises(StorageError, match="disk is full"):
            store.checkpoint()
        store.close()
        store = Store.open(tmp_path / ".kbdb")
        assert store.has_section(history.section("a").kbid)
    store.checkpoint()
    assert store.delayed is None
    assert Path(store.layout.section(history.section("a").kbid)).exists()
    assert [event.id[-1] for event in store.read_events()] == ["1", "2"]
    store.close()


def test_files_whose_sync_failed_are_written_again(tmp_path: Path) -> None:
    store = Store.create(tmp_path / ".kbdb")
    a = history.section("a")
    store.commit(Change(sections=(a,)))
    with faults.hooked(lambda point: "eio" if point == "sync:many" else None), pytest.raises(StorageError):
        store.checkpoint()
    # What a system does that drops the pages it could not write.
    Path(store.layout.section(a.kbid)).write_bytes(b"")
    store.checkpoint()
    assert store.read_section(a.kbid) == a
    store.close()
    store = Store.open(tmp_path / ".kbdb")
    assert store.read_section(a.kbid) == a
    assert store.recovered == ()
    store.close()
