"""daemon: what its commands tell of a daemon that runs, hangs, comes or goes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from daemon_fixtures import root, runtime
from household import Household, household

import kbdb
from kbdb import platform
from kbdb.client import Client
from kbdb.client import stop as stops
from kbdb.client.address import owner
from kbdb.errors import BusyError

__all__ = ["root", "runtime"]


@pytest.fixture
def home(root: Path) -> Iterator[Household]:
    """An empty database, and commands that go through its daemon."""
    kbdb.init(root).close()
    with household(root) as made:
        yield made


def test_logs_are_found_from_another_runtime_folder(home: Household, runtime: Path) -> None:
    home.tell("daemon", "start")
    elsewhere = runtime / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    told = home.tell("daemon", "logs", env={"XDG_RUNTIME_DIR": str(elsewhere)})
    assert told["path"] == str(runtime / platform.log_name(platform.context_id(home.root)))
    assert any(" serves " in line for line in told["lines"])
    home.stop()


def test_logs_go_on_in_what_was_rotated_away(home: Household, runtime: Path) -> None:
    name = platform.log_name(platform.context_id(home.root))
    (runtime / f"{name}.2").write_text("0\n1\n")
    (runtime / f"{name}.1").write_text("2\n3\n")
    (runtime / name).write_text("4\n")
    assert home.tell("daemon", "logs", "--lines", "1")["lines"] == ["4"]
    assert home.tell("daemon", "logs", "--lines", "2")["lines"] == ["3", "4"]
    assert home.tell("daemon", "logs", "--lines", "9")["lines"] == ["0", "1", "2", "3", "4"]


def test_a_daemon_that_hangs_runs_and_does_not_answer(home: Household) -> None:
    home.tell("daemon", "start")
    pid = home.owner()
    assert home.tell("daemon", "status")["answers"]
    os.kill(pid, signal.SIGSTOP)
    assert home.tell("daemon", "status") == {"running": True, "answers": False, "pid": pid}
    assert f"process {pid}, does not answer" in home.run("daemon", "status").out
    os.kill(pid, signal.SIGCONT)
    home.stop()
    assert home.run("daemon", "status", "--json").code == 3


def test_stopping_a_daemon_that_hangs_is_given_up_with_its_process(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.tell("daemon", "start")
    pid = home.owner()
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(stops, "PATIENCE_S", 0.5)
    monkeypatch.setattr(stops, "ASKING_S", 0.2)
    with pytest.raises(BusyError, match=f"process {pid}, the daemon of .*, has not ended within") as caught:
        stops.stop(home.root)
    assert f"kill {pid}" in caught.value.hint


def test_stopping_waits_for_a_daemon_that_hung_for_a_while(home: Household) -> None:
    home.tell("daemon", "start")
    pid = home.owner()
    os.kill(pid, signal.SIGSTOP)
    stopping = home.start("daemon", "stop", "--json")
    time.sleep(1)
    assert stopping.poll() is None
    os.kill(pid, signal.SIGCONT)
    assert home.end(stopping).code == 0
    assert owner(home.root) is None


COMING = """
import asyncio, sys
from pathlib import Path
from kbdb.daemon import process
listen = process._Life._listen
async def late(life, server):
    print(flush=True)
    while not Path(sys.argv[2]).exists():
        await asyncio.sleep(0.01)
    return await listen(life, server)
