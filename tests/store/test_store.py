"""kbdb.store.store: what is committed is read back, by whom, in which state, and how a database is made and opened."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kbdb.errors import (
    CorruptError,
    DatabaseClosedError,
    DatabaseExistsError,
    DatabaseLockedError,
    DocumentNotFoundError,
    InvalidIdError,
    NotADatabaseError,
    SectionNotFoundError,
    StorageError,
    UnsupportedFormatError,
)
from kbdb.store import faults, trace
from kbdb.store.journal import Journal
from kbdb.store.section import decode_section
from kbdb.store.store import Change, Store
from tests.crash.history import WRITER, event, manifest, section

A, B = section("a"), section("b")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "with späces" / ".kbdb"


@pytest.fixture
def store(root: Path) -> Iterator[Store]:
    made = Store.create(root)
    yield made
    made.close()


def _everything() -> Change:
    return Change((A, B), (manifest("one", "a", "b"),), (event(1, "a"), event(2, "b", month=2)))


def _check_everything(store: Store) -> None:
    assert store.section_ids() == sorted([A.kbid, B.kbid])
    assert store.read_section(A.kbid) == A
    assert store.manifest_ids() == ["one"]
    assert store.read_manifest("one") == manifest("one", "a", "b")
    assert store.read_events() == [event(1, "a"), event(2, "b", month=2)]
    assert store.event_files() == [f"{WRITER}-2026-01.jsonl", f"{WRITER}-2026-02.jsonl"]


def test_a_new_database_is_private_empty_and_kind_to_git(root: Path) -> None:
    store = Store.create(root)
    assert root.stat().st_mode & 0o777 == 0o700
    assert (store.generation, store.recovered, store.section_ids(), store.manifest_ids()) == (0, (), [], [])
    assert (root / ".gitattributes").read_text() == "* -text\n"
    store.commit(_everything())
    store.checkpoint()
    (root / "indexes" / "meta.toml").write_bytes(b"")
    store.close()
    subprocess.run(["git", "init", "-q", root.parent], check=True)
    subprocess.run(["git", "-C", root.parent, "add", "-A"], check=True)
    listed = subprocess.run(["git", "-C", root.parent, "ls-files"], check=True, capture_output=True, text=True)
    names = {Path(line).parts[1] for line in listed.stdout.splitlines()}
    assert names == {".gitattributes", ".gitignore", "catalog.toml", "documents", "events", "sections"}


def test_what_is_committed_is_read_before_and_after_checkpoint_and_reopening(root: Path, store: Store) -> None:
    assert store.commit(_everything()) == 1
    _check_everything(store)
    store.close()
    store = Store.open(root)
    assert store.recovered == (_everything(),)
    _check_everything(store)
    store.checkpoint()
    assert not store.recovered
    _check_everything(store)
    store.close()
    store = Store.open(root)
    assert (store.recovered, store.generation) == ((), 1)
    _check_everything(store)
    store.close()


def test_appended_changes_are_read_at_once_and_acknowledged_by_sync(root: Path, store: Store) -> None:
    assert store.append(Change(sections=(A,))) == 1
    assert store.append(Change(events=(event(1, "a"),))) == 2
    assert store.append(Change(sections=(B,), manifests=(manifest("one", "a", "b"),))) == 3
    assert store.append(Change(events=(event(2, "b", month=2),))) == 4
    _check_everything(store)
    assert store.generation == 0
    store.sync()
    assert store.generation == 4
    _check_everything(store)
    store.append(Change(removed_sections=(A.kbid,), removed_documents=("one",)))
    assert not store.has_section(A.kbid)
    assert not store.has_manifest("one")
    assert store.section_ids() == [B.kbid]
    store.close()
    store = Store.open(root)
    assert store.generation == 4
    assert len(store.recovered) == 4
    _check_everything(store)
    store.close()


def test_when_one_of_several_changes_cannot_be_stored_none_is(store: Store) -> None:
    with pytest.raises(InvalidIdError):
        store.commit(Change(sections=(A,)), Change(removed_sections=("no kbid",)))
    assert store.section_ids() == []
    store.sync()
    assert (store.generation, store.section_ids()) == (0, [])
    assert store.commit(Change(sections=(A,)), Change(sections=(B,))) == 2


def test_removal_goes_through_the_journal(root: Path, store: Store) -> None:
    store.commit(_everything())
    store.checkpoint()
    change = Change(removed_sections=(A.kbid,), removed_documents=("one",))
    store.commit(change)
    assert not Path(store.layout.section(A.kbid)).exists()
    with pytest.raises(SectionNotFoundError, match=A.kbid):
        store.read_section(A.kbid)
    with pytest.raises(DocumentNotFoundError, match="one"):
        store.read_manifest("one")
    store.close()
    store = Store.open(root)
    assert store.recovered == (change,)
    assert store.section_ids() == [B.kbid]
    store.close()


def test_ten_thousand_sections_take_few_syncs(store: Store) -> None:
    seen: Counter[str] = Counter()
    with trace.observed(lambda operation: seen.update([operation.kind])):
        for number in range(10_000):
            store.append(Change(sections=(section(f"s{number}"),)))
            if number % 500 == 499:
                store.sync()
        store.checkpoint()
    assert len(store.section_ids()) == 10_000
    assert seen["rename"] >= 10_000
    # One for each of 20 syncs of the journal, the new journal and its folder, and the whole file system's; where that
    # cannot be synced at once a checkpoint syncs each file.
    if seen["sync_all"]:
        assert seen["sync_file"] + seen["sync_folder"] + seen["sync_all"] < 30


def test_threads_commit_one_after_the_other_and_read_meanwhile(store: Store) -> None:
    faults_seen: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(10):
                mine = section(f"{name}-{number}")
                store.commit(Change(sections=(mine,), events=(event(number, f"{name}-{number}"),)))
                assert store.read_section(mine.kbid) == mine
                store.read_events()
                if number == 5:
                    store.checkpoint()
        except BaseException as error:
            faults_seen.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults_seen == []
    assert (store.generation, len(store.section_ids()), len(store.read_events())) == (40, 40, 40)


def test_one_owner_at_a_time(root: Path, store: Store) -> None:
    with pytest.raises(DatabaseLockedError, match=str(os.getpid())):
        Store.open(root)
    store.close()
    Store.open(root).close()


def test_a_second_create_is_refused_and_changes_nothing(root: Path, store: Store) -> None:
    store.commit(_everything())
    catalog = store.catalog
    with pytest.raises(DatabaseExistsError):
        Store.create(root)
    store.close()
    with pytest.raises(DatabaseExistsError):
        Store.create(root)
    store = Store.open(root)
    assert store.catalog == catalog
    _check_everything(store)
    store.close()


def test_create_keeps_what_people_wrote_before(root: Path) -> None:
    root.mkdir(parents=True, mode=0o755)
    (root / "worker.toml").write_text("[search]\n")
    with faults.hooked(lambda p: "enospc" if p == "write:catalog" else None), pytest.raises(StorageError):
        Store.create(root)
    assert (root / "worker.toml").exists()
    Store.create(root).close()
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert (root / "worker.toml").read_text() == "[search]\n"


def test_a_create_that_fails_leaves_no_folder(root: Path) -> None:
    full = faults.hooked(lambda p: "enospc" if p == "write:catalog" else None)
    with full, pytest.raises(StorageError, match="disk is full"):
        Store.create(root)
    assert not root.exists()


def test_truth_files_without_a_catalog_are_not_written_over(root: Path, store: Store) -> None:
    store.commit(_everything())
    store.close()
    (root / "catalog.toml").unlink()
    with pytest.raises(NotADatabaseError) as caught:
        Store.open(root)
    assert "kbdb init" in caught.value.hint
    with pytest.raises(CorruptError, match=r"but no catalog\.toml"):
        Store.create(root)
    assert (root / "journal.log").exists()


def test_a_folder_without_a_database_says_how_to_make_one(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none", tmp_path / "none" / ".kbdb"):
        with pytest.raises(NotADatabaseError) as caught:
            Store.open(place)
        assert "kbdb init" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_newer_format_is_refused_and_the_lock_given_back(root: Path, store: Store) -> None:
    store.close()
    text = (root / "catalog.toml").read_text()
    (root / "catalog.toml").write_text(text.replace("format = 1", "format = 2"))
    for _ in range(2):
        with pytest.raises(UnsupportedFormatError):
            Store.open(root)


def test_a_clone_without_journal_and_index_opens_with_another_writer(root: Path, store: Store, tmp_path: Path) -> None:
    store.commit(_everything())
    store.checkpoint()
    store.close()
    clone = tmp_path / "clone" / ".kbdb"
    shutil.copytree(root, clone)
    (clone / "journal.log").unlink()
    (clone / "indexes" / "meta.toml").write_bytes(b"generation = 99\n")
    copy = Store.open(clone)
    assert copy.generation == 1
    assert copy.writer != store.writer
    assert not (clone / "indexes" / "meta.toml").exists()
    _check_everything(copy)
    copy.close()
    again = Store.open(clone)
    assert again.writer == copy.writer
    again.close()


def test_opening_sweeps_temporary_files(root: Path, store: Store) -> None:
    store.commit(_everything())
    store.close()
    left = [root / "catalog.toml.tmp", root / "sections" / A.kbid[:2] / "x.sec.tmp", root / "events" / "y.tmp"]
    for path in left:
        path.write_bytes(b"half")
    Store.open(root).close()
    assert [path for path in left if path.exists()] == []


def test_a_damaged_file_is_named_when_it_is_read(store: Store) -> None:
    store.commit(_everything())
    path = Path(store.layout.section(A.kbid))
    path.write_bytes(path.read_bytes().replace(b"What a says", b"What b says"))
    with pytest.raises(CorruptError, match=A.kbid):
        store.read_section(A.kbid)
    path.write_bytes(store.section_bytes(B.kbid))
    with pytest.raises(CorruptError, match="holds section"):
        store.read_section(A.kbid)
    assert store.section_size(B.kbid) == len(store.section_bytes(B.kbid))


def test_a_damaged_journal_is_refused_and_left_alone(root: Path, store: Store) -> None:
    store.commit(Change(sections=(A,)))
    end = store.journal_bytes
    store.commit(Change(sections=(B,)))
    store.close()
    data = bytearray((root / "journal.log").read_bytes())
    data[end - 10] ^= 1
    (root / "journal.log").write_bytes(data)
    with pytest.raises(CorruptError, match=r"journal\.log"):
        Store.open(root)
    assert (root / "journal.log").read_bytes() == data
    # What the error advises.
    (root / "journal.log").rename(root / "journal.bad")
    store = Store.open(root)
    assert store.section_ids() == sorted([A.kbid, B.kbid])
    store.close()


@pytest.mark.parametrize("bad", ["", "../../etc/passwd", A.kbid.upper(), A.kbid[:-1]])
def test_ids_that_are_none_never_become_paths(bad: str, store: Store) -> None:
    for call in (store.has_section, store.read_section, store.section_bytes, store.section_size):
        with pytest.raises(InvalidIdError):
            call(bad)
    with pytest.raises(InvalidIdError):
        store.commit(Change(removed_sections=(bad,)))
    for bad_docid in ("", "../x", "CON", "con"):
        with pytest.raises(InvalidIdError):
            store.read_manifest(bad_docid)
        with pytest.raises(InvalidIdError):
            store.commit(Change(removed_documents=(bad_docid,)))
    assert store.generation == 0


def test_strange_files_are_not_taken_for_sections(store: Store) -> None:
    store.commit(_everything())
    folder = Path(store.layout.section(A.kbid)).parent
    (folder / "notes.sec").write_bytes(b"")
    (folder / "README").write_bytes(b"")
    (store.layout.sections / "file").write_bytes(b"")
    (store.layout.documents / "UPPER.toml").write_bytes(b"")
    (store.layout.events / "other.txt").write_bytes(b"")
    _check_everything(store)


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    for call in (store.section_ids, store.manifest_ids, store.read_events, store.sync, store.checkpoint):
        with pytest.raises(DatabaseClosedError):
            call()
    with pytest.raises(DatabaseClosedError):
        store.commit(Change())


def test_a_database_that_may_only_be_read_opens_for_reading(root: Path, store: Store) -> None:
    store.commit(_everything())
    store.close()
    paths = [root, *root.rglob("*")]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        if os.access(root / "lock", os.W_OK):
            pytest.skip("this user may write anywhere")
        store = Store.open(root)
        _check_everything(store)
        with pytest.raises(StorageError, match="can only be read"):
            store.commit(Change(sections=(section("c"),)))
        _check_everything(store)
        store.close()
    finally:
        for path in paths:
            path.chmod(0o700)


def test_files_of_a_failed_sync_are_written_anew_before_the_journal_lets_them_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Store.create(tmp_path / ".kbdb")) as store:
        store.commit(Change(sections=(A,)))
        path = Path(store.layout.section(A.kbid))
        with monkeypatch.context() as patched, faults.hooked(lambda point: "eio" if point == "sync:many" else None):
            patched.setattr(Journal, "commits", _refuse)
            with pytest.raises(StorageError):
                store.checkpoint()
        path.write_bytes(b"")  # what a disk may have kept of it
        store.checkpoint()
        assert decode_section(path.read_bytes(), path) == A
        assert store.journal_bytes < 100


def _refuse(journal: Journal) -> None:
    raise StorageError(f"cannot read {journal}")


def _remove(root: Path) -> None:
    shutil.rmtree(root)


def _move(root: Path) -> None:
    root.rename(root.parent / "moved")


def _remove_the_journal_first(root: Path) -> None:
    (root / "journal.log").unlink()


@pytest.mark.parametrize("vanish", [_remove, _move, _remove_the_journal_first])
def test_nothing_is_acknowledged_or_written_where_the_database_was_removed(
    root: Path, store: Store, vanish: Callable[[Path], None]
) -> None:
    store.commit(Change(sections=(A,)))
    vanish(root)
    left = sorted(root.parent.rglob("*"))
    for call in (lambda: store.commit(Change(sections=(B,))), store.sync, store.checkpoint):
        with pytest.raises(NotADatabaseError, match="was removed"):
            call()
    store.close()
    assert sorted(root.parent.rglob("*")) == left


def test_a_commit_is_not_acknowledged_when_the_database_is_removed_during_its_sync(root: Path, store: Store) -> None:
    def remove(point: str) -> None:
        if point == "sync:journal":
            shutil.rmtree(root)

    with faults.hooked(remove), pytest.raises(NotADatabaseError, match="was removed"):
        store.commit(Change(sections=(A,)))
    assert not root.exists()


def test_files_whose_folder_vanished_are_written_but_the_databases_own_is_not_made_again(
    root: Path, store: Store
) -> None:
    shutil.rmtree(root / "sections")
    store.commit(Change(sections=(A,)))
    assert store.read_section(A.kbid) == A

    def remove(point: str) -> None:
        if point == "write:sections" and root.exists():
            shutil.rmtree(root)

    with faults.hooked(remove):
        store.commit(Change(sections=(B, section("c"))))
    with pytest.raises(NotADatabaseError):
        store.checkpoint()
    assert not root.exists()


def _end_without_a_checkpoint(store: Store) -> dict[Path, int]:
    """Closes it as a killed process would, and tells where its sections and manifests lie."""
    store.close()
    paths = [path for folder in ("sections", "documents") for path in (store.layout.root / folder).rglob("*.*")]
    return {path: path.stat().st_ino for path in paths}


def test_opening_after_a_crash_writes_files_that_are_right_again_without_making_others(
    root: Path, store: Store
) -> None:
    store.commit(_everything())
    stood, seen = _end_without_a_checkpoint(store), list[trace.FileOperation]()
    with trace.observed(seen.append), closing(Store.open(root)) as again:
        _check_everything(again)
    assert len(stood) == 3
    assert stood == {path: path.stat().st_ino for path in stood}
    for path in stood:
        # The system may take it for written although that failed.
        assert [(op.kind, op.offset, op.data) for op in seen if op.path == path] == [("write", 0, path.read_bytes())]


@pytest.mark.parametrize("found", [b"", b"shorter", None])
def test_opening_after_a_crash_replaces_files_that_are_not_right(root: Path, store: Store, found: bytes | None) -> None:
    store.commit(_everything())
    for path in _end_without_a_checkpoint(store):
        whole = path.read_bytes()
        path.write_bytes(bytes(len(whole)) if found is None else found)
    with closing(Store.open(root)) as again:
        _check_everything(again)


def test_of_many_changes_of_a_file_opening_writes_only_the_last(root: Path, store: Store) -> None:
    for names in ("a", "b", "ab"):
        store.commit(Change((A, B), (manifest("one", *names),)))
    store.commit(Change(removed_sections=(B.kbid,)))
    store.commit(Change(sections=(B,)))
    store.commit(Change(removed_sections=(A.kbid,)))
    _end_without_a_checkpoint(store)
    seen: Counter[str] = Counter()
    with trace.observed(lambda operation: seen.update([operation.path.name])), closing(Store.open(root)) as again:
        assert again.read_manifest("one") == manifest("one", "a", "b")
        assert again.section_ids() == [B.kbid]
    assert seen["one.toml"] == seen[f"{B.kbid}.sec"] == 1
    assert not seen[f"{A.kbid}.sec"]
