"""Which database a command means: --db, $KBDB_DB, the nearest upwards, the user's; and where init creates one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kbdb.errors import InvalidArgumentError
from kbdb.paths import database_root, locate, locate_new


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, three levels below a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "project" / "docs"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder.resolve()


def test_a_path_names_the_folder_that_holds_kbdb_or_kbdb_itself(here: Path) -> None:
    assert database_root("x") == here / "x" / ".kbdb"
    assert database_root("x/.kbdb") == here / "x" / ".kbdb"
    assert database_root(".kbdb/") == here / ".kbdb"
    assert database_root("~/kb") == here.parent.parent / "kb" / ".kbdb"


def test_the_current_folder_may_be_the_database(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / ".kbdb").mkdir()
    monkeypatch.chdir(here / ".kbdb")
    assert database_root(".") == here / ".kbdb"
    assert locate(environ={}).root == here / ".kbdb"


def test_a_linked_folder_and_the_real_one_name_the_same_database(here: Path) -> None:
    (here / "real").mkdir()
    (here / "link").symlink_to(here / "real", target_is_directory=True)
    assert database_root("link") == database_root("real") == database_root("link/.kbdb")


def test_a_linked_database_keeps_the_folder_it_is_found_in(here: Path) -> None:
    (here / "elsewhere").mkdir()
    (here / ".kbdb").symlink_to(here / "elsewhere", target_is_directory=True)
    assert database_root(".") == database_root(".kbdb") == here / ".kbdb"


def test_an_empty_path_is_refused() -> None:
    with pytest.raises(InvalidArgumentError):
        database_root("")


def test_the_option_wins_over_the_environment_and_the_folders(here: Path) -> None:
    (here / ".kbdb").mkdir()
    location = locate("other", {"KBDB_DB": "third"})
    assert (location.root, location.rule) == (here / "other" / ".kbdb", "option")


def test_the_environment_wins_over_the_folders(here: Path) -> None:
    (here / ".kbdb").mkdir()
    location = locate(None, {"KBDB_DB": "third"})
    assert (location.root, location.rule) == (here / "third" / ".kbdb", "environment")


def test_an_empty_variable_is_no_variable(here: Path) -> None:
    (here / ".kbdb").mkdir()
    assert locate(None, {"KBDB_DB": ""}).root == here / ".kbdb"


def test_the_nearest_folder_upwards_is_found(here: Path) -> None:
    (here.parent / ".kbdb").mkdir()
    location = locate(environ={})
    assert (location.root, location.rule, location.exists) == (here.parent / ".kbdb", "nearest", True)


def test_a_file_called_kbdb_is_passed_over(here: Path) -> None:
    (here / ".kbdb").write_text("not a folder")
    (here.parent / ".kbdb").mkdir()
    assert locate(environ={}).root == here.parent / ".kbdb"


def test_without_any_the_users_database_is_meant(here: Path) -> None:
    location = locate(environ={})
    assert location.root == here.parent.parent / ".local" / "share" / "kbdb" / ".kbdb"
    assert (location.rule, location.exists) == ("user", False)


def test_init_creates_in_the_current_folder_even_below_another_database(here: Path) -> None:
    (here.parent / ".kbdb").mkdir()
    assert locate_new(environ={}).root == here / ".kbdb"
    assert locate_new("x", {"KBDB_DB": "y"}).root == here / "x" / ".kbdb"
    assert locate_new(None, {"KBDB_DB": "y"}).root == here / "y" / ".kbdb"


@pytest.mark.skipif(os.name == "nt", reason="Windows does not let a current folder be deleted")
def test_a_deleted_current_folder_leaves_the_users_database(here: Path) -> None:
    here.rmdir()
    assert locate(environ={}).rule == "user"
