"""gc: what goes, when, and that nothing still needed ever does."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from knowledge_base import GUIDE, answers, docid, kbid, read_back, state, titles, write

import kbdb
from kbdb.errors import CorruptError, InvalidArgumentError, SectionNotFoundError
from kbdb.knowledge import KnowledgeBase, upkeep


class Later(datetime):
    """The clock as it will stand after 31 days."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(days=31)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets gc run 31 days from now."""
    monkeypatch.setattr(upkeep, "datetime", Later)


@pytest.fixture
def dropped(kb: KnowledgeBase, home: Path) -> str:
    """The kbid of a section that its document no longer lists."""
    source = write(home / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    kb.learn([source])
    old = kbid(kb, "B")
    write(source, "# A\n\nalpha\n")
    kb.learn([source])
    return old


def test_gc_right_after_opening_keeps_the_index(kb: KnowledgeBase, home: Path) -> None:
    path = write(home / "notes.md", "# One\n\nfirst\n\n# Two\n\nsecond\n")
    kb.learn([path])
    write(path, "# One\n\nfirst\n")
    kb.learn([path])
    kb.close()
    with kbdb.open(home) as again:
        assert len(again.gc(keep_days=0).kbids) == 1
        assert again.status().warnings == ()
        assert again.check().ok


def test_what_was_dropped_lately_stays(kb: KnowledgeBase, dropped: str) -> None:
    assert kb.gc().kbids == ()
    assert state(kb, dropped) == "active"


@pytest.mark.usefixtures("later")
def test_what_was_dropped_long_ago_goes(kb: KnowledgeBase, dropped: str) -> None:
    size = (kb.root / "sections" / dropped[:2] / f"{dropped}.sec").stat().st_size
    told = kb.gc(dry_run=True)
    assert (told.removed, told.kbids, told.bytes_freed, told.dry_run) == (1, (dropped,), size, True)
    assert state(kb, dropped) == "active"
    done = kb.gc()
    assert (done.removed, done.kbids, done.bytes_freed, done.dry_run) == (1, (dropped,), size, False)
    with pytest.raises(SectionNotFoundError):
        kb.retrieve(dropped)
    assert kb.search("beta").hidden == 0
    assert kb.check().ok
    assert kb.gc().removed == 0


def test_keep_days_may_be_given_and_configured(kb: KnowledgeBase, home: Path, dropped: str) -> None:
    with pytest.raises(InvalidArgumentError):
        kb.gc(keep_days=-1)
    kb.close()
    (home / ".kbdb" / "worker.toml").write_text("[history]\nkeep_days = 0\n", encoding="utf-8")
    with kbdb.open(home) as again:
        assert again.gc(dry_run=True, keep_days=1).removed == 0
        assert again.gc().kbids == (dropped,)


def test_a_retired_document_goes_with_its_sections_and_a_forgotten_one_stays(kb: KnowledgeBase, home: Path) -> None:
    shared = "# Shared\n\nboth\n"
    gone = write(home / "docs" / "gone.md", f"# Gone\n\nalpha\n\n{shared}")
    kb.learn([gone, write(home / "docs" / "kept.md", f"# Kept\n\nbeta\n\n{shared}")])
    forgotten = docid(kb.learn([write(home / "f.md", "# F\n\ngamma\n")]))
    kb.unlearn(docid=forgotten)
    only = kbid(kb, "Gone")
    gone.unlink()
    kb.learn([home / "docs"], prune=True)
    assert kb.gc().removed == 0
    assert kb.gc(keep_days=0).kbids == (only,)
    assert [item.source for item in kb.list().items] == ["docs/kept.md", "f.md"]
    assert titles(kb, "both") == ["Shared"]
    kb.restore(docid=forgotten)
    assert titles(kb, "gamma") == ["F"]
    assert kb.check().ok


def test_forgotten_text_stays_forgotten_after_its_bytes_went(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    kb.learn([source])
    forgotten = kbid(kb, "B")
    kb.unlearn(forgotten)
    write(source, "# A\n\nalpha\n")
    kb.learn([source])
    assert kb.gc(keep_days=0).kbids == (forgotten,)
    again = kb.learn([write(home / "b.md", "# B\n\nbeta\n")])
    assert [held.kbid for held in again.suppressed] == [forgotten]
    assert titles(kb, "beta") == []
    other = kb.learn([write(home / "c.md", "## B\n\nbeta\n")])
    assert len(other.suppressed) == 1


def test_what_went_can_be_learned_again(kb: KnowledgeBase, home: Path, dropped: str) -> None:
    kb.gc(keep_days=0)
    write(home / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    assert kb.learn([home / "a.md"]).sections_added == 1
    assert titles(kb, "beta") == ["B"]
    assert kb.check().ok
    kb.close()
    with kbdb.open(home) as again:
        assert [hit.kbid for hit in again.search("beta").hits] == [dropped]


def test_removed_then_learned_in_one_journal_is_there_after_a_crash(
    kb: KnowledgeBase, home: Path, tmp_path: Path, dropped: str
) -> None:
    """What a gc removed and a later commit stored again must be in the index that catches up with both."""
    kb._core.checkpoint()
    kb.gc(keep_days=0)
    write(home / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    kb.learn([home / "a.md"])
    shutil.copytree(kb.root, tmp_path / "crashed" / ".kbdb")
    with kbdb.open(tmp_path / "crashed") as again:
        assert [hit.kbid for hit in again.search("beta").hits] == [dropped]
        assert again.status().warnings == ()
        assert again.check().ok


def test_a_damaged_manifest_stops_gc(kb: KnowledgeBase, home: Path, dropped: str) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)])
    path = kb.root / "documents" / f"{docid(learned)}.toml"
    path.write_bytes(b"format = 1\n")
    kb.rebuild()
    with pytest.raises(CorruptError, match=docid(learned)):
        kb.gc(keep_days=0)
    assert state(kb, dropped) == "active"
    assert {kbid for kbid in learned.kbids if kb._core.store.has_section(kbid)} == set(learned.kbids)


def test_the_index_agrees_after_gc_of_many(kb: KnowledgeBase, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "BATCH", 3)
    source = write(home / "a.md", "".join(f"# N{n}\n\ncommon {n}\n\n" for n in range(10)))
    kb.learn([source])
    write(source, "# N0\n\ncommon 0\n\n")
    kb.learn([source])
    assert kb.gc(keep_days=0).removed == 9
    assert kb.check().ok
    before = answers(kb, ["common"])
    kb.rebuild()
    assert answers(kb, ["common"]) == before
    assert kb.search("common").hidden == 0


def test_what_is_listed_never_goes(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)])
    kb.unlearn(learned.kbids[0])
    kb.learn(content="Apples again.", title="Pressing", supersedes=[learned.kbids[1]])
    assert kb.gc(keep_days=0).removed == 0
    assert read_back(kb, docid(learned)) == GUIDE.encode()
