"""Who starts a daemon, when many do, when files tell of one that is not there, and when versions differ."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import wait_for
from household import Household

import kbdb
from kbdb import platform
from kbdb.client import Client, launch
from kbdb.client.address import Owner
from kbdb.client.start import Start


@pytest.fixture
def elsewhere() -> Iterator[dict[str, str]]:
    """The environment of somebody with another runtime folder: a cron job, an editor."""
    with tempfile.TemporaryDirectory(prefix="kb", ignore_cleanup_errors=True) as folder:
        yield {"XDG_RUNTIME_DIR": folder}


@pytest.fixture
def stranger() -> Iterator[int]:
    """The pid of a living process that has nothing to do with kbdb."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.kill()
    process.communicate()


def usual_files(home: Household, runtime: Path) -> tuple[Path, Path]:
    """Where socket and pid file of the daemon are."""
    context = platform.context_id(home.root)
    return runtime / f"kb-worker-{context}.sock", runtime / f"kbdb-{context}.pid"


def served(*runtimes: Path) -> int:
    """How many daemons have come up, by their logs."""
    return sum(log.read_text().count(" INFO serves ") for runtime in runtimes for log in runtime.glob("*.log"))


def test_20_commands_at_once_start_one_daemon(home: Household, runtime: Path) -> None:
    running = [home.start("status", "--json") for _ in range(20)]
    told = [home.end(process) for process in running]
    assert [ran.code for ran in told] == [0] * 20, told
    assert len({ran.json["daemon"]["pid"] for ran in told}) == 1
    assert served(runtime) == 1
    wait_for(lambda: len(home.orphans()) == 1)


def test_commands_with_different_runtime_folders_meet_one_daemon(
    home: Household, runtime: Path, elsewhere: dict[str, str]
) -> None:
    running = [home.start("status", "--json", env=elsewhere if place % 2 else {}) for place in range(8)]
    told = [home.end(process) for process in running]
    assert [ran.code for ran in told] == [0] * 8, told
    assert len({ran.json["daemon"]["pid"] for ran in told}) == 1
    assert served(runtime, Path(elsewhere["XDG_RUNTIME_DIR"])) == 1
    wait_for(lambda: len(home.orphans()) == 1)


def test_a_pid_file_and_an_address_that_name_a_living_stranger_keep_nobody_from_starting_one(
    home: Household, runtime: Path, stranger: int
) -> None:
    address, pid_file = usual_files(home, runtime)
    pid_file.write_text(f"{stranger}\n")
    (home.root / "lock").write_text(f"{stranger}\n")
    (home.root / "daemon").write_text(json.dumps({"address": str(address), "pid": stranger, "version": "9"}) + "\n")
    daemon = home.tell("status")["daemon"]["pid"]
    assert daemon != stranger
    assert pid_file.read_text() == f"{daemon}\n"
    home.run("daemon", "stop")
    assert platform.is_process_alive(stranger)


def test_the_socket_of_a_daemon_that_was_killed_is_taken_over(home: Household, runtime: Path) -> None:
    address, _ = usual_files(home, runtime)
    with socket.socket(socket.AF_UNIX) as orphaned:
        orphaned.bind(str(address))
    assert address.is_socket()
    home.tell("status")
    assert served(runtime) == 1


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_thing_in_the_place_of_the_socket_is_told_or_taken_over(home: Household, runtime: Path, what: str) -> None:
    address, _ = usual_files(home, runtime)
    if what == "file":
        address.write_text("not a socket")
        home.tell("status")
        return
    address.mkdir()
    ran = home.run("status", "--json")
    assert ran.code == 1
    assert ran.json["error"]["code"] == "STORAGE_ERROR"
    assert str(address) in ran.json["error"]["message"]
    address.rmdir()
    home.tell("status")


@pytest.mark.long
def test_a_daemon_that_hangs_is_told_with_its_process_and_how_to_be_rid_of_it(home: Household) -> None:
    home.tell("status")
    hanging = home.owner()
    os.kill(hanging, signal.SIGSTOP)
    ran = home.run("status", "--json")
    assert ran.code == 1
    assert ran.json["error"]["code"] == "DAEMON_START"
    assert f"process {hanging} " in ran.json["error"]["message"]
    assert f"kill {hanging}" in ran.json["error"]["hint"]
    os.kill(hanging, signal.SIGKILL)
    home.tell("status")


