"""kbdb.platform: processes, names outside the database, locks, syncing many files."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder in which a socket's path is short enough; pytest's own may not be."""
    with tempfile.TemporaryDirectory(prefix="kb") as folder:
        yield Path(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has pipes")
def test_the_socket_is_in_the_runtime_dir(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_path))
    assert platform.runtime_dir() == short_path
    assert platform.get_ipc_path("0123456789abcdef") == str(short_path / "kb-worker-0123456789abcdef.sock")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.parametrize("given", ["", "relative", "/nonexistent/folder"])
def test_without_a_runtime_dir_a_private_folder_is_made(
    given: str, short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", given)
    monkeypatch.setattr(platform, "get_tmpdir", lambda: short_path)
    for _ in range(2):
        path = platform.runtime_dir()
        assert path == short_path / f"kbdb-{os.getuid()}"
        assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_a_folder_that_others_can_enter_is_refused(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(platform, "get_tmpdir", lambda: short_path)
    path = short_path / f"kbdb-{os.getuid()}"
    path.mkdir()
    path.chmod(0o755)
    with pytest.raises(StorageError, match="nobody else can enter"):
        platform.runtime_dir()
    path.rmdir()
    (short_path / "elsewhere").mkdir(mode=0o700)
    path.symlink_to(short_path / "elsewhere")
    with pytest.raises(StorageError, match="nobody else can enter"):
        platform.runtime_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has pipes")
def test_a_folder_whose_path_is_too_long_for_sockets_is_passed_over(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = len(os.sep + platform._SOCKET_NAME.format("0" * 16))
    fits = platform.SOCKET_PATH_MAX - name - len(os.fsencode(short_path)) - 1
    for length, taken in ((fits, True), (fits + 1, False)):
        given = short_path / ("é" * (length // 2) + "x" * (length % 2))
        given.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(given))
        monkeypatch.setattr(platform, "get_tmpdir", lambda: short_path)
        assert platform.runtime_dir() == (given if taken else short_path / f"kbdb-{os.getuid()}")
        path = platform.get_ipc_path("0" * 16)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
        os.unlink(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.parametrize(("mode", "taken"), [(0o700, True), (0o710, False), (0o701, False), (0o777, False)])
def test_a_runtime_dir_that_others_can_enter_is_passed_over(
    mode: int, taken: bool, short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = short_path / "given"
    given.mkdir()
    given.chmod(mode)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(given))
    monkeypatch.setattr(platform, "get_tmpdir", lambda: short_path)
    assert (platform.runtime_dir() == given) == taken


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no users of this kind")
def test_a_runtime_dir_of_another_user_is_passed_over(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (short_path / "file").touch()
    monkeypatch.setattr(platform, "_private_folder", lambda path: path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_path / "file"))
    assert platform.runtime_dir() != short_path / "file"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_path))
    assert platform.runtime_dir() == short_path
    monkeypatch.setattr(os, "getuid", lambda: short_path.stat().st_uid + 1)
    assert platform.runtime_dir() != short_path


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has pipes")
def test_the_last_resort_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setattr(platform, "get_tmpdir", lambda: deep)
    monkeypatch.setattr(platform, "_private_folder", lambda path: path)
    assert platform.runtime_dir() == Path(f"/tmp/kbdb-{os.getuid()}")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_a_runtime_dir_that_vanished_is_made_again(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(platform, "get_tmpdir", lambda: short_path)
    platform.runtime_dir().rmdir()
    assert platform.runtime_dir().is_dir()


def test_a_lock_can_be_seen_without_being_taken(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not platform.is_locked(path)
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    assert not platform.is_locked(path)
    assert platform.lock_file(fd)
    assert platform.is_locked(path)
    platform.unlock_file(fd)
    assert not platform.is_locked(path)
    os.close(fd)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells for nothing")
def test_a_process_tells_its_name() -> None:
    assert platform.process_name(os.getpid()) == Path("/proc/self/comm").read_text().strip()
    assert platform.process_name(2**22 + 1) == ""


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs Unix sockets")
def test_the_user_at_the_other_end_is_told() -> None:
    here, there = socket.socketpair()
    with here, there:
        assert platform.peer_uid(here) in (None, os.getuid())


def test_the_user_stands_second_in_xucred() -> None:
    assert platform._xucred_uid(struct.pack("IIh2x16I", 0, 501, 1, *range(16))) == 501


def test_the_flags_of_a_detached_process_on_windows() -> None:
    assert platform.DETACHED_FLAGS == 0x09000208
    assert getattr(subprocess, "DETACHED_PROCESS", 0x8) == platform.DETACHED_PROCESS


DETACHED = """
import json, os, sys
told = {
    "cwd": os.getcwd(),
    "leads": os.getsid(0) == os.getpid(),
    "streams": [os.fstat(fd).st_rdev == os.stat(os.devnull).st_rdev for fd in (0, 1)],
    "open": [fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}")],
    "variable": os.environ.get("KBDB_TEST"),
}
print(json.dumps(told), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="for POSIX")
def test_a_detached_process_keeps_nothing_of_ours(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    log = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    child = platform.spawn_detached([sys.executable, "-c", DETACHED], log, {**os.environ, "KBDB_TEST": "1"})
    assert child.wait() == 0
    for fd in (reading, writing, log):
        os.close(fd)
    told = json.loads((tmp_path / "log").read_text())
    told["open"] = [fd for fd in told["open"] if fd == writing]
    assert told == {"cwd": "/", "leads": True, "streams": [True, True], "open": [], "variable": "1"}


def test_a_detached_process_needs_no_log() -> None:
    assert platform.spawn_detached([sys.executable, "-c", "import sys; sys.exit(5)"], None).wait() == 5


MOUNTINFO = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /home/me/net\040work rw,nosuid shared:15 master:2 - nfs4 server:/export rw,vers=4.2
31 30 8:2 / /home/me/net\040work/local rw - xfs /dev/sdb1 rw
32 22 0:40 / /mnt/drive rw - fuse.sshfs me@host: rw
33 22 8:3 / /mnt/drive rw - btrfs /dev/sdc1 rw
34 22 0:41 / /mnt/share rw - cifs //server/share rw
half a line
"""

MOUNT = """
/dev/disk1s1 on / (apfs, local, journaled)
//me@server/share on /Volumes/share (x) (smbfs, nodev, nosuid)
server:/export on /Volumes/nfs (nfs)
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/notes", "ext4"),
        ("/home/me/net work/notes", "nfs4"),
        ("/home/me/net workshop", "ext4"),
        ("/home/me/net work/local/notes", "xfs"),
        ("/mnt/drive", "btrfs"),
        ("/mnt/share/a", "cifs"),
    ],
)
def test_the_nearest_mount_above_a_path_counts_and_the_last_at_one_place(path: str, kind: str) -> None:
    assert platform._mount_type(path, platform._linux_mounts(MOUNTINFO)) == kind


@pytest.mark.parametrize(
    ("path", "kind"), [("/Users/me", "apfs"), ("/Volumes/share (x)/a", "smbfs"), ("/Volumes/nfs", "nfs")]
)
def test_mounts_of_macos_are_read(path: str, kind: str) -> None:
    assert platform._mount_type(path, platform._macos_mounts(MOUNT)) == kind


def test_a_path_on_a_network_file_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform not in ("linux", "darwin"):
        pytest.skip("not told here")
    monkeypatch.setattr(platform, "_linux_mounts", lambda _: [("/", "nfs4")])
    monkeypatch.setattr(platform, "_macos_mounts", lambda _: [("/", "smbfs")])
    assert platform.is_network_file_system(tmp_path)
    monkeypatch.setattr(platform, "_linux_mounts", lambda _: [("/", "ext4")])
    monkeypatch.setattr(platform, "_macos_mounts", lambda _: [])
    assert not platform.is_network_file_system(tmp_path)


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


@pytest.mark.parametrize(
    ("system", "environ", "folder"),
    [
        ("linux", {}, "/home/you/.local/share"),
        ("linux", {"XDG_DATA_HOME": "/elsewhere"}, "/elsewhere"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "/home/you/.local/share"),
        ("darwin", {"XDG_DATA_HOME": "/elsewhere"}, "/home/you/Library/Application Support"),
        ("win32", {"LOCALAPPDATA": "/users/you/local"}, "/users/you/local"),
        ("win32", {}, "/home/you/AppData/Local"),
    ],
)
def test_where_programs_keep_a_users_data(system: str, environ: dict[str, str], folder: str) -> None:
    assert platform.user_data_dir(Path("/home/you"), environ, system) == Path(folder)


def test_at_least_one_core_is_usable() -> None:
    assert platform.usable_cores() >= 1
