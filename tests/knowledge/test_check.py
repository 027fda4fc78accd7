"""check: each kind of damage is found, named by its code, and mended by what the hint says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from knowledge_base import GUIDE, answers, docid, kbid, statuses, titles, write

import kbdb
from kbdb.errors import CorruptError
from kbdb.knowledge import KnowledgeBase
from kbdb.model.upkeep import CheckResult


@pytest.fixture
def guide(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """A database with a document and a forgotten section."""
    kb.learn([write(home / "guide.md", GUIDE)])
    kb.unlearn(kbid(kb, "Pears"))
    return kb


def section_file(kb: KnowledgeBase, title: str) -> Path:
    found = next(item.kbid for item in kb.list("sections").items if item.title == title)
    return kb.root / "sections" / found[:2] / f"{found}.sec"


def manifest_file(kb: KnowledgeBase) -> Path:
    (path,) = (kb.root / "documents").glob("guide-*.toml")
    return path


def codes(result: CheckResult) -> list[str]:
    assert all(fault.message and fault.hint and fault.path for fault in (*result.errors, *result.warnings))
    assert result.ok is not result.errors
    return [fault.code for fault in (*result.errors, *result.warnings)]


def test_a_sound_database_is_ok(guide: KnowledgeBase) -> None:
    result = guide.check()
    assert (result.ok, codes(result), result.sections, result.documents) == (True, [], 3, 1)


def damage_section(kb: KnowledgeBase) -> None:
    path = section_file(kb, "Apples")
    path.write_bytes(path.read_bytes().replace(b"cool", b"warm"))


def swap_sections(kb: KnowledgeBase) -> None:
    section_file(kb, "Apples").write_bytes(section_file(kb, "Pears").read_bytes())


def remove_section(kb: KnowledgeBase) -> None:
    section_file(kb, "Apples").unlink()


def damage_manifest(kb: KnowledgeBase) -> None:
    path = manifest_file(kb)
    path.write_bytes(path.read_bytes()[:-20])


def change_manifest(kb: KnowledgeBase) -> None:
    path = manifest_file(kb)
    path.write_bytes(path.read_bytes().replace(b'gap = "\\n\\n"', b'gap = "\\n"', 1))


def stray_section(kb: KnowledgeBase) -> None:
    write(kb.root / "sections" / "zz" / "noise", "x")


def stray_document(kb: KnowledgeBase) -> None:
    write(kb.root / "documents" / "Not A Docid.toml", "x")


def stray_event(kb: KnowledgeBase) -> None:
    write(kb.root / "events" / "notes.txt", "x")


def damage_events(kb: KnowledgeBase) -> None:
    (path,) = (kb.root / "events").glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"kind":"forget"', b'"kind":"forgot"'))


def contradict_events(kb: KnowledgeBase) -> None:
    (path,) = (kb.root / "events").glob("*.jsonl")
    writer = path.name.partition("-")[0]
    line = path.read_bytes().replace(writer.encode(), b"0123456789").replace(b'"forget"', b'"invalidate"')
    write(path.with_name(path.name.replace(writer, "0123456789")), line)


def speak_of_unknown_things(kb: KnowledgeBase) -> None:
    (path,) = (kb.root / "events").glob("*.jsonl")
    line = path.read_bytes()
    event_id = line.split(b'"')[3]
    new = event_id[:-1] + (b"0" if event_id[-1:] != b"0" else b"4")
    known = section_file(kb, "Pears").stem.encode()
    path.write_bytes(line + line.replace(event_id, new).replace(known, b"0" * 26))


FAULTS: dict[str, tuple[Callable[[KnowledgeBase], None], list[str]]] = {
    "damaged section": (damage_section, ["SECTION_CORRUPT"]),
    "another's section": (swap_sections, ["SECTION_CORRUPT"]),
    "missing section": (remove_section, ["SECTION_MISSING", "INDEX_EXTRA"]),
    "damaged manifest": (damage_manifest, ["MANIFEST_CORRUPT", "INDEX_DIFFERS"]),
    "changed manifest": (change_manifest, ["DOCUMENT_DIFFERS"]),
    "stray section": (stray_section, ["STRAY_FILE"]),
    "stray document": (stray_document, ["STRAY_FILE"]),
    "stray event file": (stray_event, ["STRAY_FILE"]),
    "damaged events": (damage_events, ["EVENTS_CORRUPT"]),
    "contradicting events": (contradict_events, ["EVENTS_DIFFER"]),
    "unknown section": (speak_of_unknown_things, ["EVENT_OF_UNKNOWN_SECTION"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_damaged_truth_is_named(guide: KnowledgeBase, home: Path, name: str) -> None:
    damage, expected = FAULTS[name]
    damage(guide)
    result = guide.check()
    assert list(dict.fromkeys(codes(result))) == expected
    assert result.ok is (name.startswith(("stray", "unknown")))
    guide.close()
    with kbdb.open(home) as again:
        found = codes(again.check())
        assert found[0] == expected[0]
        assert set(found) <= {*expected, "INDEX_MISSING", "INDEX_DIFFERS"}


@pytest.mark.parametrize("damage", [damage_section, swap_sections, remove_section, damage_manifest, change_manifest])
def test_learning_the_source_again_mends_a_document(
    guide: KnowledgeBase, home: Path, damage: Callable[[KnowledgeBase], None]
) -> None:
    before = answers(guide, ["apples", "pears", "juice"])
    damage(guide)
    # Of a manifest that cannot be read nothing is known, so its document is a new one.
    expected = "added" if damage is damage_manifest else "updated"
    assert statuses(guide.learn([home / "guide.md"])) == {"guide.md": expected}
    assert guide.check().ok
    after = answers(guide, ["apples", "pears", "juice"])
    assert (after["searches"], after["contents"], after["states"]) == (
        before["searches"],
        before["contents"],
        before["states"],
    )


@pytest.mark.parametrize("damage", [damage_section, remove_section, damage_manifest])
def test_a_rebuild_leaves_out_what_is_damaged_and_says_so(
    guide: KnowledgeBase, home: Path, damage: Callable[[KnowledgeBase], None]
) -> None:
    guide.learn(content="Plums are blue.", title="Plums")
    damage(guide)
    guide.rebuild()
    assert titles(guide, "plums") == ["Plums"]
    if damage is not remove_section:
        assert any("left out of the index" in warning for warning in guide.search("plums").warnings)
        assert any("left out of the index" in warning for warning in guide.status().warnings)
    guide.learn([home / "guide.md"])
    assert "Apples" in titles(guide, "apples")
    assert guide.check().ok


def test_a_rebuild_tells_what_it_left_out_and_forgets_what_was_mended(guide: KnowledgeBase, home: Path) -> None:
    assert guide.rebuild().warnings == ()
    damage_section(guide)
    (told,) = guide.rebuild().warnings
    assert "left out of the index" in told
    assert ".sec" in told
    guide.learn([home / "guide.md"])
    assert guide.rebuild().warnings == ()
    assert guide.status().warnings == ()


@pytest.mark.parametrize("gone", [False, True])
def test_no_hint_makes_the_loss_of_a_manifest_permanent(guide: KnowledgeBase, home: Path, gone: bool) -> None:
    path = manifest_file(guide)
    if gone:
        path.unlink()
    else:
        damage_manifest(guide)
    faults = guide.check().errors
    assert {fault.code for fault in faults} - {"MANIFEST_CORRUPT"} == {"INDEX_DIFFERS"}
    assert all("restore the manifest from a copy or learn its source again" in fault.hint for fault in faults)
    assert all(path.stem in fault.message for fault in faults)
    guide.learn([home / "guide.md"])
    assert guide.check().ok


def test_learning_goes_on_beside_damage(guide: KnowledgeBase, home: Path) -> None:
    write(home / "b.md", "# B\n\nbeta\n\n# Apples\n\nApples keep in a cool cellar until spring.\n")
    damage_manifest(guide)
    remove_section(guide)
    learned = guide.learn([home / "b.md"])
    assert statuses(learned) == {"b.md": "added"}
    assert sorted(titles(guide, "beta cellar")) == ["Apples", "B"]
    folder = guide.learn([home], prune=True)
    assert (statuses(folder), folder.pruned) == ({"b.md": "unchanged", "guide.md": "added"}, ())
    assert guide.check().ok


def indexed(kb: KnowledgeBase, home: Path) -> Path:
    """The folder of the one segment, of a closed database."""
    kb.close()
    (folder,) = (path for path in (home / ".kbdb" / "indexes").iterdir() if path.is_dir())
    return folder


@pytest.mark.parametrize("name", ["terms.idx", "positions.idx", "corpus.dat", "references.idx"])
@pytest.mark.parametrize("place", ["start", "end", "gone"])
def test_a_damaged_index_is_named_and_rebuilt(guide: KnowledgeBase, home: Path, name: str, place: str) -> None:
    expected = answers(guide, ["apples", "pears"])
    path = indexed(guide, home) / name
    data = bytearray(path.read_bytes())
    if place == "gone":
        path.unlink()
    else:
        data[30 if place == "start" else -1] ^= 0xFF
        path.write_bytes(data)
    with kbdb.open(home) as again:
        assert codes(again.check()) == ["INDEX_CORRUPT"]
        again.rebuild()
        assert again.check().ok
        assert answers(again, ["apples", "pears"]) == expected


def test_learning_on_a_damaged_index_stores_and_a_rebuild_mends(guide: KnowledgeBase, home: Path) -> None:
    folder = indexed(guide, home)
    for name in ("terms.idx", "positions.idx"):
        path = folder / name
        data = bytearray(path.read_bytes())
        for place in range(200, len(data), 7):
            data[place] ^= 0x55
        path.write_bytes(data)
    for number in range(3):
        with kbdb.open(home) as again:
            again.learn(content=f"Plums {number} are blue and keep in a cool cellar.", title="Plums")
    with kbdb.open(home) as again:
        again.rebuild()
        assert again.search("plums").total == 3
        assert again.check().ok


def test_an_index_too_damaged_to_take_a_change_in_is_made_anew(
    guide: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise CorruptError("indexes/1/corpus.dat is damaged at byte 7", "run: kbdb rebuild")

    with monkeypatch.context() as patch:
        patch.setattr(guide._core.indexer, "absorb", refuse)
        learned = guide.learn(content="Plums are blue.", title="Plums")
    assert learned.sections_added == 1
    found = guide.search("plums")
    assert found.total == 1
    assert any("could not take in a change" in warning for warning in found.warnings)
    assert guide.check().ok


def test_damaged_index_meta_is_named_and_rebuilt(guide: KnowledgeBase, home: Path) -> None:
    meta = indexed(guide, home).parent / "meta.toml"
    meta.write_bytes(b"nonsense")
    with kbdb.open(home) as again:
        assert codes(again.check()) == ["INDEX_CORRUPT"]
        again.rebuild()
        assert again.check().ok


def test_an_index_of_other_sections_is_named(guide: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    indexed(guide, home)
    with kbdb.init(tmp_path / "other") as other:
        other.learn([home / "guide.md"])
        other.learn(content="Plums are blue.", title="Plums")
        other.unlearn(docid=docid(other.learn(content="Nuts.", title="Nuts")))
    shutil.rmtree(home / ".kbdb" / "indexes")
    shutil.copytree(tmp_path / "other" / ".kbdb" / "indexes", home / ".kbdb" / "indexes")
    meta = home / ".kbdb" / "indexes" / "meta.toml"
    meta.write_text(meta.read_text().replace("generation = 4", "generation = 2"))
    write(home / ".kbdb" / "sections" / "x", "x")
    with kbdb.open(home) as again:
        again.learn(content="Figs.", title="Figs")
        for path in (again.root / "sections").glob("*/*.sec"):
            if b"Figs" in path.read_bytes():
                path.unlink()
        found = codes(again.check())
    assert {"INDEX_EXTRA", "SECTION_MISSING", "STRAY_FILE"} <= set(found)


def test_a_section_the_index_lacks_is_named(guide: KnowledgeBase, tmp_path: Path) -> None:
    with kbdb.init(tmp_path / "other") as other:
        other.learn(content="Plums are blue.", title="Plums")
    guide.search("x")
    shutil.copytree(tmp_path / "other" / ".kbdb" / "sections", guide.root / "sections", dirs_exist_ok=True)
    assert codes(guide.check()) == ["INDEX_MISSING"]
    guide.rebuild()
    assert guide.check().ok


def test_a_forgotten_document_that_is_gone_is_told_and_a_retired_one_is_not(guide: KnowledgeBase, home: Path) -> None:
    for name in ("retired", "forgotten"):
        guide.learn([write(home / "more" / f"{name}.md", f"# {name}\n\nText of its own, {name}.\n")])
    (home / "more" / "retired.md").unlink()
    guide.learn([home / "more"], prune=True)
    guide.gc(keep_days=0)
    assert guide.check().warnings == ()
    (forgotten,) = guide.list(docid="more/forgotten.md").items
    guide.unlearn(docid=forgotten.docid)
    (guide.root / "documents" / f"{forgotten.docid}.toml").unlink()
    assert [(one.code, one.path.endswith(".jsonl")) for one in guide.check().warnings] == [
        ("EVENT_OF_UNKNOWN_DOCUMENT", True)
    ]
