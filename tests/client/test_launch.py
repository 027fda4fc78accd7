"""kbdb.client.launch and what it is made of: one daemon is found or started, whatever lies about."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scripted_daemon import Listen, ScriptedDaemon, Talk, hang_up, refuse, silence

from kbdb import platform
from kbdb.client import launch
from kbdb.client import start as starts
from kbdb.client.address import log_path
from kbdb.client.launch import Link, find, reach
from kbdb.errors import (
    ConfigError,
    DaemonStartError,
    DatabaseLockedError,
    KbdbError,
    NotADatabaseError,
    UnsupportedFormatError,
)
from kbdb.rpc.codes import REFUSED
from kbdb.rpc.messages import Request, Result

SOON_S = 0.4
"""A deadline for what cannot succeed."""


class Child:
    """The process of a daemon that a test starts.

    Attributes:
        code: how it ended; None while it runs.
    """

    pid = 2**22 + 1

    def __init__(self) -> None:
        self.code: int | None = None

    def poll(self) -> int | None:
        return self.code

    def wait(self) -> int:
        return self.code or 0


Run = Callable[[Child, int | None], object]


class Starter:
    """Takes the place of ``platform.spawn_detached``: what a started daemon does is a function of the test's.

    Attributes:
        argvs: what was started.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.argvs: list[list[str]] = []

    def __call__(self, argv: list[str], log_fd: int | None, environ: dict[str, str]) -> Child:
        self.argvs.append(argv)
        self.environ = environ
        child = Child()
        self.run(child, log_fd)
        return child


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], Starter]:
    """Says what happens when a daemon is started."""

    def start(run: Run) -> Starter:
        starter = Starter(run)
        monkeypatch.setattr(platform, "spawn_detached", starter)
        return starter

    return start


@pytest.fixture
def hold(root: Path) -> Iterator[Callable[[int], None]]:
    """Makes somebody the owner of the database, by the pid that stands in the lock."""
    held: list[int] = []

    def hold(pid: int) -> None:
        held.append(os.open(root / "lock", os.O_RDWR | os.O_CREAT))
        fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.truncate(held[-1], 0)
        os.write(held[-1], f"{pid}\n".encode())

    yield hold
    for fd in held:
        os.close(fd)