process._Life._listen = late
sys.exit(process.run(Path(sys.argv[1])))
"""


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """A file that a daemon which is coming waits for before it listens."""
    return tmp_path / "go"


@pytest.fixture
def coming(home: Household, go: Path) -> Iterator[subprocess.Popen[str]]:
    """A daemon that owns the database and does not listen yet."""
    started = home.start(str(home.root), str(go), program=("-c", COMING))
    assert started.stdout
    started.stdout.readline()
    yield started
    go.touch()
    home.run("daemon", "stop")
    started.wait()


def test_a_daemon_that_is_coming_runs(home: Household, coming: subprocess.Popen[str], go: Path) -> None:
    assert home.tell("daemon", "status") == {"running": True, "answers": False, "pid": coming.pid}
    go.touch()
    assert home.run("daemon", "stop").code == 0


def test_a_daemon_that_is_coming_is_stopped_once_it_listens(
    home: Household, coming: subprocess.Popen[str], go: Path
) -> None:
    stopping = home.start("daemon", "stop")
    time.sleep(1)
    assert stopping.poll() is None
    go.touch()
    assert home.end(stopping).code == 0
    assert owner(home.root) is None
    assert coming.wait(30) == 0


def test_a_database_whose_daemon_is_coming_is_opened_by_it(
    home: Household, coming: subprocess.Popen[str], go: Path
) -> None:
    Timer(1, go.touch).start()
    with kbdb.open(home.root) as kb:
        assert isinstance(kb, Client)
        assert kb.daemon_pid == coming.pid
    home.stop()


def test_a_process_that_is_no_daemon_is_not_stopped_but_told(home: Household) -> None:
    with kbdb.open(home.root):
        assert home.run("daemon", "status").code == 3
        stopped = home.run("daemon", "stop", "--json")
    assert stopped.code == 1
    assert stopped.json["error"]["code"] == "DATABASE_LOCKED"
    assert str(os.getpid()) in stopped.json["error"]["message"]
    assert home.run("daemon", "stop").code == 3


def test_stopping_tells_whether_there_was_one(home: Household) -> None:
    home.tell("daemon", "start")
    assert home.tell("daemon", "stop") == {"running": False, "stopped": True}
    assert home.run("daemon", "stop").out.startswith("no daemon ran")
    assert home.run("daemon", "stop").code == 3


def test_a_restart_with_a_setting_that_is_not_allowed_leaves_the_daemon_running(home: Household) -> None:
    home.tell("daemon", "start")
    pid = home.owner()
    (home.root / "worker.toml").write_text("[search]\nlimt = 3\n")
    failed = home.run("daemon", "restart", "--json")
    assert failed.json["error"]["code"] == "BAD_CONFIG"
    assert home.owner() == pid
    (home.root / "worker.toml").write_text("[search]\nlimit = 3\n")
    assert home.tell("daemon", "restart")["pid"] != pid


def findings(home: Household) -> tuple[str, str]:
    """What doctor says of the daemon: status and message."""
    found = {one["name"]: one for one in home.tell("doctor")["findings"]}["daemon"]
    return found["status"], f"{found['message']} {found['hint']}"


def test_doctor_tells_of_the_daemon_and_whether_its_settings_are_those_of_the_files(
    home: Household, runtime: Path
) -> None:
    status, told = findings(home)
    assert (status, told.partition(";")[0]) == ("ok", "none runs")
    home.tell("daemon", "start")
    status, told = findings(home)
    context = platform.context_id(home.root)
    for part in (f"process {home.owner()}, kbdb {kbdb.__version__}", f"{runtime}/kb-worker-{context}.sock"):
        assert part in told
    assert str(runtime / f"kbdb-{context}.log") in told
    assert status == "ok"
    (home.root / "synonyms.toml").write_text("")
    assert findings(home)[0] == "ok"
    (home.root / "worker.toml").write_text("[search]\nlimit = 3\n")
    status, told = findings(home)
    assert status == "warning"
    assert "changed since it read them kbdb daemon restart" in told
    home.tell("daemon", "restart")
    assert findings(home)[0] == "ok"
    os.kill(home.owner(), signal.SIGSTOP)
    assert home.run("config", "--json").json["daemon"] is None
    os.kill(home.owner(), signal.SIGCONT)
    home.stop()


def test_config_says_when_the_daemon_has_other_settings(home: Household) -> None:
    assert home.tell("config")["daemon"] is None
    home.tell("daemon", "start")
    assert home.tell("config")["daemon"] == {"pid": home.owner(), "settings_current": True}
    assert "restart" not in home.run("config").out
    (home.root / "synonyms.toml").write_text("")
    assert home.tell("config")["daemon"]["settings_current"]
    (home.root / "worker.toml").write_text("[search]\nlimit = 3\n")
    assert not home.tell("config")["daemon"]["settings_current"]
    assert "kbdb daemon restart" in home.run("config").out
    home.stop()


def test_a_daemon_in_the_foreground_tells_what_it_does_and_once_that_it_is_ready(home: Household) -> None:
    running = home.start("daemon", "run", "--json")
    assert running.stdout
    ready = json.loads(running.stdout.readline())
    assert (ready["running"], ready["answers"], ready["pid"]) == (True, True, running.pid)
    assert Path(ready["address"]).is_socket()
    second = home.run("daemon", "run", "--json")
    assert (second.code, second.json["pid"]) == (0, running.pid)
    assert "another daemon serves" in second.errors
    home.run("daemon", "stop")
    ended = home.end(running)
    assert (ended.code, ended.out) == (0, "")
    assert f"serves {home.root}" in ended.errors
    assert "leaves: process" in ended.errors


def test_a_daemon_in_the_foreground_that_cannot_start_says_so_as_a_command_does(home: Household) -> None:
    (home.root / "worker.toml").write_text("[search]\nlimt = 3\n")
    ran = home.run("daemon", "run", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "BAD_CONFIG")
    assert home.run("daemon", "run").errors.startswith("error: ")
