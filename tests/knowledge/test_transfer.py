"""export and import: everything travels, nothing damaged gets in, what was decided goes on to hold."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from knowledge_base import GUIDE, answers, docid, kbid, read_back, state, titles, write

import kbdb
from kbdb import progress
from kbdb.errors import (
    CorruptError,
    HashMismatchError,
    InterruptedByUserError,
    InvalidArgumentError,
    KbdbError,
    SourceNotFoundError,
    StorageError,
)
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.transfer import read_package
from kbdb.progress import Progress
from kbdb.store import faults

QUERIES = ["apples", "press juice", "old new way", "pears tag:fruit", "nothing"]


@pytest.fixture
def full(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """A database with documents, a correction, something forgotten, a retired document and an old revision."""
    kb.learn([write(home / "guide.md", GUIDE)])
    kb.learn(content="the old way", title="Press", docid="press")
    kb.learn(content="the new way", title="Press", docid="press", replace=True)
    kb.unlearn(kbid(kb, "Pears"), reason="wrong")
    source = write(home / "gone" / "g.md", "# G\n\nretired apples\n")
    kb.learn([source])
    source.unlink()
    kb.learn([home / "gone"], prune=True)
    return kb


@pytest.fixture
def exported(full: KnowledgeBase, tmp_path: Path) -> Path:
    """An export of it."""
    full.export(tmp_path / "export")
    return tmp_path / "export"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """Another database, empty."""
    with kbdb.init(tmp_path / "other") as opened:
        yield opened


def reseal(export: Path) -> None:
    """Writes the list of hashes anew, as a forger would."""
    files = sorted(path for path in export.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(export).as_posix()}\n" for path in files]
    (export / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def test_an_import_gives_the_same_answers(full: KnowledgeBase, exported: Path, other: KnowledgeBase) -> None:
    taken = other.import_(exported)
    assert (taken.sections, taken.documents, taken.path) == (6, 3, str(exported))
    assert answers(other, QUERIES) == answers(full, QUERIES)
    assert other.check().ok
    generation = other.generation
    again = other.import_(exported)
    assert (again.sections, again.documents, other.generation) == (0, 0, generation)
    assert answers(other, QUERIES) == answers(full, QUERIES)


def test_an_export_holds_truth_and_its_hashes_only(full: KnowledgeBase, exported: Path) -> None:
    assert {path.name for path in exported.iterdir()} == {
        "catalog.toml", "sections", "documents", "events", "SHA256SUMS",
    }  # fmt: skip
    result = full.export(exported)
    assert (result.sections, result.documents, result.path) == (6, 3, str(exported))
    assert not list(exported.parent.glob("export*.*"))
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=exported, check=True)


def test_an_export_of_an_import_is_the_same_but_for_the_catalog(
    exported: Path, other: KnowledgeBase, tmp_path: Path
) -> None:
    other.import_(exported)
    other.export(tmp_path / "again")

    def contents(folder: Path) -> dict[str, bytes]:
        files = [*folder.glob("sections/*/*"), *folder.glob("documents/*"), *folder.glob("events/*")]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    assert contents(tmp_path / "again") == contents(exported)


@pytest.mark.parametrize("name", ["sections", "documents", "events", "catalog.toml", "SHA256SUMS"])
def test_any_changed_byte_is_refused_and_nothing_written(exported: Path, other: KnowledgeBase, name: str) -> None:
    path = next(path for path in sorted([exported / name, *exported.glob(f"{name}/**/*")]) if path.is_file())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises((HashMismatchError, CorruptError)):
        other.import_(exported)
    assert (other.generation, other.status().sections) == (0, 0)


def test_a_missing_or_an_extra_file_is_refused(exported: Path, other: KnowledgeBase) -> None:
    extra = write(exported / "documents" / "extra.toml", "x")
    with pytest.raises(HashMismatchError, match=r"extra\.toml"):
        other.import_(exported)
    extra.unlink()
    gone = next(exported.glob("sections/*/*.sec"))
    gone.unlink()
    with pytest.raises(HashMismatchError, match=gone.name):
        other.import_(exported)
    assert other.generation == 0


@pytest.mark.parametrize(
    "line",
    [
        "../outside",
        "sections/../../outside",
        "/etc/hostname",
        "sections\\..\\x",
        "",
        ".",
        "catalog.toml",
        "./catalog.toml",
    ],
)
def test_a_list_that_names_anything_else_is_refused(exported: Path, other: KnowledgeBase, line: str) -> None:
    write(exported.parent / "outside", "x")
    digest = sha256(b"x").hexdigest()
    with (exported / "SHA256SUMS").open("a", encoding="utf-8") as sums:
        sums.write(f"{digest}  {line}\n")
    with pytest.raises((CorruptError, HashMismatchError)):
        other.import_(exported)
    assert other.generation == 0


def test_a_list_that_is_not_text_is_refused(exported: Path, other: KnowledgeBase) -> None:
    (exported / "SHA256SUMS").write_bytes(b"\xff\xfe")
    with pytest.raises(CorruptError):
        other.import_(exported)


def test_files_under_wrong_names_are_refused_though_their_hashes_fit(exported: Path, other: KnowledgeBase) -> None:
    def refused() -> None:
        reseal(exported)
        with pytest.raises(CorruptError):
            other.import_(exported)
        assert other.generation == 0

    first, second = sorted(exported.glob("documents/*"))[:2]
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    refused()
    first.write_bytes(kept)
    section = next(exported.glob("sections/*/*.sec"))
    moved = section.rename(section.with_name("0" * 26 + ".sec"))
    refused()
    moved.rename(section)
    odd = write(exported / "odd.txt", "x")
    refused()
    odd.unlink()
    odd = write(exported / "events" / "odd.txt", "x")
    refused()
    odd.unlink()
    section.unlink()
    refused()


def test_an_event_that_says_something_else_here_is_refused(
    full: KnowledgeBase, exported: Path, other: KnowledgeBase
) -> None:
    other.import_(exported)
    generation = other.generation
    (events,) = exported.glob("events/*")
    events.write_bytes(events.read_bytes().replace(b'"reason":"wrong"', b'"reason":"right"'))
    reseal(exported)
    with pytest.raises(CorruptError, match="twice"):
        other.import_(exported)
    assert other.generation == generation
    assert full.check().ok


def test_what_this_database_forgot_stays_forgotten(
    full: KnowledgeBase, exported: Path, other: KnowledgeBase, home: Path
) -> None:
    other.learn([write(home / "mine.md", "## Apples\n\nApples keep in a cool cellar until spring.\n")])
    mine = kbid(other, "Apples")
    other.unlearn(mine)
    taken = other.import_(exported)
    assert taken.suppressed == 2
    assert titles(other, "cellar") == []
    assert titles(full, "cellar") == ["Apples"]
    assert kbid(full, "Apples") != mine
    assert state(other, kbid(full, "Apples")) == "forgotten"
    assert titles(other, "juice") == ["Pressing"]
    assert other.check().ok


def test_what_was_forgotten_there_is_forgotten_here_too(exported: Path, other: KnowledgeBase, home: Path) -> None:
    other.learn([write(home / "mine.md", "# Pears\n\nPears ripen off the tree.\n")])
    assert titles(other, "ripen") == ["Pears"]
    other.import_(exported)
    assert titles(other, "ripen") == []
    other.restore(next(item.kbid for item in other.list("sections").items if item.title == "Pears"))
    assert titles(other, "ripen") == ["Pears"]


def test_a_text_forgotten_there_goes_here_in_whatever_clothes(exported: Path, other: KnowledgeBase, home: Path) -> None:
    other.learn([write(home / "mine.md", "### Pears\n\nPears *ripen* off the tree!\n\n# More pears\n\nripen\n")])
    mine = kbid(other, "Pears")
    other.import_(exported)
    assert state(other, mine) == "forgotten"
    assert titles(other, "ripen") == ["More pears"]
    other.restore(mine)
    assert [hit.kbid for hit in other.search("tree").hits] == [mine]
    assert other.check().ok


def test_of_two_versions_the_newer_one_stays(kb: KnowledgeBase, other: KnowledgeBase, tmp_path: Path) -> None:
    kb.learn(content="first", title="T", docid="d")
    kb.export(tmp_path / "old")
    other.import_(tmp_path / "old")
    manifest = other._core.store.read_manifest("d")
    later = manifest.updated.replace("2", "3", 1)
    newer = other.learn(content="second", title="T", docid="d", replace=True)
    from dataclasses import replace

    from kbdb.store.store import Change

    other._core.commit([Change(manifests=(replace(other._core.store.read_manifest("d"), updated=later),))])
    assert other.import_(tmp_path / "old").documents == 0
    assert titles(other, "first second") == ["T"]
    other.export(tmp_path / "new")
    assert kb.import_(tmp_path / "new").documents == 1
    assert read_back(kb, "d") == b"second"
    assert [hit.kbid for hit in kb.search("second").hits] == list(newer.kbids)
    assert kb.check().ok


def test_an_import_is_one_commit_or_none(exported: Path, other: KnowledgeBase) -> None:
    passed: list[str] = []

    def full_disk(point: str) -> faults.Action | None:
        passed.append(point)
        return "enospc" if passed.count("sync:journal") == 1 and point == "sync:journal" else None

    with faults.hooked(full_disk), pytest.raises(KbdbError):
        other.import_(exported)
    assert (other.generation, other.status().sections) == (0, 0)
    other.import_(exported)
    assert other.generation == 1


@pytest.mark.parametrize(
    ("since", "point", "nth"),
    [
        ("", "make:folder", 2),
        ("", "write:export", 1),
        ("", "write:export", 5),
        ("", "sync:many", 1),
        ("sync:many", "rename:export", 1),
        ("sync:many", "rename:export", 2),
    ],
)
def test_a_failed_export_leaves_everything_as_it_was(
    full: KnowledgeBase, exported: Path, tmp_path: Path, since: str, point: str, nth: int
) -> None:
    passed: list[str] = []

    def full_disk(name: str) -> faults.Action | None:
        if name == since:
            passed.clear()
        passed.append(name)
        return "enospc" if name == point and passed.count(point) == nth and (not since or since in passed) else None

    full.learn(content="more", title="More")
    before = {path: path.read_bytes() for path in exported.rglob("*") if path.is_file()}
    with faults.hooked(full_disk), pytest.raises(StorageError):
        full.export(exported)
    assert {path.name for path in tmp_path.iterdir()} == {"home", "export"}
    assert {path: path.read_bytes() for path in exported.rglob("*") if path.is_file()} == before


def damage_section(root: Path) -> None:
    path = next(root.glob("sections/*/*.sec"))
    path.write_bytes(path.read_bytes()[:-1])


def remove_section(root: Path) -> None:
    listed = min(root.glob("documents/press*")).read_text("utf-8").split('kbid = "')[1][:26]
    (root / "sections" / listed[:2] / f"{listed}.sec").unlink()


def swap_sections(root: Path) -> None:
    first, second = list(root.glob("sections/*/*.sec"))[:2]
    first.write_bytes(second.read_bytes())


def damage_manifest(root: Path) -> None:
    path = next(root.glob("documents/*.toml"))
    path.write_bytes(path.read_bytes()[:-20])


def swap_manifests(root: Path) -> None:
    first, second = list(root.glob("documents/*.toml"))[:2]
    first.write_bytes(second.read_bytes())


def damage_events(root: Path) -> None:
    (path,) = root.glob("events/*")
    path.write_bytes(path.read_bytes()[:-3])


def contradict_events(root: Path) -> None:
    (path,) = root.glob("events/*")
    twin = path.with_name("0123456789" + path.name[path.name.index("-") :])
    write(twin, path.read_bytes().replace(b'"reason":"wrong"', b'"reason":"right"'))


@pytest.mark.parametrize(
    "damage",
    [
        damage_section,
        remove_section,
        swap_sections,
        damage_manifest,
        swap_manifests,
        damage_events,
        contradict_events,
    ],
)
def test_what_could_not_be_imported_is_not_exported(
    full: KnowledgeBase, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    damage(full.root)
    with pytest.raises(CorruptError, match=str(full.root)) as raised:
        full.export(tmp_path / "out")
    assert "kbdb check" in raised.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_only_an_earlier_export_is_replaced(full: KnowledgeBase, exported: Path, tmp_path: Path) -> None:
    full.learn(content="more", title="More")
    assert full.export(exported).documents == 4
    precious = tmp_path / "precious"
    write(precious / "SHA256SUMS", "x  thesis.txt\n")
    write(precious / "thesis.txt", "x")
    for folder in (precious, tmp_path / "file", full.root, full.root / "export", full.root.parent):
        if folder.name == "file":
            write(folder, "x")
        with pytest.raises(InvalidArgumentError):
            full.export(folder)
    write(exported / "mine.txt", "x")
    with pytest.raises(InvalidArgumentError):
        full.export(exported)
    assert (precious / "thesis.txt").exists()
    (tmp_path / "empty").mkdir()
    assert full.export(tmp_path / "empty").sections == 7


def test_importing_nothing_is_an_error(other: KnowledgeBase, tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(SourceNotFoundError):
            other.import_(path)


def test_documents_keep_their_bytes(full: KnowledgeBase, exported: Path, other: KnowledgeBase) -> None:
    other.import_(exported)
    for item in full.list().items:
        assert read_back(other, item.docid) == read_back(full, item.docid)
    assert docid(full.learn(content="x", title="y")) not in {item.docid for item in other.list().items}


@pytest.mark.parametrize("name", [".out.kbdb-new", ".out.kbdb-old", "out.tmp", "out.old"])
def test_an_export_removes_nothing_that_is_not_its_own(full: KnowledgeBase, tmp_path: Path, name: str) -> None:
    precious = tmp_path / name / "precious.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    if name.startswith("."):
        with pytest.raises(InvalidArgumentError):
            full.export(tmp_path / "out")
    else:
        full.export(tmp_path / "out")
        full.export(tmp_path / "out")
    assert precious.read_text() == "mine"


def test_an_export_never_goes_through_a_link(full: KnowledgeBase, tmp_path: Path) -> None:
    full.export(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(InvalidArgumentError):
        full.export(tmp_path / "link")
    assert read_package(tmp_path / "real").manifests


def test_an_export_tells_how_far_it_is_and_ends_early_without_a_trace(
    full: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "TOLD_EACH", 1)
    steps: list[Progress] = []
    full.export(tmp_path / "whole", steps.append)
    assert [step.done for step in steps] == list(range(1, steps[0].total + 1))

    def interrupt(step: Progress) -> None:
        if step.done == 2:
            raise InterruptedByUserError("interrupted")

    with pytest.raises(InterruptedByUserError):
        full.export(tmp_path / "part", interrupt)
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []
