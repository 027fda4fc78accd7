"""Merging beside the work: answers stay those of a rebuild, and an end in the middle leaves what there was before."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from knowledge_base import answers, kbid, without_index

import kbdb
from kbdb.errors import StorageError
from kbdb.index import segments
from kbdb.knowledge import KnowledgeBase, core
from kbdb.store import index_files

QUERIES = ["apples", "fact", "day seven", "pears"]


@pytest.fixture(autouse=True)
def each_commit_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each commit becomes a segment on disk, and four of them are worth merging beside the work."""
    monkeypatch.setattr(core, "JOURNAL_LIMIT", 0)
    monkeypatch.setattr(segments, "FLUSHED_SOON", 1)
    monkeypatch.setattr(segments, "FLUSHED_FACTOR", 1)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Merges that go on beside the work wait for this before their first byte."""
    opened = Event()
    write = index_files.write_segment

    def waiting(layout: Any, folder: int, put: Callable[..., None], **options: Any) -> None:
        if options.get("paced"):
            opened.wait()
        write(layout, folder, put, **options)

    monkeypatch.setattr(index_files, "write_segment", waiting)
    yield opened
    opened.set()


def learn(kb: KnowledgeBase, *numbers: int) -> None:
    for number in numbers:
        kb.learn(content=f"Fact of day {number}: apples and pears.", title=f"Fact {number}")


def folders(kb: KnowledgeBase) -> list[str]:
    return sorted(path.name for path in (kb.root / "indexes").iterdir() if path.is_dir())


def finish(kb: KnowledgeBase) -> None:
    """Waits until nothing is merged any more."""
    while kb.is_merging:
        merging = kb._core.indexer._merging
        assert merging is not None
        merging._thread.join()
        kb.settle()


def same_as_rebuilt(kb: KnowledgeBase, elsewhere: Path) -> bool:
    with kbdb.open(without_index(kb.root, elsewhere)) as fresh:
        return bool(answers(fresh, QUERIES) == answers(kb, QUERIES))


def test_a_long_history_is_merged_beside_the_work_into_few_segments(kb: KnowledgeBase, tmp_path: Path) -> None:
    for number in range(24):
        learn(kb, number)
        finish(kb)
    assert len(kb._core.indexer.segments.slots) <= 8
    assert len(folders(kb)) == len(kb._core.indexer.segments.slots)
    assert same_as_rebuilt(kb, tmp_path / "fresh")


def test_what_is_learned_and_removed_while_segments_are_merged_shows_at_once_and_afterwards(
    kb: KnowledgeBase, tmp_path: Path, gate: Event
) -> None:
    learn(kb, *range(6))
    assert kb.is_merging
    kb.unlearn(kbid(kb, "Fact 1"))
    kb.learn(content="Another fact of day two: pears.", title="Fact 2", replace=True)
    learn(kb, 7, 8)
    meanwhile = answers(kb, QUERIES)
    gate.set()
    finish(kb)
    assert answers(kb, QUERIES) == meanwhile
    assert same_as_rebuilt(kb, tmp_path / "fresh")


def test_closing_does_not_wait_for_a_merge_and_leaves_no_folder_of_it(
    kb: KnowledgeBase, home: Path, tmp_path: Path, gate: Event
) -> None:
    learn(kb, *range(6))
    merging = kb._core.indexer._merging
    assert merging is not None
    before = answers(kb, QUERIES)
    gate.set()
    kb.close()
    assert merging.is_done
    with kbdb.open(home) as again:
        assert answers(again, QUERIES) == before
        assert folders(again) == sorted(str(slot.folder) for slot in again._core.indexer.segments.slots)
        assert same_as_rebuilt(again, tmp_path / "fresh")


def test_a_crash_while_segments_are_merged_leaves_a_folder_that_the_next_opening_sweeps(
    kb: KnowledgeBase, tmp_path: Path, gate: Event
) -> None:
    learn(kb, *range(6))
    assert kb.is_merging
    assert not gate.is_set()
    before, found = answers(kb, QUERIES), len(folders(kb))
    shutil.copytree(kb.root, tmp_path / "crashed" / ".kbdb")
    with kbdb.open(tmp_path / "crashed") as again:
        assert answers(again, QUERIES) == before
        assert len(folders(again)) == found - 1
        assert again.check().ok


def test_a_rebuild_ends_a_merge(kb: KnowledgeBase, tmp_path: Path, gate: Event) -> None:
    learn(kb, *range(6))
    assert kb.is_merging
    gate.set()
    assert kb.rebuild().sections == 6
    assert not kb.is_merging
    assert len(folders(kb)) == 1
    assert same_as_rebuilt(kb, tmp_path / "fresh")


@pytest.mark.parametrize(
    "error", [StorageError("cannot write terms.idx: No space left on device"), MemoryError("full")]
)
def test_a_merge_that_fails_is_told_once_and_not_tried_again_at_once(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    write, tried = index_files.write_segment, []

    def full(layout: Any, folder: int, put: Callable[..., None], **options: Any) -> None:
        if options.get("paced"):
            tried.append(folder)
            raise error
        write(layout, folder, put, **options)

    monkeypatch.setattr(index_files, "write_segment", full)
    learn(kb, *range(6))
    finish(kb)
    learn(kb, *range(6, 16))
    assert len(tried) == 1
    (told,) = (warning for warning in kb.search("apples").warnings if "more parts" in warning)
    assert str(error.args[0]) in told
    assert len(kb.search("apples", limit=20).hits) == 16
    monkeypatch.setattr(index_files, "write_segment", write)
    monkeypatch.setattr(kb._core.indexer, "_merge_not_before", 0.0)
    learn(kb, 16)
    finish(kb)
    assert kb.search("apples").warnings == ()
    assert len(kb._core.indexer.segments.slots) < 8
    assert same_as_rebuilt(kb, tmp_path / "fresh")


def test_another_database_that_took_the_place_of_this_one_keeps_its_index(
    kb: KnowledgeBase, home: Path, tmp_path: Path, gate: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(kb, *range(6))
    merging = kb._core.indexer._merging
    assert merging is not None
    kb.root.rename(tmp_path / "moved")
    monkeypatch.setattr(segments, "FLUSHED_SOON", 1000)
    with kbdb.init(home) as other:
        learn(other, *range(merging.folder))
        assert folders(other) == [str(merging.folder)]
    gate.set()
    kb.let_go()
    with kbdb.open(home) as again:
        assert len(again.search("apples").hits) == merging.folder
        assert again.search("apples").warnings == ()


def test_readers_of_before_go_on_reading_what_was_merged_away(kb: KnowledgeBase) -> None:
    learn(kb, *range(6))
    reading = kb.reading()
    before = answers(reading, QUERIES)["searches"]
    finish(kb)
    learn(kb, 6)
    assert answers(reading, QUERIES)["searches"] == before
