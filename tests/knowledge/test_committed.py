"""What readers see of writes that share a sync: nothing before it is durable, and nothing at all where it fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from knowledge_base import GUIDE, kbid, titles, write

from kbdb.errors import KbdbError, StaleIndexError, StorageError
from kbdb.knowledge import KnowledgeBase, core
from kbdb.knowledge.indexer import Indexer
from kbdb.store import faults


@pytest.fixture
def shelf(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """A database with a document and a fact."""
    kb.learn([write(home / "guide.md", GUIDE)])
    kb.learn(content="The cellar is cool.", title="Cellar", docid="cellar")
    return kb


def seen(reading: KnowledgeBase, kbids: list[str]) -> dict[str, Any]:
    """What every verb that reads says, errors included."""

    def told(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except KbdbError as error:
            return error.code

    status = reading.status()
    return {
        "sections": [told(lambda kbid=kbid: reading.retrieve(kbid)) for kbid in kbids],
        "contents": [told(lambda kbid=kbid: reading.content(kbid)) for kbid in kbids],
        "recalled": told(lambda: reading.recall(kbids=kbids, depth=1)),
        "read": told(lambda: reading.read_sections(kbids)),
        "documents": [told(lambda docid=docid: reading.retrieve(docid=docid)) for docid in ("cellar", "new")],
        "bytes": [told(lambda docid=docid: reading.content(docid=docid)) for docid in ("cellar", "new")],
        "lists": [reading.list("documents"), reading.list("sections")],
        "counts": (status.documents, status.sections, status.generation, status.journal_bytes),
        "check": reading.check().errors,
        "found": titles(reading, "cellar fresh apples"),
    }


def change_much(kb: KnowledgeBase, home: Path) -> list[str]:
    """Adds, changes, forgets and retires; returns the kbids that any of it speaks of."""
    kbids = [kbid(kb, "Apples"), kbid(kb, "Cellar")]
    kb.learn(content="Fresh news.", title="New", docid="new")
    kb.learn(content="More in the cellar.", title="More", docid="cellar")
    kb.unlearn(kbids[0], reason="no more")
    kb.learn([write(home / "guide.md", "# Pears\n\nall that is left, fresh\n")])
    return [*kbids, kbid(kb, "New"), kbid(kb, "More"), kbid(kb, "Pears")]


def test_readers_see_nothing_of_writes_that_are_not_durable_yet(shelf: KnowledgeBase, home: Path) -> None:
    reading = shelf.reading()
    with shelf.together():
        before = seen(shelf.reading(), [])
        kbids = change_much(shelf, home)
        assert shelf.content(docid="new") == b"Fresh news."
        assert reading.generation < shelf.generation
        now = seen(reading, kbids)
        assert {**now, **dict.fromkeys(("sections", "contents", "recalled", "read"))} == {
            **before,
            **dict.fromkeys(("sections", "contents", "recalled", "read")),
        }
        assert now["sections"][2:] == now["contents"][2:] == ["SECTION_NOT_FOUND"] * 3
        assert now["recalled"].missing == now["read"].missing == tuple(kbids[2:])
        assert now["documents"][1] == now["bytes"][1] == "DOCUMENT_NOT_FOUND"
    assert reading.content(docid="new") == b"Fresh news."
    assert shelf.reading().content(docid="new") == b"Fresh news."


def test_readers_never_see_what_a_failed_sync_took_back(shelf: KnowledgeBase, home: Path) -> None:
    reading, before = shelf.reading(), seen(shelf, [])
    shown: list[dict[str, Any]] = []
    kbids: list[str] = []

    def broken(point: str) -> faults.Action | None:
        if point in ("write:journal", "sync:journal"):
            shown.append(seen(reading, kbids))
        return "eio" if point == "sync:journal" and len(shown) == 2 else None

    with faults.hooked(broken), pytest.raises(StorageError), shelf.together():
        kbids += change_much(shelf, home)
    shown.append(seen(reading, kbids))
    assert len(shown) >= 3
    for moment in shown:
        assert moment["contents"][2:] == ["SECTION_NOT_FOUND"] * 3
        for verb in ("documents", "bytes", "lists", "check", "found"):
            assert moment[verb] == before[verb]


def test_readers_who_wait_for_a_snapshot_share_the_one_that_is_made(
    shelf: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = shelf.reading()
    started = threading.Barrier(5)
    made: list[int] = []
    fresh = core.Core._fresh_snapshot

    def slow(self: core.Core) -> core.View:
        made.append(1)
        threading.Event().wait(0.2)
        return fresh(self)

    def read() -> None:
        started.wait()
        titles(reading, "apples")

    monkeypatch.setattr(core.Core, "_fresh_snapshot", slow)
    reading._core._snapshot = None
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_failed_sync_of_several_writes_leaves_the_index_as_it_was(shelf: KnowledgeBase, home: Path) -> None:
    shelf.unlearn(kbid(shelf, "Pears"))
    before, segments = seen(shelf, []), shelf._core.indexer.segments

    def broken(point: str) -> faults.Action | None:
        return "eio" if point == "sync:journal" else None

    with faults.hooked(broken), pytest.raises(StorageError), shelf.together():
        change_much(shelf, home)
    assert shelf.failure is not None
    assert shelf._core.indexer.segments is segments
    assert seen(shelf, []) == before


def test_writing_goes_on_after_a_failed_sync_of_several_writes(shelf: KnowledgeBase, home: Path) -> None:
    segments = shelf._core.indexer.segments

    def full_disk(point: str) -> faults.Action | None:
        return "enospc" if point == "write:journal" else None

    with faults.hooked(full_disk), pytest.raises(StorageError), shelf.together():
        change_much(shelf, home)
    assert shelf._core.indexer.segments is segments
    with shelf.together():
        change_much(shelf, home)
    assert shelf.check().ok
    after = seen(shelf, [])
    shelf.rebuild()
    assert {**seen(shelf, []), "counts": ()} == {**after, "counts": ()}
    assert not any("made anew" in notice for notice in shelf._core.notices)


@pytest.mark.parametrize("ends", [KnowledgeBase.rebuild, lambda kb: kb._core.checkpoint()])
def test_a_checkpoint_among_several_writes_keeps_what_it_made_durable(
    shelf: KnowledgeBase, ends: Callable[[KnowledgeBase], object]
) -> None:
    full = threading.Event()

    def disk(point: str) -> faults.Action | None:
        return "enospc" if full.is_set() and point == "write:journal" else None

    def write_several() -> None:
        with shelf.together():
            shelf.learn(content="Fresh and kept.", title="Kept", docid="kept")
            ends(shelf)
            shelf.learn(content="Fresh and lost.", title="Lost", docid="lost")
            full.set()

    with faults.hooked(disk), pytest.raises(StorageError):
        write_several()
    assert titles(shelf, "fresh") == ["Kept"]
    assert shelf.check().ok


def test_a_checkpoint_that_fails_in_any_way_after_a_commit_is_told(
    shelf: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(*_: object, **__: object) -> None:
        raise StaleIndexError("of another version")

    monkeypatch.setattr(core, "JOURNAL_LIMIT", 0)
    monkeypatch.setattr(Indexer, "flush", stale)
    learned = shelf.learn(content="Fresh news.", title="New", docid="new")
    assert "the journal could not be emptied yet: of another version" in learned.warnings
    assert shelf.content(docid="new") == b"Fresh news."
