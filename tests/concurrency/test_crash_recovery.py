"""Each way a daemon can end in the middle of its work, by the table of the specification, and the next command.

A daemon is started with a fault armed (``kbdb.store.faults``), so that it dies there as by ``kill -9``. A plain socket
makes it happen; what the crash left is looked at before any command does; the commands after it know nothing of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import fasteners
import pytest
from daemons import Daemon, Talk, wait_for
from household import Household, children

from kbdb import platform

LAND, SEA = "# Land\n\nHills and harbours.\n", "# Sea\n\nTides and currents.\n"


class Doomed:
    """A daemon with a fault armed, and a connection to it."""

    def __init__(self, home: Household, fault: str = "") -> None:
        self._home = home
        home.tell("daemon", "start", env={"KBDB_FAULT": fault} if fault else {})
        told = json.loads((home.root / "daemon").read_text())
        self.pid = int(told["pid"])
        self.talk = Talk(told["address"])
        self.talk.ask("hello", version="0")

    def dies_of(self, method: str, **params: object) -> None:
        """Calls a method, in the middle of which the daemon dies."""
        self.talk.send(method, **params)
        assert self.talk.receive() is None
        self.talk.close()
        wait_for(lambda: self.pid not in self._home.orphans())


@pytest.fixture
def land(home: Household, tmp_path: Path) -> Iterator[Path]:
    """A document that is stored, in the files of the database and its index; no daemon runs."""
    path = tmp_path / "land.md"
    path.write_text(LAND)
    home.tell("learn", str(path))
    home.stop()
    yield path
    assert home.found("harbours") == 1
    assert home.tell("check")["ok"]
    assert not list(home.root.rglob("*.tmp"))


def files(home: Household, pattern: str) -> dict[str, bytes]:
    """The files of the database that match, by their paths in it."""
    return {str(path.relative_to(home.root)): path.read_bytes() for path in home.root.rglob(pattern) if path.is_file()}


@pytest.mark.usefixtures("land")
def test_crash_during_section_write_leaves_an_orphan_tmp_that_the_next_start_sweeps(home: Household) -> None:
    before = files(home, "*.sec")
    Doomed(home, "write:sections=kill").dies_of("addSection", content=SEA)
    assert len(files(home, "*.sec.tmp")) == 1
    assert before == files(home, "*.sec")
    # Its commit had become durable, although nobody heard of it: that is finished, not undone.
    assert home.found("currents") == 1
    assert not files(home, "*.tmp")
    assert before.items() < files(home, "*.sec").items()


@pytest.mark.usefixtures("land")
@pytest.mark.parametrize(
    "fault", ["write:journal=kill", "sync:journal=kill", "rename:sections=kill", "write:documents=kill"]
)
def test_crash_inside_a_write_ends_the_daemon_and_the_next_operation_starts_clean(home: Household, fault: str) -> None:
    Doomed(home, fault).dies_of("addSection", content=SEA)
    stored = home.found("currents")
    assert stored == home.tell("status")["sections"] - 1
    if fault == "write:journal=kill":
        assert stored == 0


@pytest.mark.usefixtures("land")
@pytest.mark.parametrize("fault", ["write:index:2=kill", "rename:index:2=kill", "write:meta=kill", "rename:meta=kill"])
def test_crash_during_index_rebuild_leaves_the_originals_and_the_next_rebuild_overwrites(
    home: Household, fault: str
) -> None:
    index, truth = files(home, "indexes/*/*"), files(home, "*.sec") | files(home, "documents/*.toml")
    Doomed(home, fault).dies_of("rebuildIndexes")
    left = files(home, "indexes/*/*")
    assert index.items() <= left.items()
    assert truth == files(home, "*.sec") | files(home, "documents/*.toml")
    assert home.found("harbours") == 1
    assert home.tell("rebuild")["sections"] == 1
    assert len({path.split("/")[1] for path in files(home, "indexes/*/*")}) == 1


@pytest.mark.usefixtures("land")
def test_crash_during_gc_removes_some_sections_and_running_it_again_removes_the_others(home: Household) -> None:
    doomed = Doomed(home, "remove:sections:3=kill")
    for number in range(6):
        doomed.talk.ask("learn", content=f"{SEA}\nThe {number}th.", docid="sea-1", replace=True)
    assert len(files(home, "*.sec")) == 7
    doomed.dies_of("gc", keepDays=0)
    assert len(files(home, "*.sec")) == 5
    home.tell("gc", "--keep-days", "0")
    assert len(files(home, "*.sec")) == 2
    assert home.tell("gc", "--keep-days", "0")["removed"] == 0


@pytest.mark.parametrize("fault", ["write:catalog=kill", "sync:catalog=kill", "rename:catalog=kill"])
def test_crash_during_catalog_write_leaves_no_database_or_a_whole_one(
    home: Household, tmp_path: Path, fault: str
) -> None:
    new = tmp_path / "new"
    new.mkdir()
    assert home.run("init", "--db", str(new), env={"KBDB_FAULT": fault}).code == -signal.SIGKILL
    assert (new / ".kbdb" / "catalog.toml.tmp").exists()
    assert not (new / ".kbdb" / "catalog.toml").exists()
    home.tell("init", "--db", str(new))
    assert not list(new.rglob("*.tmp"))
    assert home.tell("check", "--db", str(new))["ok"]
    home.run("daemon", "stop", "--db", str(new))


@pytest.mark.usefixtures("land")
def test_pid_file_not_removed_of_a_dead_process_is_replaced_by_the_next_daemons(home: Household, runtime: Path) -> None:
    doomed = Doomed(home)
    os.kill(doomed.pid, signal.SIGKILL)
    wait_for(lambda: not home.orphans())
    (pid_file,) = runtime.glob("kbdb-*.pid")
    assert pid_file.read_text() == f"{doomed.pid}\n"
    assert home.found("harbours") == 1
    assert pid_file.read_text() == f"{home.owner()}\n" != f"{doomed.pid}\n"


@pytest.mark.usefixtures("land")
def test_lock_file_not_released_by_a_killed_daemon_keeps_nobody_out(home: Household, runtime: Path) -> None:
    Doomed(home, "sync:journal=kill").dies_of("addSection", content=SEA)
    (lock_file,) = runtime.glob("kbdb-*.lock")
    assert not platform.is_locked(home.root / "lock")
    lock = fasteners.InterProcessLock(lock_file)
    assert lock.acquire(blocking=False)
    lock.release()
    assert home.tell("gc")["removed"] == 0
    assert home.owner() in home.orphans()


def test_crash_of_the_engine_inside_a_write_is_made_good_by_the_client_itself(home: Household, land: Path) -> None:
    """The command that was under way finds the daemon gone, starts another, and asks again."""
    Doomed(home, "write:journal=kill")
    land.with_name("sea.md").write_text(SEA)
    assert home.tell("learn", str(land.with_name("sea.md")))["sections_added"] == 1
    assert home.found("currents") == 1


def test_a_parsing_process_that_is_killed_again_and_again_costs_no_document(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + f"text{number} of the note. " * 300)
    talk = daemon.talk()
    talk.send("learn", paths=[str(tmp_path)], progress=True, exclude=[".kbdb"])
    killed = 0
    while (talk.receive() or {}).get("method") == "progress":
        for pid in children(daemon.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    assert killed
    assert talk.ask("dbStatus")["documents"] == 200
    assert talk.ask("check")["ok"]


def test_a_daemon_killed_while_a_folder_is_parsed_leaves_no_parsing_process(home: Household, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 500)
    doomed = Doomed(home)
    doomed.talk.send("learn", paths=[str(tmp_path)], progress=True, exclude=[".kbdb"])
    doomed.talk.receive()
    (parsing,) = children(doomed.pid)
    os.kill(doomed.pid, signal.SIGKILL)
    wait_for(lambda: not home.orphans())
    assert not Path(f"/proc/{parsing}").exists()
    assert home.tell("check")["ok"]
