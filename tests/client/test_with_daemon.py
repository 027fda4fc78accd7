"""Client and daemon together: one daemon however many start it, and calls that go on when it is killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from client_calls import CALLS

import kbdb
from kbdb import platform
from kbdb.client import Client, launch
from kbdb.client.address import owner
from kbdb.client.stop import stop
from kbdb.daemon.methods import METHODS, read_params
from kbdb.errors import ConfigError, DaemonLostError, DatabaseLockedError, NotADatabaseError
from kbdb.progress import Progress, Report

PATIENCE_S = 30.0
"""How long a test waits for what must come."""

START = """
import sys
from kbdb.client import Client
with Client(sys.argv[1]) as client:
    client.learn(content=sys.argv[2], title=sys.argv[2])
    print(client.daemon_pid)
"""

OLDER = """
import sys
from pathlib import Path
import kbdb
kbdb.__version__ = "0.0.1"
from kbdb.daemon.process import run
run(Path(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def no_start() -> None:
    """Here daemons are started."""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A database, whose daemon is ended."""
    folder = tmp_path.resolve() / "My notes – ü"
    kbdb.init(folder).close()
    root = folder / ".kbdb"
    yield root
    if found := owner(root):
        assert found.pid is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(found.pid, signal.SIGKILL)


@pytest.fixture
def environment() -> dict[str, str]:
    """In which other processes find this kbdb."""
    path = os.pathsep.join([str(Path(kbdb.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path}


def comes(true: Callable[[], object]) -> bool:
    """Whether something comes to be true."""
    until = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def kill(pid: int) -> None:
    """Ends a process as a crash would, and waits until it is gone."""
    os.kill(pid, signal.SIGKILL)
    assert comes(lambda: not platform.is_process_alive(pid))


def log_of(root: Path) -> str:
    return (platform.runtime_dir() / f"kbdb-{platform.context_id(root)}.log").read_text()


def test_commands_that_race_to_start_get_one_daemon(root: Path, environment: dict[str, str]) -> None:
    racers = [
        subprocess.Popen([sys.executable, "-c", START, root, f"text {n}"], env=environment, stdout=subprocess.PIPE)
        for n in range(6)
    ]
    told = {racer.communicate()[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0] * 6
    assert len(told) == 1
    assert log_of(root).count("serves ") == 1
    with Client(root) as client:
        assert client.status().sections == 6


def test_commands_that_see_other_runtime_folders_meet_one_daemon(root: Path, environment: dict[str, str]) -> None:
    with contextlib.ExitStack() as folders:
        racers = []
        for n in range(4):
            folder = folders.enter_context(tempfile.TemporaryDirectory(prefix="kbdb-test-", dir="/tmp"))
            argv = [sys.executable, "-c", START, root, f"text {n}"]
            seen = environment | {"XDG_RUNTIME_DIR": folder}
            racers.append(subprocess.Popen(argv, env=seen, stdout=subprocess.PIPE))
        told = {racer.communicate()[0] for racer in racers}
        assert [racer.returncode for racer in racers] == [0] * 4
        assert len(told) == 1
        with Client(root, start=False) as client:
            assert client.status().sections == 4
        # Not by one shutdown: a daemon that started late may take the place of the first.
        assert stop(root)


def test_a_daemon_outlives_who_started_it_and_has_its_own_session(root: Path, environment: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", START, root, "text"], env=environment, stdout=subprocess.PIPE)
    pid = int(done.stdout)
    assert os.getsid(pid) == pid != os.getsid(0)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    with Client(root, start=False) as client:
        assert client.daemon_pid == pid


def test_a_killed_daemon_is_replaced_by_the_next_call(root: Path) -> None:
    with Client(root) as client:
        client.learn(content="kept", title="kept")
        first = client.daemon_pid
        for _ in range(3):
            kill(client.daemon_pid)
            began = time.monotonic()
            assert client.search("kept").total == 1
            assert time.monotonic() - began < PATIENCE_S
        assert client.daemon_pid != first
        kill(client.daemon_pid)
        assert client.unlearn(client.list("sections").items[0].kbid).removed


def test_a_call_to_a_daemon_that_runs_loads_only_what_it_needs(root: Path, environment: dict[str, str]) -> None:
    script = "import sys; from kbdb.client import Client; print(Client(sys.argv[1]).rank('x'), *sys.modules)"
    with Client(root):
        done = subprocess.run([sys.executable, "-c", script, root], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("[]")
    needless = {"hashlib", "subprocess", "asyncio", "dataclasses", "kbdb.client.start", "kbdb.model", "kbdb.config"}
    assert set(done.stdout.split()) & needless == set()


def test_writes_go_on_while_daemons_end_and_others_come(root: Path) -> None:
    with Client(root) as client:
        (kbid,) = client.learn(content="kept", title="kept").kbids
        for n in range(3):
            threading.Timer(0.02 * n, os.kill, [client.daemon_pid, signal.SIGTERM]).start()
            before = client.daemon_pid
            while client.daemon_pid == before:
                assert client.unlearn(kbid).removed
                client.restore(kbid)


def test_no_zombie_is_left_of_a_daemon_that_this_process_started(root: Path) -> None:
    with Client(root) as client:
        pid = client.daemon_pid
        os.kill(pid, signal.SIGTERM)
        assert comes(lambda: not platform.is_process_alive(pid))


def test_a_read_under_way_when_the_daemon_is_killed_is_answered_by_the_next(root: Path) -> None:
    with Client(root) as client:
        client.learn(content="kept", title="kept")
        os.kill(client.daemon_pid, signal.SIGSTOP)
        threading.Timer(0.2, os.kill, [client.daemon_pid, signal.SIGKILL]).start()
        assert client.search("kept").total == 1


def test_a_write_under_way_when_the_daemon_is_killed_is_told(root: Path) -> None:
    with Client(root) as client:
        (kbid,) = client.learn(content="kept", title="kept").kbids
        os.kill(client.daemon_pid, signal.SIGSTOP)
        threading.Timer(0.2, os.kill, [client.daemon_pid, signal.SIGKILL]).start()
        with pytest.raises(DaemonLostError, match="whether it was done is not known"):
            client.unlearn(kbid)
        assert client.search("kept").total == 1


def test_what_a_killed_daemon_left_stops_nobody(root: Path) -> None:
    with Client(root) as client:
        pid = client.daemon_pid
    kill(pid)
    assert (root / "daemon").exists()
    (root / "daemon").write_text(json.dumps({"address": f"/gone/kb-worker-{'0' * 16}.sock", "pid": 1, "version": "0"}))
    (root / "lock").write_text(f"{os.getppid()}\n")
    with Client(root) as client:
        assert client.daemon_pid != pid
        assert client.status().sections == 0


def test_a_runtime_folder_that_vanishes_costs_no_call(root: Path, runtime: Path) -> None:
    with Client(root) as client:
        client.learn(content="kept", title="kept")
        shutil.rmtree(runtime)
        runtime.mkdir(mode=0o700)
        assert client.search("kept").total == 1
    with Client(root) as client:
        assert client.search("kept").total == 1


def test_a_database_that_another_program_opened_is_told(root: Path, environment: dict[str, str]) -> None:
    script = "import kbdb, sys; kb = kbdb.open(sys.argv[1]); print(flush=True); input()"
    argv = [sys.executable, "-c", script, root]
    with subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(DatabaseLockedError, match=f"in use by process {other.pid}"):
            Client(root)
        other.communicate()
    with Client(root) as client:
        assert client.status().sections == 0


def test_a_removed_database_is_not_brought_back(root: Path) -> None:
    with Client(root) as client:
        pid = client.daemon_pid
        shutil.rmtree(root)
        assert comes(lambda: not platform.is_process_alive(pid))
        with pytest.raises(NotADatabaseError):
            client.status()
    assert not root.exists()


def test_a_mistake_in_worker_toml_is_told_as_it_is(root: Path) -> None:
    (root / "worker.toml").write_text("[search]\ncolour = 1\n")
    with pytest.raises(ConfigError, match="colour"):
        Client(root)


def test_an_older_daemon_makes_way_and_nothing_is_lost(root: Path, environment: dict[str, str]) -> None:
    with subprocess.Popen([sys.executable, "-c", OLDER, root], env=environment) as older:
        assert comes(lambda: launch.find(root))
        with Client(root) as client:
            assert client.daemon_pid != older.pid
            assert client.daemon_status()["version"] == kbdb.__version__
        older.wait(PATIENCE_S)


def test_a_copy_of_a_served_database_has_a_daemon_of_its_own(root: Path, tmp_path: Path) -> None:
    with Client(root) as original:
        original.learn(content="kept", title="kept")
        shutil.copytree(root.parent, tmp_path / "copy")
        with Client(tmp_path / "copy") as copy:
            assert copy.daemon_pid != original.daemon_pid
            copy.learn(content="more", title="more")
            assert original.status().sections == 1
            copy.shutdown()


def test_progress_of_a_folder_comes_over(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for n in range(100):
        (folder / f"{n}.md").write_text(f"# Title {n}\n\ntext {n}\n")
    steps = []
    with Client(root) as client:
        result = client.learn(folder, progress=steps.append)
    assert len(result.documents) == 100
    assert steps
    assert steps[-1].total == 100
    assert [step.done for step in steps] == sorted(step.done for step in steps)


def test_every_long_run_tells_how_far_it_is(root: Path, tmp_path: Path) -> None:
    with Client(root) as client:
        client.learn(content="a fact", title="Fact")
        runs: list[Callable[[Report], object]] = [
            client.check,
            client.rebuild,
            lambda report: client.gc(progress=report),
            lambda report: client.export(tmp_path / "export", report),
            lambda report: client.import_(tmp_path / "export", report),
        ]
        for run in runs:
            steps: list[Progress] = []
            run(steps.append)
            assert steps
            assert steps[-1].done == steps[-1].total


@pytest.mark.parametrize("name", [name for name, (_, method, _) in CALLS.items() if method in METHODS])
def test_the_daemon_takes_what_the_client_sends(name: str) -> None:
    _, method, params = CALLS[name]
    read_params(METHODS[method].params, params)


def test_the_client_asks_for_every_method_there_is() -> None:
    assert {method for _, method, _ in CALLS.values()} | {"learn"} >= METHODS.keys()


def test_a_database_that_took_the_place_of_another_is_served_at_once(root: Path) -> None:
    with Client(root) as client:
        client.learn(content="of the old database", title="Old")
        before = client.daemon_pid
    shutil.rmtree(root)
    kbdb.init(root).close()
    with Client(root) as client:
        assert client.daemon_pid != before
        assert client.search("old").total == 0
        assert client.learn(content="of the new one", title="New").generation == 1
