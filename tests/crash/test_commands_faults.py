"""A full or broken disk, or Ctrl-C, at the fault points of every verb: nothing is half done, and it can be repeated."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, get_args

import pytest

from kbdb.errors import StorageError
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.indexer import Indexer
from kbdb.knowledge.transfer import read_package
from kbdb.store import faults
from kbdb.store.faults import Action
from tests.crash import harness
from tests.crash.commands import (
    SCENARIOS,
    Life,
    Scenario,
    SomeFailedError,
    View,
    learn_content,
    open_or_make,
    states,
    view_of,
)
from tests.crash.left_over import check_sound, check_tidy
from tests.crash.quick import without_syncs


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with without_syncs():
        yield


Trouble = Literal["full", "broken", "ctrl-c"]
EVERYDAY = {("full", name) for name in SCENARIOS} | {
    (trouble, name) for trouble in ("broken", "ctrl-c") for name in ("learn", "merge", "export")
}
CASES = [
    *(
        pytest.param(name, trouble, harness.one_of_each, id=f"{name}-{trouble}-one-of-each")
        for name in SCENARIOS
        for trouble in get_args(Trouble)
        if (trouble, name) in EVERYDAY
    ),
    *(
        pytest.param(
            name,
            trouble,
            harness.everything,
            id=f"{name}-{trouble}-everything",
            marks=pytest.mark.long,
        )
        for name in SCENARIOS
        for trouble in get_args(Trouble)
    ),
]


class Troubled:
    """Fault points that make trouble at one passage; a disk that is full stays so until it is mended.

    Attributes:
        passed: the passages so far, as ``name:nth``.
    """

    def __init__(self, trouble: Trouble, passage: str = "") -> None:
        self._trouble, self._passage = trouble, passage
        self._is_full = False
        self.passed: list[str] = []

    def __call__(self, point: str) -> Action | None:
        nth = 1 + sum(passage.rpartition(":")[0] == point for passage in self.passed)
        self.passed.append(f"{point}:{nth}")
        if self.passed[-1] == self._passage:
            if self._trouble == "ctrl-c":
                raise KeyboardInterrupt
            self._is_full = self._trouble == "full"
            return "enospc" if self._is_full else "eio"
        return "enospc" if self._is_full and point.startswith(("write:", "make:")) else None

    def mend(self) -> None:
        """Makes room."""
        self._is_full = False


def _live(scenario: Scenario, folder: Path, points: Troubled, known: dict[int, View]) -> int:
    """Takes the steps of a scenario, each again when it failed; says how many calls failed."""
    failed = 0
    try:
        kb = open_or_make(folder)
    except (StorageError, KeyboardInterrupt):
        failed += 1
        points.mend()
        kb = open_or_make(folder)
    for step in scenario.steps:
        try:
            step(Life(kb, folder))
        except (StorageError, KeyboardInterrupt) as error:
            failed += 1
            check = _check_documents_are_whole if isinstance(error, SomeFailedError) else _check_nothing_is_half_done
            check(kb, known)
            points.mend()
            if kb._core.store.failure is not None:
                kb.close()
                kb = open_or_make(folder)
                check(kb, known)
            step(Life(kb, folder))
    try:
        kb.close()
    except KeyboardInterrupt:
        failed += 1
    return failed


def _check_nothing_is_half_done(kb: KnowledgeBase, known: dict[int, View]) -> None:
    assert view_of(kb) == known[kb.generation]
    check_sound(kb)


def _check_documents_are_whole(kb: KnowledgeBase, known: dict[int, View]) -> None:
    """Asserts that each document is as it was at some time, whatever became of the others."""
    documents = view_of(kb).documents
    for docid in documents.keys() | {docid for view in known.values() for docid in view.documents}:
        assert documents.get(docid) in [view.documents.get(docid) for view in known.values()]
    check_sound(kb)


@pytest.mark.parametrize(("name", "trouble", "sample"), CASES)
def test_trouble_anywhere_leaves_nothing_half_done(
    name: str, trouble: Trouble, sample: Callable[[list[str]], list[str]], tmp_path: Path
) -> None:
    scenario = SCENARIOS[name]
    start, place = tmp_path / "start", tmp_path / "run"
    start.mkdir()
    scenario.prepare(start)
    known = states(scenario, start, tmp_path / "known")
    end = list(known.values())[-1]
    failed = 0
    counting = Troubled(trouble)
    shutil.copytree(start, place)
    with faults.hooked(counting):
        _live(scenario, place, counting, known)
    for passage in sample(counting.passed):
        shutil.rmtree(place)
        shutil.copytree(start, place)
        points = Troubled(trouble, passage)
        try:
            with faults.hooked(points):
                failed += _live(scenario, place, points, known)
            assert passage in points.passed
            with open_or_make(place) as kb:
                assert view_of(kb) == end
                check_sound(kb)
            check_tidy(place)
            if name.startswith("export"):
                assert len(read_package(place / "export").sections) == len(end.sections)
                assert sorted(path.name for path in place.glob("*export*")) == ["export"]
        except BaseException as error:
            error.add_note(f"{trouble} at {passage}")
            raise
    assert failed or not scenario.steps


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path) -> None:
    with open_or_make(tmp_path) as kb:
        learn_content(Life(kb, tmp_path))
        with faults.hooked(Troubled("full", "write:export:3")), pytest.raises(StorageError):
            kb.export(tmp_path / "export")
    assert not list(tmp_path.glob("*export*"))


def test_an_interruption_between_commit_and_index_is_made_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = open_or_make(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Indexer, "absorb", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            learn_content(Life(kb, tmp_path))
    assert kb.generation == 1
    kb.close()
    with open_or_make(tmp_path) as kb:
        assert [hit.title for hit in kb.search("moon").hits] == ["Said"]
        check_sound(kb)
    check_tidy(tmp_path)


def test_after_an_interruption_the_same_database_shows_what_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_or_make(tmp_path) as kb:
        with monkeypatch.context() as patched:
            patched.setattr(Indexer, "absorb", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                learn_content(Life(kb, tmp_path))
        assert [hit.title for hit in kb.search("moon").hits] == ["Said"]
        check_sound(kb)
    check_tidy(tmp_path)


def test_after_a_checkpoint_that_failed_at_its_end_the_index_on_disk_is_used(tmp_path: Path) -> None:
    kb = open_or_make(tmp_path)
    learn_content(Life(kb, tmp_path))
    with faults.hooked(lambda point: "eio" if point == "write:journal" else None):
        kb.close()
    for _ in range(2):
        with open_or_make(tmp_path) as kb:
            assert [hit.title for hit in kb.search("moon").hits] == ["Said"]
            assert kb.status().warnings == ()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