@pytest.fixture
def stranger() -> Iterator[int]:
    """The pid of a process that lives and is no daemon."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield child.pid
    child.communicate()


def closing(link: Link | None) -> bool:
    """Closes a link, if there is one."""
    if link:
        link.wire.close()
    return link is not None


def test_a_daemon_that_listens_is_taken(daemon: ScriptedDaemon) -> None:
    link = reach(daemon.root)
    assert link.welcome.pid == daemon.pid
    assert closing(link)


def test_where_none_listens_one_is_started(root: Path, listen: Listen, start: Callable[[Run], Starter]) -> None:
    starter = start(lambda *_: listen())
    assert closing(reach(root))
    assert starter.argvs == [[sys.executable, "-m", "kbdb.daemon", str(root)]]


def test_a_started_daemon_finds_this_same_kbdb(
    root: Path, listen: Listen, start: Callable[[Run], Starter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"here{os.pathsep}{os.pathsep}/there")
    starter = start(lambda *_: listen())
    assert closing(reach(root))
    paths = starter.environ["PYTHONPATH"].split(os.pathsep)
    assert paths[:2] == [os.path.abspath("here"), "/there"]
    assert all(os.path.isabs(path) for path in paths)


def test_finding_starts_nothing(root: Path) -> None:
    assert find(root) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"address": 1, "pid": 2}',
        b'{"address": "/x", "pid": "2"}',
        b"[" * 4000,
        b'{"address": "/nowhere/kb-worker-0123456789abcdef.sock", "pid": 99999999, "version": "0"}',
        b'{"address": "", "pid": 99999999, "version": "0"}',
    ],
)
def test_a_stale_address_is_passed_over(
    content: bytes, root: Path, listen: Listen, start: Callable[[Run], Starter]
) -> None:
    (root / "daemon").write_bytes(content)
    starter = start(lambda *_: listen())
    assert closing(reach(root))
    assert len(starter.argvs) == 1


def test_without_an_address_the_usual_one_is_tried(daemon: ScriptedDaemon) -> None:
    (daemon.root / "daemon").unlink()
    assert closing(find(daemon.root))


def test_an_address_with_another_name_than_a_daemons_is_not_connected_to(
    root: Path, listen: Listen, runtime: Path
) -> None:
    other = listen(address=str(runtime / "agent.sock"))
    assert find(root) is None
    assert other.connections == 0


def test_an_orphaned_socket_is_passed_over(
    daemon: ScriptedDaemon, listen: Listen, start: Callable[[Run], Starter]
) -> None:
    daemon.close()
    assert os.path.exists(daemon.address)
    starter = start(lambda *_: listen())
    assert closing(reach(daemon.root))
    assert len(starter.argvs) == 1


def test_a_pid_that_is_somebody_elses_now_stops_nobody(
    root: Path, listen: Listen, stranger: int, start: Callable[[Run], Starter]
) -> None:
    (root / "lock").write_text(f"{stranger}\n")
    (root / "daemon").write_text(json.dumps({"address": "", "pid": stranger, "version": "0"}))
    starter = start(lambda *_: listen())
    assert closing(reach(root, SOON_S))
    assert len(starter.argvs) == 1


def test_a_copied_database_does_not_reach_the_daemon_of_the_original(
    daemon: ScriptedDaemon, listen: Listen, tmp_path: Path, start: Callable[[Run], Starter]
) -> None:
    copy = tmp_path / "copy" / ".kbdb"
    shutil.copytree(daemon.root, copy)
    start(lambda *_: listen(copy, pid=77))
    link = reach(copy)
    assert link.welcome.pid == 77
    assert closing(link)
    assert daemon.heard == []


def test_a_database_reached_by_a_link_is_the_same(daemon: ScriptedDaemon, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(daemon.root.parent)
    assert closing(find(tmp_path / "link" / ".kbdb"))


def test_an_owner_that_is_no_daemon_is_told_after_a_while(
    root: Path, stranger: int, hold: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE_S", 0.1)
    hold(stranger)
    with pytest.raises(DatabaseLockedError, match=f"in use by process {stranger}") as caught:
        reach(root)
    assert f"kill {stranger}" in caught.value.hint


def test_an_owner_from_another_world_is_told_without_a_pid(
    root: Path, hold: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE_S", 0.1)
    hold(2**22 + 1)
    with pytest.raises(DatabaseLockedError, match="in use by another process"):
        reach(root)


def test_an_owner_that_is_this_process_is_told_at_once(root: Path, hold: Callable[[int], None]) -> None:
    hold(os.getpid())
    with pytest.raises(DatabaseLockedError, match="already open in this process"):
        reach(root)


def test_a_short_owner_is_waited_for(
    root: Path, stranger: int, listen: Listen, start: Callable[[Run], Starter]
) -> None:
    fd = os.open(root / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, f"{stranger}\n".encode())
    threading.Timer(0.2, os.close, [fd]).start()
    starter = start(lambda *_: listen())
    assert closing(reach(root))
    assert len(starter.argvs) == 1


def test_a_daemon_that_is_getting_ready_is_waited_for(
    root: Path, stranger: int, listen: Listen, hold: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE_S", 0.0)
    hold(stranger)
    (root / "daemon").write_text(json.dumps({"address": "", "pid": stranger, "version": "0"}))
    timer = threading.Timer(0.3, lambda: listen(pid=stranger))
    timer.start()
    assert closing(reach(root))
    timer.join()


@pytest.mark.skipif(sys.platform != "linux", reason="asks a process for its name")
def test_a_daemon_is_known_by_its_name(
    root: Path, hold: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE_S", 0.0)
    script = "open('/proc/self/comm', 'w').write('kbdb-worker'); print(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout
    child.stdout.readline()
    hold(child.pid)
    try:
        with pytest.raises(DaemonStartError, match=f"process {child.pid} owns the database and did not answer"):
            reach(root, SOON_S)
    finally:
        child.communicate()


def test_an_error_that_the_daemon_logged_is_raised(root: Path, start: Callable[[Run], Starter]) -> None:
    def fail(child: Child, log_fd: int | None) -> None:
        assert log_fd is not None
        os.write(log_fd, b"starting\n" + json.dumps(ConfigError("line 3: colour", "remove it").as_dict()).encode())
        os.write(log_fd, b"\nended\n")
        child.code = 1

    start(fail)
    with pytest.raises(ConfigError, match="line 3: colour") as caught:
        reach(root)
    assert caught.value.hint == "remove it"


def test_otherwise_the_last_lines_of_this_start_are_told(root: Path, start: Callable[[Run], Starter]) -> None:
    def fail(child: Child, log_fd: int | None) -> None:
        assert log_fd is not None
        os.write(log_fd, b"".join(b"line %d\n" % n for n in range(30)) + b"\xff\n")
        child.code = 3

    for _ in range(2):
        start(fail)
        with pytest.raises(DaemonStartError, match="ended with code 3 before it was ready") as caught:
            reach(root)
        assert caught.value.message.split("\n")[1:] == [
            *(f"  line {n}" for n in range(21, 30)),
            "  \N{REPLACEMENT CHARACTER}",
        ]
        assert caught.value.hint.endswith(".log")


def test_what_an_earlier_start_logged_is_not_told(root: Path, start: Callable[[Run], Starter]) -> None:
    def fail(child: Child, log_fd: int | None) -> None:
        assert log_fd is not None
        os.write(log_fd, json.dumps(ConfigError("old", "").as_dict()).encode() + b"\n")
        child.code = 1

    def vanish(child: Child, _: int | None) -> None:
        child.code = -9

    start(fail)
    with pytest.raises(ConfigError):
        reach(root)
    start(vanish)
    with pytest.raises(DaemonStartError, match="ended with code -9"):
        reach(root)


def test_a_daemon_that_leaves_to_another_is_no_failure(
    root: Path, listen: Listen, start: Callable[[Run], Starter]
) -> None:
    def leave(child: Child, _: int | None) -> None:
        listen()
        child.code = 0

    start(leave)
    assert closing(reach(root))


def test_a_daemon_that_ended_well_before_it_was_seen_is_started_again(
    root: Path, listen: Listen, start: Callable[[Run], Starter]
) -> None:
    """Somebody stopped it at once: whoever started it has the turn, and must not wait for himself."""
    starts = []

    def run(child: Child, _: int | None) -> None:
        starts.append(child)
        if len(starts) == 1:
            child.code = 0
        else:
            listen()

    start(run)
    assert closing(reach(root))
    assert len(starts) == 2


def test_a_daemon_that_fails_while_another_comes_up_is_no_failure(
    root: Path, listen: Listen, start: Callable[[Run], Starter]
) -> None:
    def fail(child: Child, _: int | None) -> None:
        child.code = 1
        listen()

    start(fail)
    assert closing(reach(root))


def test_a_start_that_takes_too_long_is_told_and_left_alone(root: Path, start: Callable[[Run], Starter]) -> None:
    starter = start(lambda *_: None)
    with pytest.raises(DaemonStartError, match="was not ready within 0 s"):
        reach(root, SOON_S)
    assert len(starter.argvs) == 1


def test_two_at_once_start_one(root: Path, listen: Listen, start: Callable[[Run], Starter]) -> None:
    starter = start(lambda *_: threading.Timer(0.2, listen).start())
    links: list[Link] = []
    threads = [threading.Thread(target=lambda: links.append(reach(root))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(links) == 8
    assert all(map(closing, links))
    assert len(starter.argvs) == 1


def test_when_the_first_to_start_fails_the_next_has_a_try(
    root: Path, listen: Listen, start: Callable[[Run], Starter]
) -> None:
    outcomes: list[object] = []

    def run(child: Child, _: int | None) -> None:
        if len(starter.argvs) == 1:
            child.code = 1
        else:
            listen()

    def attempt() -> None:
        try:
            outcomes.append(closing(reach(root)))
        except KbdbError as error:
            outcomes.append(error.code)

    starter = start(run)
    threads = [threading.Thread(target=attempt) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["DAEMON_START", "True", "True", "True"]


def test_without_a_runtime_folder_it_is_tried_all_the_same(
    root: Path, runtime: Path, listen: Listen, start: Callable[[Run], Starter], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(runtime / "kb-worker-0123456789abcdef.sock")
    logs = []

    def refuse_folder() -> Path:
        raise platform.StorageError("no folder", "")

    def run(_: Child, log_fd: int | None) -> None:
        logs.append(log_fd)
        listen(address=address)

    monkeypatch.setattr(platform, "runtime_dir", refuse_folder)
    start(run)
    assert closing(reach(root))
    assert logs == [None]


def test_a_removed_database_is_not_made_again(root: Path) -> None:
    root.rmdir()
    with pytest.raises(NotADatabaseError):
        reach(root)
    assert not root.exists()


def test_an_older_daemon_is_asked_once_to_make_way(root: Path, listen: Listen, start: Callable[[Run], Starter]) -> None:
    old = listen(version="0.0.9", pid=11)

    def leave(talk: Talk, request: Request) -> None:
        talk.say(Result(request.id, {"stopping": True}))
        threading.Timer(0.2, old.close).start()

    old.answers["shutdown"] = leave
    start(lambda *_: listen(pid=22))
    link = reach(root)
    assert link.welcome.pid == 22
    assert closing(link)
    assert old.methods() == ["shutdown"]


def test_an_older_daemon_that_does_not_make_way_is_told(root: Path, listen: Listen) -> None:
    old = listen(version="0.0.9", pid=11)
    with pytest.raises(DaemonStartError, match=r"process 11 of kbdb 0\.0\.9 has not made way"):
        reach(root, SOON_S)
    assert old.methods() == ["shutdown"]


@pytest.mark.parametrize("version", ["999.0.0", "999", "0.1.0.dev5", "nonsense"])
def test_a_newer_daemon_or_one_of_an_odd_version_is_talked_to(version: str, root: Path, listen: Listen) -> None:
    daemon = listen(version=version if version != "nonsense" else "9x")
    assert closing(reach(root))
    assert daemon.methods() == []


@pytest.mark.parametrize("answer", [silence, hang_up, lambda talk, _: talk.say_bytes(b"HTTP/1.1 400\r\n\r\n")])
def test_a_listener_that_does_not_say_hello_is_told_in_time(
    answer: Callable[[Talk, Request], None],
    root: Path,
    listen: Listen,
    stranger: int,
    hold: Callable[[int], None],
) -> None:
    odd = listen(pid=stranger)
    odd.answers["hello"] = answer
    hold(stranger)
    began = time.monotonic()
    with pytest.raises(DaemonStartError, match=f"process {stranger} owns the database and did not answer") as caught:
        reach(root, SOON_S)
    assert odd.address in caught.value.message
    assert time.monotonic() - began < 10


def test_a_daemon_that_refuses_the_greeting_is_heard(root: Path, listen: Listen) -> None:
    daemon = listen()
    told = {"code": "UNSUPPORTED_FORMAT", "message": "too new", "hint": ""}
    daemon.answers["hello"] = refuse(REFUSED, "too new", told)
    with pytest.raises(KbdbError, match="too new") as caught:
        reach(root)
    assert caught.value.code == "UNSUPPORTED_FORMAT"


def test_a_database_of_a_format_that_this_program_cannot_read_is_refused(root: Path, listen: Listen) -> None:
    daemon = listen(version="99.0")
    daemon.hello["format"] = 2
    for connect in (reach, find):
        with pytest.raises(UnsupportedFormatError, match=r"has format 2, this kbdb \(.*\) reads up to 1") as caught:
            connect(root)
        assert caught.value.hint == "use kbdb 99.0, as its daemon does"


def test_a_socket_of_another_user_is_not_believed(daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "peer_uid", lambda _: os.geteuid() + 1)
    assert find(daemon.root) is None
    assert daemon.heard == []


def test_the_log_is_the_users_alone(root: Path, runtime: Path, listen: Listen, start: Callable[[Run], Starter]) -> None:
    start(lambda *_: listen())
    assert closing(reach(root))
    (log,) = runtime.glob("*.log")
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.name == f"kbdb-{platform.context_id(root)}.log"


def test_python_without_a_name_cannot_start_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts.sys, "executable", "")
    with pytest.raises(DaemonStartError, match="which Python"):
        reach(root)


@pytest.mark.parametrize(
    ("log", "taken"),
    [("{name}", True), ("kbdb-0123456789abcdef.log", False), (".bashrc", False), ("../{name}", True), (7, False)],
)
def test_a_log_is_read_where_the_daemon_says_and_only_if_it_is_that_databases(
    log: object, taken: bool, root: Path, tmp_path: Path, runtime: Path
) -> None:
    name = platform.log_name(platform.context_id(root))
    told = f"{tmp_path}/{log.format(name=name)}" if isinstance(log, str) else log
    (root / "daemon").write_text(json.dumps({"address": "", "pid": 7, "version": "0", "log": told}))
    assert log_path(root) == (Path(str(told)) if taken else runtime / name)
    (root / "daemon").write_text(json.dumps({"address": "", "pid": 7, "version": "0", "log": name}))
    assert log_path(root) == runtime / name
