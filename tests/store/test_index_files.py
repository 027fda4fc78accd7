"""kbdb.store.index_files: which folders make up the index, and what becomes of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

import kbdb
from kbdb.errors import CorruptError, StorageError
from kbdb.index.api import Into
from kbdb.paths import Layout
from kbdb.store import faults, index_files
from kbdb.store.index_files import IndexMeta

META = IndexMeta(
    generation=7,
    fingerprint=0xFEDCBA9876543210,
    built_with="c analysis 1",
    folders=(2, 5),
    documents_changed=1_800_000_000_123_456_789,
    left_out=("0" * 26,),
    events=3,
)


def segment(into: Into) -> None:
    """A segment's files, as bytes that come in any order."""
    for number in (0, 1, 2, 3, 0):
        into(number, 4, b"rest")
        into(number, 0, b"head")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / ".kbdb")
    layout.indexes.mkdir(parents=True)
    return layout


def test_a_meta_file_reads_back(layout: Layout) -> None:
    assert index_files.read_meta(layout) is None
    index_files.write_meta(layout, META)
    assert index_files.read_meta(layout) == META


@pytest.mark.parametrize(
    "damage",
    [
        (b"format = 1", b'format = "1"'),
        (b"generation = 7", b'generation = "7"'),
        (b"events = 3", b'events = "3"'),
        (b"folders = [2, 5]", b"folders = 2"),
        (b"fingerprint", b"fingerprints"),
        (b"fedcba", b"gedcba"),
        (b"format = 1", b"format 1"),
    ],
)
def test_a_damaged_meta_file_is_named(layout: Layout, damage: tuple[bytes, bytes]) -> None:
    index_files.write_meta(layout, META)
    written = layout.index_meta.read_bytes()
    layout.index_meta.write_bytes(written.replace(*damage))
    assert layout.index_meta.read_bytes() != written
    with pytest.raises(CorruptError, match=r"meta\.toml") as caught:
        index_files.read_meta(layout)
    assert "rebuild" in caught.value.hint


def test_a_meta_file_of_another_format_is_of_an_index_that_nobody_here_has_built(layout: Layout) -> None:
    layout.index_meta.write_bytes(b'format = 2\nshards = ["a", "b"]\n')
    meta = index_files.read_meta(layout)
    assert meta is not None
    assert (meta.fingerprint, meta.folders) == (index_files.NOBODYS, ())


def test_an_index_of_another_format_is_made_anew(tmp_path: Path) -> None:
    with kbdb.init(tmp_path) as kb:
        kb.learn(content="# Tides\n\nThe moon pulls the sea.\n")
    layout = Layout(tmp_path / ".kbdb")
    of_another = layout.index_meta.read_bytes().replace(b"format = 1", b"format = 2")
    layout.index_meta.write_bytes(of_another)
    with kbdb.open(tmp_path) as kb:
        assert [hit.title for hit in kb.search("moon").hits] == ["Tides"]
        assert kb.check().ok
        assert any("made anew" in warning for warning in kb.status().warnings)
    assert b"format = 1" in layout.index_meta.read_bytes()
    assert len(index_files.read_meta(layout).folders) == 1  # type: ignore[union-attr]


def test_a_segment_is_written_piece_by_piece(layout: Layout) -> None:
    index_files.write_segment(layout, 3, segment)
    assert {path.name: path.read_bytes() for path in (layout.indexes / "3").iterdir()} == dict.fromkeys(
        index_files.NAMES, b"headrest"
    )


def test_a_segment_that_cannot_be_made_leaves_no_file(layout: Layout) -> None:
    def fails(into: Into) -> None:
        segment(into)
        raise CorruptError("terms.idx: offset 7: damaged")

    with pytest.raises(CorruptError, match="offset 7"):
        index_files.write_segment(layout, 3, fails)
    assert not list((layout.indexes / "3").iterdir())


def test_a_full_disk_names_the_file_that_did_not_fit(layout: Layout) -> None:
    passed = 0

    def third(point: str) -> faults.Action | None:
        nonlocal passed
        passed += point == "write:index"
        return "enospc" if passed == 3 else None

    with faults.hooked(third), pytest.raises(StorageError, match=r"cannot write .*positions\.idx: the disk is full"):
        index_files.write_segment(layout, 3, segment)
    assert not list((layout.indexes / "3").iterdir())


def test_folders_that_are_not_named_go_and_other_names_stay(layout: Layout) -> None:
    for number in (1, 2, 5, 12):
        index_files.write_segment(layout, number, segment)
    for name in ("²", "007", "notes"):
        (layout.indexes / name).mkdir()
    assert index_files.next_folder(layout) == 13
    index_files.sweep(layout, META.folders)
    assert sorted(path.name for path in layout.indexes.iterdir()) == ["007", "2", "5", "notes", "²"]


def test_a_folder_that_cannot_go_now_goes_another_time(layout: Layout) -> None:
    index_files.write_segment(layout, 1, segment)
    with faults.hooked(lambda point: "eio" if point == "remove:index" else None):
        index_files.sweep(layout, ())
    assert (layout.indexes / "1" / "terms.idx").exists()
    index_files.sweep(layout, ())
    assert not (layout.indexes / "1").exists()