@pytest.mark.parametrize("stays", [True, False])
def test_a_runtime_folder_that_vanished_while_idle_is_no_hindrance(
    home: Household, runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stays: bool
) -> None:
    monkeypatch.setenv("TMPDIR", str(runtime))  # where it is looked for, in the second place
    gone = runtime / "gone"
    gone.mkdir(mode=0o700)
    there = {"XDG_RUNTIME_DIR": str(gone)}
    path = tmp_path / "land.md"
    path.write_text("# Land\n\nHills and harbours.\n")
    home.tell("learn", str(path), env=there)
    first = home.owner()
    shutil.rmtree(gone)
    if stays:
        gone.mkdir(mode=0o700)
    path.write_text("# Land\n\nHills and harbours, and quays.\n")
    home.tell("learn", str(path), env=there)
    assert home.found("quays") == 1
    assert len(home.orphans()) == 1
    assert home.owner() == first
    assert gone.exists() == stays
    home.run("daemon", "stop", env=there)


class Versions:
    """kbdb of another version: the same program, told otherwise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, version: str) -> dict[str, str]:
        place = self._folder / version
        place.mkdir(exist_ok=True)
        (place / "sitecustomize.py").write_text(f"import kbdb\nkbdb.__version__ = {version!r}\n")
        return {"PYTHONPATH": str(place)}


@pytest.fixture
def version(tmp_path: Path) -> Versions:
    return Versions(tmp_path)


def test_a_newer_program_replaces_the_daemon_of_an_older_one(home: Household, runtime: Path, version: Versions) -> None:
    old = home.tell("status", env=version("0.0.9"))["daemon"]
    assert old["version"] == "0.0.9"
    new = home.tell("status", env=version("99.1.0"))["daemon"]
    assert new["version"] == "99.1.0"
    wait_for(lambda: home.orphans() == [new["pid"]])
    assert served(runtime) == 2


def test_an_older_program_talks_to_the_daemon_of_a_newer_one(home: Household, runtime: Path, version: Versions) -> None:
    new = home.tell("status", env=version("99.1.0"))["daemon"]
    assert new == {**home.tell("status", env=version("0.0.9"))["daemon"], **_changing(new)}
    assert new["pid"] == home.tell("status")["daemon"]["pid"]
    assert served(runtime) == 1


def test_commands_of_two_versions_at_once_end_with_the_newer_daemon(home: Household, version: Versions) -> None:
    home.tell("status", env=version("0.0.9"))
    running = [home.start("status", "--json", env=version("99.1.0" if place % 2 else "0.0.9")) for place in range(10)]
    told = [home.end(process) for process in running]
    assert [ran.code for ran in told] == [0] * 10, told
    assert {ran.json["daemon"]["version"] for ran in told[1::2]} == {"99.1.0"}
    assert home.tell("status", env=version("0.0.9"))["daemon"]["version"] == "99.1.0"
    wait_for(lambda: len(home.orphans()) == 1)


def _changing(daemon: dict[str, object]) -> dict[str, object]:
    return {name: daemon[name] for name in daemon if name not in ("pid", "version")}


def test_a_database_that_a_program_has_open_itself_is_told_with_its_process(home: Household) -> None:
    with kbdb.open(home.root):
        ran = home.run("status", "--json")
    assert ran.code == 1
    assert ran.json["error"]["code"] == "DATABASE_LOCKED"
    assert str(os.getpid()) in ran.json["error"]["message"]
    home.tell("status")


def test_an_owner_that_cannot_be_known_for_a_moment_is_waited_for_however_long_others_took(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a daemon that was killed was just starting a process, which holds the lock until it is one."""
    moments = iter([*[Owner(1, True)] * 20, Owner(None, False), Owner(2, True), Owner(None, False), None])
    monkeypatch.setattr(launch, "owner", lambda _: next(moments))
    monkeypatch.setattr(launch, "GRACE_S", 0.0)
    monkeypatch.setattr(Start, "begin", _begin)
    with pytest.raises(_BegunError):
        launch.reach(home.root)


class _BegunError(Exception):
    """A daemon would be started now."""


def _begin(_: object) -> None:
    raise _BegunError


def test_the_end_of_whoever_started_it_does_not_end_the_daemon(home: Household) -> None:
    starting = home.start("status")
    wait_for(lambda: (home.root / "daemon").exists())
    os.kill(starting.pid, signal.SIGKILL)
    home.end(starting)
    with Client(home.root) as client:
        assert client.status().sections == 0
    assert len(home.orphans()) == 1
