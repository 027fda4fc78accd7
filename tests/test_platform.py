"""kbdb.platform: processes, names outside the database, locks, syncing many files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kbdb import platform
from kbdb.errors import StorageError


def test_this_process_is_alive_and_an_ended_one_is_not() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert platform.is_process_alive(os.getpid())
    assert not platform.is_process_alive(child.pid)


@pytest.mark.parametrize("pid", [0, -1, 2**40])
def test_numbers_that_are_no_pid_are_not_alive(pid: int) -> None:
    assert not platform.is_process_alive(pid)


def test_context_id_follows_the_real_path(tmp_path: Path) -> None:
    (tmp_path / "a ü").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a ü")
    context = platform.context_id(tmp_path / "a ü")
    assert platform.context_id(tmp_path / "link") == context
    assert platform.context_id(tmp_path) != context
    assert len(context) == 16
    assert set(context) <= set("0123456789abcdef")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has pipes")
def test_the_socket_is_in_the_runtime_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert platform.runtime_dir() == tmp_path
    assert platform.get_ipc_path("0123456789abcdef") == str(tmp_path / "kb-worker-0123456789abcdef.sock")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.parametrize("given", ["", "relative", "/nonexistent/folder"])
def test_without_a_runtime_dir_a_private_folder_is_made(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", given)
    monkeypatch.setattr(platform, "get_tmpdir", lambda: tmp_path)
    for _ in range(2):
        path = platform.runtime_dir()
        assert path == tmp_path / f"kbdb-{os.getuid()}"
        assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(platform, "get_tmpdir", lambda: tmp_path)
    path = tmp_path / f"kbdb-{os.getuid()}"
    path.mkdir()
    path.chmod(0o755)
    with pytest.raises(StorageError, match="nobody else can enter"):
        platform.runtime_dir()
    path.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="nobody else can enter"):
        platform.runtime_dir()


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    first = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    second = os.open(tmp_path / "lock", os.O_RDWR)
    assert platform.lock_file(first)
    assert not platform.lock_file(second)
    platform.unlock_file(first)
    assert platform.lock_file(second)
    os.close(first)
    os.close(second)


def test_few_files_are_synced_one_by_one_and_missing_ones_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    root = platform.open_folder(tmp_path)
    assert not platform.sync_files([tmp_path / "a", tmp_path / "gone"], [tmp_path, tmp_path / "none"], root)


@pytest.mark.skipif(sys.platform != "linux", reason="syncfs is Linux only")
def test_many_files_are_synced_at_once(tmp_path: Path) -> None:
    root = platform.open_folder(tmp_path)
    paths = [tmp_path / str(n) for n in range(platform.SYNCFS_FROM)]
    assert platform.sync_files(paths, [], root) == (platform._kernel_version() >= (5, 8))


@pytest.mark.skipif(sys.platform != "linux", reason="syncfs is Linux only")
def test_a_refused_syncfs_is_an_error() -> None:
    syncfs = platform._syncfs()
    if syncfs is None:
        pytest.skip("no syncfs here")
    with pytest.raises(OSError, match="Bad file descriptor"):
        syncfs(-1)


@pytest.mark.parametrize(
    ("release", "version"), [("6.1.0-13-amd64", (6, 1)), ("5.8rc1", (5, 8)), ("4.19+", (4, 19)), ("odd", (0, 0))]
)
def test_kernel_versions_are_read(release: str, version: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    uname = os.uname()
    monkeypatch.setattr(os, "uname", lambda: type(uname)((*uname[:2], release, *uname[3:])))
    assert platform._kernel_version() == version
