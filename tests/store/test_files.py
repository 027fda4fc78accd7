"""kbdb.store.files: whole or not at all, errors that name the path, fault points."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kbdb.errors import CorruptError, InvalidArgumentError, StorageError
from kbdb.store import faults, files, trace


def test_write_atomic_creates_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a b ü.txt"
    files.write_atomic(path, b"one", sync=False, point="test")
    files.write_atomic(path, b"two", sync=True, point="test")
    assert path.read_bytes() == b"two"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_write_atomic_takes_empty_data(tmp_path: Path) -> None:
    files.write_atomic(tmp_path / "empty", b"", sync=True, point="test")
    assert (tmp_path / "empty").read_bytes() == b""


@pytest.mark.parametrize("point", ["write:test", "sync:test", "rename:test"])
@pytest.mark.parametrize(("action", "words"), [("enospc", "the disk is full"), ("eio", "Input/output error")])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    point: str, action: faults.Action, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with faults.hooked(lambda p: action if p == point else None), pytest.raises(StorageError, match=words) as caught:
        files.write_atomic(path, b"new", sync=True, point="test")
    assert str(path) in caught.value.message
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_be_written_piece_by_piece_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "file"
    seen: list[trace.FileOperation] = []
    with trace.observed(seen.append), files.writing(path, sync=True, point="test") as write:
        write(4, b"tail")
        write(0, b"head")
        assert not path.exists()
    assert path.read_bytes() == b"headtail"
    assert [op.kind for op in seen] == ["create", "write", "write", "sync_file", "rename", "sync_folder"]
    assert [(op.offset, op.data) for op in seen[1:3]] == [(4, b"tail"), (0, b"head")]


@pytest.mark.parametrize("error", [CorruptError("damaged"), KeyboardInterrupt(), OSError("not this file's")])
def test_what_is_raised_between_pieces_leaves_the_old_file_and_passes_through(
    error: BaseException, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught, files.writing(path, sync=True, point="test") as write:  # noqa: PT012
        write(0, b"new")
        raise error
    assert caught.value is error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    def interrupt(_: str) -> faults.Action | None:
        raise KeyboardInterrupt

    with faults.hooked(interrupt), pytest.raises(KeyboardInterrupt):
        files.write_atomic(tmp_path / "file", b"new", sync=True, point="test")
    assert list(tmp_path.iterdir()) == []


def test_a_left_over_temporary_file_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "file.tmp").write_bytes(b"a much longer left-over")
    files.write_atomic(tmp_path / "file", b"new", sync=False, point="test")
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are not refused here")
def test_a_planted_link_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / "file.tmp").symlink_to(victim)
    with pytest.raises(StorageError):
        files.write_atomic(tmp_path / "file", b"new", sync=False, point="test")
    assert victim.read_bytes() == b"mine"


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory") as caught:
        files.write_atomic(tmp_path / "none" / "file", b"x", sync=False, point="test")
    assert str(tmp_path / "none" / "file") in caught.value.message


def test_write_at_repairs_a_torn_end_and_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    files.write_at(path, 0, b"one\n", point="test")
    path.write_bytes(b"one\ntw\0\0\0\0\0")
    for _ in range(2):
        files.write_at(path, 4, b"two\n", point="test")
        assert path.read_bytes() == b"one\ntwo\n"


def test_write_at_refuses_to_leave_a_hole(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"one\n")
    with pytest.raises(CorruptError, match="is 4 bytes long, where the journal goes on at byte 8"):
        files.write_at(path, 8, b"three\n", point="test")
    assert path.read_bytes() == b"one\n"


def test_removing_what_is_not_there_is_fine(tmp_path: Path) -> None:
    files.remove(tmp_path / "none", point="test")
    files.remove_folder(tmp_path / "none", point="test")


def test_remove_folder_takes_everything_but_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_bytes(b"")
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_bytes(b"x")
    (folder / "link").symlink_to(outside)
    files.remove_folder(folder, point="test")
    assert not folder.exists()
    assert (outside / "kept").exists()


def test_make_folder_makes_what_is_missing_above_with_the_mode_for_itself(tmp_path: Path) -> None:
    files.make_folder(tmp_path / "a" / "b", mode=0o700, sync=True)
    files.make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_make_folder_says_when_a_file_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(StorageError, match="cannot make"):
        files.make_folder(tmp_path / "a" / "b")
    with pytest.raises(StorageError, match="cannot make"):
        files.make_folder(tmp_path / "a")


def test_reading_tells_missing_from_unreadable(tmp_path: Path) -> None:
    assert files.read(tmp_path / "none") is None
    assert files.size(tmp_path / "none") is None
    assert files.names(tmp_path / "none") == []
    with pytest.raises(StorageError, match="cannot read"):
        files.read(tmp_path)


def test_append_file_keeps_its_length_when_an_append_fails(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"head")
    log = files.AppendFile(tmp_path / "log", point="test")
    log.append(b"-one")
    with faults.hooked(lambda p: "enospc" if p == "write:test" else None), pytest.raises(StorageError):
        log.append(b"-two")
    assert log.size == 8
    log.truncate(log.size)
    log.append(b"-three")
    log.sync()
    log.close()
    log.close()
    assert (tmp_path / "log").read_bytes() == b"head-one-three"


def test_operations_are_reported_in_order(tmp_path: Path) -> None:
    seen: list[trace.FileOperation] = []
    with trace.observed(seen.append):
        files.write_atomic(tmp_path / "f", b"data", sync=True, point="test")
    files.remove(tmp_path / "f", point="test")
    assert [op.kind for op in seen] == ["create", "write", "sync_file", "rename", "sync_folder"]
    assert seen[1].data == b"data"
    assert seen[3].target == tmp_path / "f"


@pytest.mark.parametrize("setting", ["write", "=kill", "write:x=explode", ":3=eio"])
def test_a_fault_that_makes_no_sense_is_refused(setting: str) -> None:
    with pytest.raises(InvalidArgumentError, match="is not a fault"):
        faults.hook_for(setting, "")


def test_a_fault_trips_at_its_nth_passage_only(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with faults.hooked(faults.hook_for("write:x:2=eio", str(log))):
        assert [faults.armed(p) for p in ("write:x", "write:y", "write:x", "write:x")] == [None, None, "eio", None]
    assert log.read_text() == "write:x\nwrite:y\nwrite:x\nwrite:x\n"
    with pytest.raises(OSError, match="No space") as caught:
        faults.trip("enospc")
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("size", [0, 1, 8191, 8192, 8193, 60_000, 73_727])
def test_a_small_file_is_read_whole(tmp_path: Path, size: int) -> None:
    (tmp_path / "small").write_bytes(data := bytes(number % 251 for number in range(size)))
    assert files.read_small(str(tmp_path / "small")) == data


@pytest.mark.parametrize("size", [73_728, 200_000])
def test_what_is_no_small_file_is_left_to_read(tmp_path: Path, size: int) -> None:
    (tmp_path / "large").write_bytes(bytes(size))
    assert files.read_small(str(tmp_path / "large")) is None
    assert files.read_small(str(tmp_path / "missing")) is None


@pytest.mark.parametrize("before", [None, b"", b"new", b"old", b"longer"])
def test_writing_again_makes_the_file_what_it_should_be_whatever_stands_there(
    tmp_path: Path, before: bytes | None
) -> None:
    path = tmp_path / "below" / "file"
    if before is not None:
        path.parent.mkdir()
        path.write_bytes(before)
    files.write_again(path, b"new", point="test", below=tmp_path)
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_writing_again_follows_no_planted_link(tmp_path: Path) -> None:
    aim, path = tmp_path / "aim", tmp_path / "file"
    aim.write_bytes(b"new")
    path.symlink_to(aim)
    files.write_again(path, b"new", point="test", below=tmp_path)
    assert not path.is_symlink()
