"""kbdb.setup.files: who may read a file that is made, and whose it stays."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kbdb.errors import StorageError
from kbdb.setup.files import read, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


def test_a_user_s_file_is_made_for_the_user_alone(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b", None, b"x", "private")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o600
    assert read(tmp_path / "a" / "b") == b"x"


def test_a_project_s_file_is_made_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "a" / "b", None, b"x", "shared")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_a_file_stays_its_owner(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    os.chown(tmp_path / "a", 1234, 2345)
    write(tmp_path / "a", b"x", b"y", "private")
    found = (tmp_path / "a").stat()
    assert (found.st_uid, found.st_gid) == (1234, 2345)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="cannot write"):
        write(tmp_path / "a", None, b"x", "private")
    tmp_path.chmod(0o700)


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    with pytest.raises(StorageError, match="cannot read"):
        read(tmp_path / "a")
