"""A full, broken or read-only disk under a daemon: each client hears of it; the next command works when it is over."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import wait_for
from household import Household, Ran, household

import kbdb
from kbdb.client import Client
from kbdb.daemon.process import WATCH_S
from kbdb.errors import StorageError
from tests.concurrency.crew import CHECKOUT

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def learn(home: Household, folder: Path, words: str) -> Ran:
    path = folder / f"{words.split()[0]}.md"
    path.write_text(f"# About\n\n{words}\n")
    return home.run("learn", str(path), "--json")


def code_of(ran: Ran) -> str:
    """The code of the error that a command, or the document it learned, ended with."""
    told = ran.json
    return str(told["error"]["code"] if "error" in told else told["documents"][0]["error"]["code"])


def start_on_broken_disk(home: Household, point: str, first: int, last: int, action: str) -> None:
    """Starts the daemon that the next commands find."""
    words = (str(home.root), point, str(first), str(last), action)
    home.start(*words, program=("-m", "tests.concurrency.faulty_daemon"), env={"PYTHONPATH": str(CHECKOUT)})
    wait_for(lambda: home.run("daemon", "status").code == 0)


@pytest.mark.parametrize("action", ["enospc", "eio"])
@pytest.mark.parametrize("point", ["write:journal", "sync:journal"])
def test_a_commit_that_the_disk_refuses_is_told_by_its_code_and_stores_nothing(
    home: Household, tmp_path: Path, point: str, action: str
) -> None:
    start_on_broken_disk(home, point, 1, 1, action)
    daemon = home.owner()
    failed = learn(home, tmp_path, "tides and currents")
    assert failed.code == 1
    assert code_of(failed) == "STORAGE_ERROR"
    assert home.found("tides") == 0
    assert learn(home, tmp_path, "hills and harbours").code == 0
    assert home.found("harbours") == 1
    assert home.owner() == daemon
    assert home.tell("check")["ok"]


@pytest.mark.parametrize("action", ["enospc", pytest.param("eio", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "point", ["write:sections", "rename:sections", "write:documents", "make:folder", "write:events"]
)
def test_files_that_the_disk_refuses_after_the_commit_are_written_later(
    home: Household, tmp_path: Path, point: str, action: str
) -> None:
    start_on_broken_disk(home, point, 1, 5, action)
    assert learn(home, tmp_path, "tides and currents").code == 0
    assert home.run("unlearn", home.tell("search", "currents")["hits"][0]["kbid"]).code == 0
    assert learn(home, tmp_path, "hills and harbours").code == 0
    assert home.found("harbours") == 1
    home.run("daemon", "stop")
    assert home.found("harbours") == 1
    assert home.found("currents") == 0
    assert home.tell("check")["ok"]


def test_a_journal_that_cannot_be_trusted_any_more_ends_the_daemon_and_the_very_next_call_works(
    home: Household,
) -> None:
    start_on_broken_disk(home, "sync:journal", 2, 3, "eio")
    broken = home.owner()
    with Client(home.root) as client:
        client.learn(content="Hills and harbours.", docid="land", replace=True)
        with pytest.raises(StorageError, match="Input/output error"):
            client.learn(content="Tides and currents.", docid="sea", replace=True)
        client.learn(content="Ships and sails.", docid="craft", replace=True)
        assert client.daemon_pid != broken
        assert [client.search(word).total for word in ("harbours", "currents", "sails")] == [1, 0, 1]
        assert client.check().ok


def test_an_index_that_cannot_be_written_does_not_keep_what_is_stored_from_being_found(
    home: Household, tmp_path: Path
) -> None:
    start_on_broken_disk(home, "write:index", 1, 10_000, "enospc")
    assert learn(home, tmp_path, "hills and harbours").code == 0
    assert home.found("harbours") == 1
    refused = home.run("rebuild", "--json")
    assert refused.code == 1
    assert code_of(refused) == "STORAGE_ERROR"
    assert home.found("harbours") == 1
    home.run("daemon", "stop")
    assert home.found("harbours") == 1
    assert home.tell("check")["ok"]


def test_a_full_disk_refuses_writes_and_not_reads_and_writes_again_once_there_is_room(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    with mounted("tmpfs", place, "-o", "size=4m"), household(place / ".kbdb") as home:
        kbdb.init(place).close()
        assert learn(home, tmp_path, "hills and harbours").code == 0
        fill(place / "filler")
        failed = learn(home, tmp_path, "tides and currents" + " in the sea" * 2000)
        assert failed.code == 1
        assert code_of(failed) == "STORAGE_ERROR"
        assert (home.found("harbours"), home.found("currents")) == (1, 0)
        home.run("daemon", "stop")
        assert (home.found("harbours"), home.found("currents")) == (1, 0)
        (place / "filler").unlink()
        assert learn(home, tmp_path, "ships and sails").code == 0
        assert (home.found("harbours"), home.found("currents"), home.found("sails")) == (1, 0, 1)
        assert home.tell("check")["ok"]
        home.stop()


def test_a_full_runtime_folder_hinders_nobody(
    root: Path, tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = runtime / "small"
    place.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    with mounted("tmpfs", place, "-o", "size=64k,mode=700"), household(root) as home:
        kbdb.init(root).close()
        fill(place / "filler")
        assert learn(home, tmp_path, "hills and harbours").code == 0
        assert home.found("harbours") == 1
        assert len(home.orphans()) == 1
        home.stop()


def test_a_limit_of_file_size_refuses_a_write_that_is_too_long_and_nothing_else(
    home: Household, tmp_path: Path
) -> None:
    limit = 256 << 10
    assert (
        home.run("daemon", "start", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))).code == 0
    )
    failed = learn(home, tmp_path, "tides and currents " + " ".join(map(str, range(limit // 4))))
    assert failed.code == 1
    assert code_of(failed) == "STORAGE_ERROR"
    assert learn(home, tmp_path, "hills and harbours").code == 0
    assert (home.found("harbours"), home.found("currents")) == (1, 0)
    assert home.tell("check")["ok"]


def test_a_database_folder_that_may_only_be_read_refuses_writes_by_their_code_and_is_searched(
    home: Household, tmp_path: Path
) -> None:
    assert learn(home, tmp_path, "hills and harbours").code == 0
    home.stop()
    with only_to_read(home.root):
        assert home.run("search", "harbours", "--json", before=without_superpowers).json["total"] == 1
        failed = learn(home, tmp_path, "tides and currents")
        assert failed.code == 1
        assert code_of(failed) == "STORAGE_ERROR"
        assert home.found("currents") == 0
    home.run("daemon", "stop")
    assert learn(home, tmp_path, "tides and currents").code == 0
    assert home.found("currents") == 1
    assert home.tell("check")["ok"]


def test_a_database_on_a_read_only_file_system_is_searched(home: Household, runtime: Path, tmp_path: Path) -> None:
    assert learn(home, tmp_path, "hills and harbours").code == 0
    home.stop()
    with mounted("none", home.root, "--bind", source=home.root):
        subprocess.run(["mount", "-o", "remount,bind,ro", home.root], check=True)
        assert home.found("harbours") == 1
        failed = learn(home, tmp_path, "tides and currents")
        assert failed.code == 1
        assert code_of(failed) == "STORAGE_ERROR"
        assert home.run("gc", "--json").code == 0
        time.sleep(2.5 * WATCH_S)
        assert home.found("harbours") == 1
        subprocess.run(["mount", "-o", "remount,bind,rw", home.root], check=True)
        assert learn(home, tmp_path, "moors and marshes").code == 0, "a daemon that could only read makes way"
        home.stop()
    assert "made anew" not in "".join(log.read_text() for log in runtime.glob("*.log"))
    assert learn(home, tmp_path, "tides and currents").code == 0
    assert home.tell("check")["ok"]


def fill(path: Path) -> None:
    """Takes all the room there is."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 16, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size):
                    pass


@contextlib.contextmanager
def mounted(kind: str, place: Path, *options: str, source: str | Path = "none") -> Iterator[None]:
    """A file system of its own; skips where this user may not make one."""
    done = subprocess.run(
        ["mount", *(("-t", kind) if kind != "none" else ()), *options, source, place], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no mount here: {done.stderr.decode()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@contextlib.contextmanager
def only_to_read(root: Path) -> Iterator[None]:
    """Takes away the permission to write."""
    before = {path: path.stat().st_mode for path in (root, *root.rglob("*"))}
    for path, mode in before.items():
        path.chmod(mode & 0o555)
    try:
        yield
    finally:
        for path, mode in before.items():
            path.chmod(mode)


def without_superpowers() -> None:
    """Permissions bind root, too, and all that it starts."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
