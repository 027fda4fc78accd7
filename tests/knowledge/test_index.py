"""The index follows the truth: across reopening, crashes, configuration, rebuilds, and while others are locked out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from knowledge_base import GUIDE, answers, kbid, titles, without_index, write

import kbdb
from kbdb.errors import (
    DatabaseClosedError,
    DatabaseExistsError,
    DatabaseLockedError,
    KbdbError,
    NotADatabaseError,
    StorageError,
)
from kbdb.knowledge import KnowledgeBase, core
from kbdb.store import faults

QUERIES = ["apples", "press juice", "fact number", "pears"]


def grow(kb: KnowledgeBase, home: Path) -> None:
    """A history of several commits."""
    kb.learn([write(home / "guide.md", GUIDE)])
    for number in range(5):
        kb.learn(content=f"Fact number {number}.", title=f"Fact {number}")
    kb.unlearn(kbid(kb, "Fact 2"))
    kb.unlearn(kbid(kb, "Pears"))
    kb.learn(content="Fact number nine.", title="Fact 3", replace=True)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / ".kbdb" / "indexes").glob("*/*.*")}


def test_reopening_changes_no_answer(kb: KnowledgeBase, home: Path) -> None:
    grow(kb, home)
    before = answers(kb, QUERIES)
    kb.close()
    with kbdb.open(home) as again:
        assert answers(again, QUERIES) == before
        assert again.status().warnings == ()
        assert again.status().journal_bytes < 100


def test_a_rebuild_gives_the_same_answers_and_the_files_of_an_index_built_once(
    kb: KnowledgeBase, home: Path, tmp_path: Path
) -> None:
    grow(kb, home)
    before = answers(kb, QUERIES)
    assert kb.rebuild().sections == 9
    assert answers(kb, QUERIES) == before
    kb.close()
    copy = without_index(kb.root, tmp_path / "copy")
    with kbdb.open(copy) as fresh:
        assert answers(fresh, QUERIES) == before
        assert any("made anew" in warning for warning in fresh.status().warnings)
        assert fresh.status().index.stale
    assert files_of(copy) == files_of(home)
    with kbdb.open(copy) as fresh:
        assert fresh.status().warnings == ()
        assert not fresh.status().index.stale


def test_a_database_that_was_never_closed_answers_the_same(kb: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    grow(kb, home)
    kb._core.checkpoint()
    kb.learn(content="Fact number twelve.", title="Late")
    kb.unlearn(kbid(kb, "Fact 1"))
    shutil.copytree(kb.root, tmp_path / "crashed" / ".kbdb")
    with kbdb.open(tmp_path / "crashed") as again:
        assert answers(again, QUERIES) == answers(kb, QUERIES)
        assert again.status().warnings == ()
        assert again.check().ok


def test_an_index_of_another_state_of_the_files_is_made_anew(kb: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    kb.learn(content="Fact number one.", title="One")
    kb._core.checkpoint()
    shutil.copytree(kb.root, tmp_path / "backup" / ".kbdb")
    kb.learn(content="Fact number two.", title="Two")
    kb.close()
    shutil.rmtree(tmp_path / "backup" / ".kbdb" / "indexes")
    shutil.copytree(home / ".kbdb" / "indexes", tmp_path / "backup" / ".kbdb" / "indexes")
    with kbdb.open(tmp_path / "backup") as again:
        assert titles(again, "fact number") == ["One"]
        assert again.search("fact").hidden == 0
        assert any("made anew" in warning for warning in again.status().warnings)
        assert again.check().ok


@pytest.mark.parametrize("setting", ['[analysis]\nlanguage = "german"\n', "[search]\nk1 = 2.0\n"])
def test_another_configuration_makes_the_index_stale_and_it_is_made_anew(
    kb: KnowledgeBase, home: Path, setting: str
) -> None:
    kb.learn(content="Die Häuser stehen am Hang.", title="Haus")
    kb.close()
    write(home / ".kbdb" / "worker.toml", setting)
    with kbdb.open(home) as again:
        found = again.search("häuser")
        assert [hit.title for hit in found.hits] == ["Haus"]
        assert any("another version or configuration" in warning for warning in found.warnings)
        if "german" in setting:
            assert titles(again, "hauses") == ["Haus"]
    with kbdb.open(home) as again:
        assert again.search("häuser").warnings == ()
        assert again.check().ok


def test_index_files_of_another_version_are_made_anew(kb: KnowledgeBase, home: Path) -> None:
    kb.learn(content="Fact number one.", title="One")
    kb.close()
    (path,) = (home / ".kbdb" / "indexes").glob("*/corpus.dat")
    data = bytearray(path.read_bytes())
    data[4] = 99
    path.write_bytes(data)
    with kbdb.open(home) as again:
        found = again.search("fact")
        assert found.total == 1
        assert any("another version" in warning for warning in found.warnings)
    with kbdb.open(home) as again:
        assert (again.search("fact").total, again.search("fact").warnings) == (1, ())


def test_leftover_index_folders_are_swept(kb: KnowledgeBase, home: Path) -> None:
    kb.learn(content="Fact number one.", title="One")
    kb.close()
    write(home / ".kbdb" / "indexes" / "99" / "terms.idx", "half")
    with kbdb.open(home) as again:
        assert titles(again, "fact") == ["One"]
    assert not (home / ".kbdb" / "indexes" / "99").exists()


def test_a_closed_database_answers_nothing(kb: KnowledgeBase) -> None:
    kb.close()
    kb.close()
    calls: list[Callable[[], object]] = [
        lambda: kb.learn(content="x"),
        lambda: kb.search("x"),
        lambda: kb.rank("x"),
        lambda: kb.recall("0" * 26),
        lambda: kb.retrieve("0" * 26),
        lambda: kb.unlearn("0" * 26),
        lambda: kb.restore("0" * 26),
        lambda: kb.read_sections(["0" * 26]),
        lambda: kb.content("0" * 26),
        lambda: kb.group(["0" * 26], "x"),
        lambda: kb.ungroup("x"),
        lambda: kb.update("0" * 26, title="x"),
        kb.list,
        kb.status,
        kb.check,
        kb.rebuild,
        kb.gc,
        lambda: kb.export("x"),
        lambda: kb.import_("x"),
    ]
    for call in calls:
        with pytest.raises(DatabaseClosedError):
            call()


def test_one_owner_at_a_time(kb: KnowledgeBase, home: Path) -> None:
    with pytest.raises(DatabaseLockedError):
        kbdb.open(home)
    kb.close()
    kbdb.open(home).close()


def test_only_init_makes_a_database(home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotADatabaseError):
        kbdb.open(tmp_path / "nowhere")
    with kbdb.open(tmp_path / "new", create=True) as made:
        made.learn(content="Fact.", title="Fact")
    with kbdb.open(tmp_path / "new", create=True) as again:
        assert titles(again, "fact") == ["Fact"]
    kbdb.init(home).close()
    with pytest.raises(DatabaseExistsError):
        kbdb.init(home)


def test_a_failed_write_changes_nothing(kb: KnowledgeBase, home: Path) -> None:
    grow(kb, home)
    before, generation = answers(kb, QUERIES), kb.generation
    passed: list[str] = []

    def full_disk(point: str) -> faults.Action | None:
        passed.append(point)
        return "enospc" if point == "sync:journal" and passed.count(point) == 1 else None

    for call in (
        lambda: kb.learn(content="Fact number six.", title="Six"),
        lambda: kb.unlearn(kbid(kb, "Apples")),
        lambda: kb.restore(next(item.kbid for item in kb.list("sections", state="forgotten").items)),
    ):
        passed.clear()
        with faults.hooked(full_disk), pytest.raises(StorageError):
            call()
        assert (answers(kb, QUERIES), kb.generation) == (before, generation)
    assert kb.check().ok


def test_an_index_that_cannot_be_written_is_told_and_costs_nothing(
    kb: KnowledgeBase, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "JOURNAL_LIMIT", 0)

    def full_disk(point: str) -> faults.Action | None:
        return "enospc" if point.endswith((":index", ":meta")) else None

    with faults.hooked(full_disk):
        learned = kb.learn(content="Fact number one.", title="One")
        assert any("could not be emptied" in warning for warning in learned.warnings)
        assert titles(kb, "fact") == ["One"]
        kb.close()
    with kbdb.open(home) as again:
        assert titles(again, "fact") == ["One"]
        assert again.check().ok


def test_a_long_journal_is_emptied_between_commits(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "JOURNAL_LIMIT", 2000)
    sizes = []
    for number in range(10):
        kb.learn(content=f"Fact number {number}. " + "word " * 100, title=f"Fact {number}")
        sizes.append(kb.status().journal_bytes)
    assert max(sizes) < 4000
    assert kb.search("fact number").total == 10
    assert kb.check().ok
    before = answers(kb, QUERIES)
    kb.rebuild()
    assert answers(kb, QUERIES) == before


def test_a_journal_of_many_commits_is_emptied_between_them_also_after_opening(
    kb: KnowledgeBase, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "JOURNAL_COMMITS", 8)
    held = []
    for number in range(20):
        kb.learn(content=f"Fact number {number}.", title=f"Fact {number}")
        held.append(kb._core.store.journal_commits)
    assert held == [1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2]
    kb.let_go()
    with kbdb.open(home) as again:
        assert again._core.store.journal_commits == 2


def test_segments_merge_so_that_few_remain(kb: KnowledgeBase) -> None:
    for number in range(40):
        kb.learn(content=f"Fact number {number}.", title=f"Fact {number}")
    assert kb.status().index.segments <= 6


def test_damaged_events_let_nothing_through(kb: KnowledgeBase, home: Path) -> None:
    grow(kb, home)
    kb.close()
    for path in (home / ".kbdb" / "events").glob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b'"kind":"forget"', b'"kind":"remember"'))
    with kbdb.open(home) as again:
        for call in (lambda: again.search("fact"), lambda: again.learn(content="x"), again.status, again.gc):
            with pytest.raises(KbdbError) as raised:
                call()
            assert raised.value.code == "CORRUPT"
        assert not again.check().ok


@pytest.mark.parametrize("damage", ["gone", "emptied", "cut"])
def test_lost_events_are_told_until_they_are_back_or_the_loss_is_accepted(
    kb: KnowledgeBase, home: Path, damage: str
) -> None:
    grow(kb, home)
    kb.close()
    (events,) = (home / ".kbdb" / "events").glob("*.jsonl")
    whole = events.read_bytes()
    if damage == "gone":
        events.unlink()
    else:
        events.write_bytes(b"" if damage == "emptied" else whole[: whole.index(b"\n") + 1])
    lost = "2 events" if damage == "cut" else "3 events"
    for _ in range(2):
        with kbdb.open(home) as again:
            learned = again.learn(content="More.", title="More")
            for told in (learned.warnings, again.search("pears").warnings, again.status().warnings):
                assert [warning.startswith(lost) for warning in told] == [True]
            (fault,) = again.check().errors
            assert (fault.code, fault.path) == ("EVENTS_MISSING", str(again.root / "events"))
            assert "copy" in fault.hint
            assert "kbdb rebuild" in fault.hint
    events.write_bytes(whole)
    with kbdb.open(home) as again:
        assert again.status().warnings == ()
        assert titles(again, "pears") == []
        assert again.check().ok
    events.unlink()
    with kbdb.open(home) as again:
        again.rebuild()
        assert again.check().ok
        assert again.status().warnings == ()
    with kbdb.open(home) as again:
        assert again.status().warnings == ()


def test_new_events_do_not_make_up_for_lost_ones(kb: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    grow(kb, home)
    kb._core.checkpoint()
    kb.unlearn(kbid(kb, "Apples"))
    shutil.copytree(kb.root, tmp_path / "crashed" / ".kbdb")
    kb.close()
    for path in (home / ".kbdb" / "events").glob("*.jsonl"):
        path.unlink()
    with kbdb.open(home) as again:
        for title in ("Fact 0", "Fact 1", "Pears", "Apples", "Pressing"):
            again.unlearn(kbid(again, title))
        again._core.checkpoint()
    with kbdb.open(home) as again:
        assert [one.code for one in again.check().errors] == ["EVENTS_MISSING"]
    with kbdb.open(tmp_path / "crashed") as crashed:
        assert crashed.status().warnings == ()


def test_manifests_that_something_else_brings_are_seen(kb: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    grow(kb, home)
    kb.close()
    pulled = tmp_path / "pulled"
    shutil.copytree(home, pulled)
    with kbdb.open(pulled) as other:
        other.learn([write(pulled / "new.md", "# Quinces\n\nQuinces need cooking.\n")])
    for part in ("sections", "documents"):
        shutil.copytree(pulled / ".kbdb" / part, home / ".kbdb" / part, dirs_exist_ok=True)
    with kbdb.open(home) as again:
        assert titles(again, "quinces") == ["Quinces"]
        assert again.check().ok
        assert any("made anew" in warning for warning in again.status().warnings)
    with kbdb.open(home) as settled:
        assert settled.status().warnings == ()


def test_a_section_left_out_of_the_index_is_told_by_every_search(kb: KnowledgeBase, home: Path) -> None:
    grow(kb, home)
    damaged = kbid(kb, "Apples")
    path = kb.root / "sections" / damaged[:2] / f"{damaged}.sec"
    path.write_bytes(path.read_bytes().replace(b"pples", b"pplez"))
    kb.rebuild()
    kb.close()
    with kbdb.open(home) as again:
        assert [one.kbid for one in again.search("juice").unreadable] == [damaged]
        again.learn([home / "guide.md"])
        assert again.search("juice").unreadable == ()


def test_files_that_a_full_disk_delayed_are_no_change_by_others(kb: KnowledgeBase, home: Path) -> None:
    with faults.hooked(lambda point: "enospc" if point == "write:documents" else None):
        kb.learn(content="Late but not lost.", title="Late")
    kb.close()
    with kbdb.open(home) as again:
        assert titles(again, "late") == ["Late"]
        assert again.status().warnings == ()


def in_many_pieces(kb: KnowledgeBase) -> None:
    """Lets each section be a piece of its own when the index is made anew."""
    kb._core.indexer.build_memory = 1


def folders(home: Path) -> set[str]:
    return {path.name for path in (home / ".kbdb" / "indexes").iterdir() if path.is_dir()}


def test_a_rebuild_in_pieces_gives_the_files_of_one_and_leaves_no_piece(kb: KnowledgeBase, home: Path) -> None:
    grow(kb, home)
    before = answers(kb, QUERIES)
    kb.rebuild()
    once = files_of(home)
    in_many_pieces(kb)
    seen: list[str] = []
    with faults.hooked(lambda point: seen.append(point)):
        assert kb.rebuild().sections == 9
    assert seen.count("write:index") > 4 * 9
    assert files_of(home) == once
    assert len(folders(home)) == 1
    assert answers(kb, QUERIES) == before


def test_a_rebuild_that_ends_between_its_pieces_leaves_the_old_index_and_the_next_opening_tidies_up(
    kb: KnowledgeBase, home: Path
) -> None:
    grow(kb, home)
    before = answers(kb, QUERIES)
    kb.close()
    old = files_of(home)
    passed = 0

    def end(point: str) -> None:
        nonlocal passed
        passed += point == "write:index"
        if passed == 14:
            raise KeyboardInterrupt

    with kbdb.open(home) as again:
        in_many_pieces(again)
        with faults.hooked(end), pytest.raises(KeyboardInterrupt):
            again.rebuild()
        left = folders(home)
        assert len(left) > 1
        copy = home.parent / "as a crash leaves it"
        shutil.copytree(home, copy, symlinks=True)
    assert all((copy / ".kbdb" / "indexes" / name).exists() for name in left)
    with kbdb.open(copy) as crashed:
        assert answers(crashed, QUERIES) == before
    assert len(folders(copy)) == 1
    assert files_of(copy).keys() == old.keys()


def test_a_rebuild_whose_pieces_find_no_room_on_disk_keeps_them_in_memory(kb: KnowledgeBase, home: Path) -> None:
    grow(kb, home)
    before = answers(kb, QUERIES)
    kb.rebuild()
    once = files_of(home)
    in_many_pieces(kb)
    full = True

    def fill(point: str) -> faults.Action | None:
        return "enospc" if full and point == "write:index" else None

    with faults.hooked(fill), pytest.raises(StorageError, match="disk is full"):
        kb.rebuild()
    assert answers(kb, QUERIES) == before
    full = False
    kb.rebuild()
    assert files_of(home) == once
    assert len(folders(home)) == 1
