"""kbdb.store.journal: what was synced comes back, a torn tail does not, damage is told from it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import CorruptError, UnsupportedFormatError
from kbdb.store.journal import FRAME_HEADER_BYTES, HEADER_BYTES, ChangeKind, Commit, FileChange, Journal

FIRST: Commit = (FileChange(ChangeKind.PUT_SECTION, "a" * 26, b"section bytes " * 9),)
SECOND: Commit = (
    FileChange(ChangeKind.APPEND_EVENTS, "writer-2026-01.jsonl", b"{}\n", 12),
    FileChange(ChangeKind.REMOVE_MANIFEST, "docid"),
)

names = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,30}", fullmatch=True)
changes = st.builds(FileChange, st.sampled_from(ChangeKind), names, st.binary(max_size=300), st.integers(0, 2**40))
commits = st.lists(st.lists(changes, max_size=4).map(tuple), min_size=1, max_size=4)


def _written(path: Path, *groups: list[Commit], generation: int = 0) -> list[int]:
    """Writes a journal with a frame a group; gives where each frame ends, the header's end first."""
    journal = Journal.create(path, generation)
    ends = [journal.size]
    for group in groups:
        journal.append(group)
        ends.append(journal.size)
    journal.close()
    return ends


def _opened(path: Path) -> tuple[list[Commit], int]:
    journal, found = Journal.open(path)
    journal.close()
    return found, journal.generation


@given(groups=st.lists(commits, max_size=4), generation=st.integers(0, 2**60))
def test_commits_come_back_in_order(
    groups: list[list[Commit]], generation: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.log"
    _written(path, *groups, generation=generation)
    everything = [commit for group in groups for commit in group]
    assert _opened(path) == (everything, generation + len(everything))


def test_a_restart_empties_it_and_keeps_the_generation(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    journal = Journal.create(path, 7)
    journal.append([FIRST, SECOND])
    journal.restart()
    assert (journal.size, journal.generation) == (HEADER_BYTES, 9)
    assert journal.is_empty
    journal.append([SECOND])
    journal.close()
    assert _opened(path) == ([SECOND], 10)


def test_cut_at_any_length_whole_frames_stay(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    ends = _written(path, [FIRST], [SECOND, FIRST])
    data = path.read_bytes()
    for length in range(HEADER_BYTES, len(data)):
        path.write_bytes(data[:length])
        found, generation = _opened(path)
        assert found == ([FIRST] if length >= ends[1] else [])
        assert generation == len(found)
        assert path.stat().st_size == (ends[1] if length >= ends[1] else ends[0])


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"KBJF", b"KBJF" * 100, b"\xff" * 40])
def test_a_tail_of_other_bytes_is_cut_and_written_over(tail: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    ends = _written(path, [FIRST])
    path.write_bytes(path.read_bytes() + tail)
    journal, found = Journal.open(path)
    assert (found, journal.size) == ([FIRST], ends[1])
    journal.append([SECOND])
    journal.close()
    assert _opened(path) == ([FIRST, SECOND], 2)


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    ends = _written(path, [FIRST], [SECOND])
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        if at >= ends[1]:
            assert _opened(path) == ([FIRST], 1)
        else:
            with pytest.raises((CorruptError, UnsupportedFormatError)) as caught:
                Journal.open(path)
            assert str(path) in caught.value.message
            assert caught.value.hint


def test_damage_before_a_good_frame_names_the_offset(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    ends = _written(path, [FIRST], [SECOND], [FIRST])
    data = bytearray(path.read_bytes())
    data[ends[1] + FRAME_HEADER_BYTES + 1] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        CorruptError, match=rf"damaged frame, and a good one behind it at byte {ends[2]} \(byte {ends[1]}"
    ):
        Journal.open(path)
    assert path.read_bytes() == data


def test_a_journal_stored_as_a_section_does_not_pass_for_frames(tmp_path: Path) -> None:
    other, path = tmp_path / "other.log", tmp_path / "journal.log"
    _written(other, [FIRST], [SECOND])
    inside: Commit = (FileChange(ChangeKind.PUT_SECTION, "b" * 26, other.read_bytes()),)
    ends = _written(path, [FIRST], [inside])
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    assert _opened(path) == ([FIRST], 1)
    assert path.stat().st_size == ends[1]


def test_a_journal_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    _written(path)
    header = bytearray(path.read_bytes()[:-4])
    struct.pack_into("<H", header, 4, 2)
    path.write_bytes(bytes(header) + struct.pack("<I", zlib.crc32(header)))
    with pytest.raises(UnsupportedFormatError, match="format 2"):
        Journal.open(path)


@pytest.mark.parametrize("data", [b"", b"KBJL", b"something else entirely, and long enough"])
def test_other_files_are_no_journal(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    path.write_bytes(data)
    with pytest.raises(CorruptError, match="is not a journal"):
        Journal.open(path)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", ".hidden", "", "Ü"])
def test_names_that_could_leave_the_folder_do_not_pass(name: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    journal = Journal.create(path, 0)
    try:
        journal.append([(FileChange(ChangeKind.PUT_SECTION, name),)])
    except UnicodeEncodeError:
        return
    finally:
        journal.close()
    with pytest.raises(CorruptError, match="makes no sense"):
        Journal.open(path)
