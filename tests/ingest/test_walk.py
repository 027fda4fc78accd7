"""The walk finds the files worth learning, each once, in a stable order, and says what it left out."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kbdb
from kbdb.errors import InvalidArgumentError, SourceNotFoundError, SourceUnreadableError
from kbdb.ingest.walk import Reason, Walked, walk


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")


def names(walked: Walked, root: Path) -> list[str]:
    return [file.path.relative_to(root).as_posix() for file in walked.files]


def reasons(walked: Walked, root: Path) -> dict[str, Reason]:
    return {entry.path.relative_to(root).as_posix(): entry.reason for entry in walked.skipped}


def test_learns_known_text_in_stable_order(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.py", "a/b/x.txt", "a.md", "Makefile", "photo.png", "data.unknown", "ä.md")
    walked = walk([tmp_path])
    assert names(walked, tmp_path) == ["Makefile", "a/b/x.txt", "a/z.py", "a.md", "b.md", "ä.md"]
    assert reasons(walked, tmp_path) == {"data.unknown": Reason.NOT_TEXT, "photo.png": Reason.NOT_TEXT}
    assert all(not file.named and file.folder == tmp_path for file in walked.files)


def test_hidden_entries_stay_out_unless_named(tmp_path: Path) -> None:
    make(tmp_path, ".hidden.md", ".git/x.md", ".kbdb/sections/x.md", "a.md")
    walked = walk([tmp_path])
    assert names(walked, tmp_path) == ["a.md"]
    assert set(reasons(walked, tmp_path).values()) == {Reason.HIDDEN}
    assert names(walk([tmp_path / ".hidden.md", tmp_path / ".git"]), tmp_path) == [".hidden.md", ".git/x.md"]


def test_a_database_is_never_entered(tmp_path: Path) -> None:
    make(tmp_path, ".kbdb/sections/x.md")
    for path in (tmp_path / ".kbdb", tmp_path / ".kbdb/sections/x.md"):
        walked = walk([path])
        assert walked.files == ()
        assert isinstance(walked.errors[0].error, InvalidArgumentError)


def test_an_export_is_left_out_and_refused_by_name(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "catalog.toml", "docs/SHA256SUMS")
    with kbdb.init(tmp_path) as base:
        base.learn(tmp_path / "a.md")
        base.export(tmp_path / "docs" / "backup")
    (tmp_path / "again").symlink_to(tmp_path / "docs" / "backup")
    walked = walk([tmp_path])
    assert names(walked, tmp_path) == ["a.md", "catalog.toml"]
    assert reasons(walked, tmp_path)["docs/backup"] == Reason.EXPORT
    walked = walk([tmp_path / "docs" / "backup"])
    assert walked.files == ()
    (failed,) = walked.errors
    assert isinstance(failed.error, InvalidArgumentError)
    assert "is an export" in failed.error.message
    assert "kbdb import" in failed.error.hint


def test_named_files_are_taken_whatever_they_are(tmp_path: Path) -> None:
    make(tmp_path, "photo.png", "a.md", ".gitignore")
    (tmp_path / ".gitignore").write_text("*")
    walked = walk([tmp_path / "photo.png", tmp_path / "a.md", tmp_path / "photo.png"], exclude=["*.md"])
    assert names(walked, tmp_path) == ["photo.png", "a.md"]
    assert all(file.named and file.folder is None for file in walked.files)


def test_ignore_files_work_at_every_level(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md", "d/a.md", "d/b.md", "d/e/c.md", "build/x.md")
    (tmp_path / ".gitignore").write_text("b.md\nbuild/\n")
    (tmp_path / ".kbdbignore").write_text("!/b.md\na.md\n")
    (tmp_path / "d/.kbdbignore").write_text("!a.md\n/e\n")
    walked = walk([tmp_path])
    assert names(walked, tmp_path) == ["b.md", "d/a.md"]
    assert reasons(walked, tmp_path)["build"] == Reason.IGNORED
    assert names(walk([tmp_path / "build"]), tmp_path) == ["build/x.md"]


def test_rules_above_count_only_inside_git(tmp_path: Path) -> None:
    make(tmp_path, "d/a.md", "d/b.md")
    (tmp_path / ".gitignore").write_text("a.md\nd/\n")
    assert names(walk([tmp_path / "d"]), tmp_path) == ["d/a.md", "d/b.md"]
    (tmp_path / ".git").mkdir()
    assert names(walk([tmp_path / "d"]), tmp_path) == ["d/b.md"]


def test_include_and_exclude(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.xyz", "d/c.xyz", "d/e/f.md", "g/h.md")
    assert names(walk([tmp_path], include=["*.xyz"]), tmp_path) == ["b.xyz", "d/c.xyz"]
    assert names(walk([tmp_path], include=["d/"]), tmp_path) == ["d/c.xyz", "d/e/f.md"]
    assert names(walk([tmp_path], include=["/*.md"]), tmp_path) == ["a.md"]
    walked = walk([tmp_path], exclude=["d", "/a.md", ""])
    assert names(walked, tmp_path) == ["g/h.md"]
    assert reasons(walked, tmp_path)["d"] == Reason.EXCLUDED
    assert names(walk([tmp_path], include=["*.md"], exclude=["*"]), tmp_path) == []


def test_links_are_followed_inside_the_folder_only(tmp_path: Path) -> None:
    make(tmp_path, "out/x.md", "in/real/a.md", "in/real/sub/b.md", "in/.kept/c.md", "in/.kept/d.md")
    root = tmp_path / "in"
    (root / "aa-link").symlink_to(root / "real")
    (root / "real/cycle").symlink_to(root)
    (root / "outside").symlink_to(tmp_path / "out")
    (root / "outside.md").symlink_to(tmp_path / "out/x.md")
    (root / "inside.md").symlink_to(root / "real/a.md")
    (root / "kept").symlink_to(root / ".kept")
    (root / "broken.md").symlink_to(root / "nothing.md")
    walked = walk([root])
    assert names(walked, root) == ["kept/c.md", "kept/d.md", "real/a.md", "real/sub/b.md"]
    found = reasons(walked, root)
    assert found["outside"] == found["outside.md"] == Reason.OUTSIDE
    assert found["aa-link"] == found["inside.md"] == found["real/cycle"] == Reason.DUPLICATE
    assert found["broken.md"] == Reason.SPECIAL
    assert walked.errors == ()


def test_a_link_to_a_folder_can_be_named(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert names(walk([tmp_path / "link"]), tmp_path) == ["link/a.md"]


def test_special_files_are_skipped_and_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert reasons(walk([tmp_path]), tmp_path) == {"pipe.md": Reason.SPECIAL}
    assert isinstance(walk([tmp_path / "pipe.md"]).errors[0].error, InvalidArgumentError)


def test_what_cannot_be_looked_at_is_reported(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "locked/b.md")
    assert isinstance(walk([tmp_path / "nothing"]).errors[0].error, SourceNotFoundError)
    assert isinstance(walk([tmp_path / "a.md/x"]).errors[0].error, SourceNotFoundError)
    assert isinstance(walk([Path("nul\0")]).errors[0].error, SourceUnreadableError)
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    assert "loop.md" in walk([tmp_path]).errors[0].error.message


@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_a_locked_folder_is_reported_once(tmp_path: Path, mode: int) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every folder")
    make(tmp_path, "a.md", "locked/b.png")
    (tmp_path / "locked").chmod(mode)
    try:
        walked = walk([tmp_path])
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert [failed.path.name for failed in walked.errors] == (["locked"] if mode == 0 else [])
    assert names(walked, tmp_path) == ["a.md"]


def test_a_folder_that_refuses_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md", "locked/b.md")
    real = {"scandir": os.scandir, "open": builtins.open}

    def refusing(name: str) -> Callable[..., object]:
        def call(path: Any, *more: Any, **options: Any) -> object:
            if "locked" in str(path):
                raise PermissionError(13, "Permission denied", str(path))
            return real[name](path, *more, **options)

        return call

    monkeypatch.setattr(os, "scandir", refusing("scandir"))
    monkeypatch.setattr(builtins, "open", refusing("open"))
    assert [failed.path.name for failed in walk([tmp_path]).errors] == ["locked"]


def test_names_that_are_not_utf8_are_reported(tmp_path: Path) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md"))).write_text("text")
    except (OSError, UnicodeError):
        pytest.skip("this file system takes no such names")
    walked = walk([tmp_path])
    assert walked.files == ()
    assert "bad\\xff.md is not UTF-8" in walked.errors[0].error.message


def test_overlapping_paths_give_each_file_once(tmp_path: Path) -> None:
    make(tmp_path, "d/a.md", "d/b.md")
    walked = walk([tmp_path / "d/b.md", tmp_path, tmp_path / "d"])
    assert names(walked, tmp_path) == ["d/b.md", "d/a.md"]
    assert [file.named for file in walked.files] == [True, False]


def test_depth_is_no_limit(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("text")
    assert len(walk([tmp_path]).files) == 1
