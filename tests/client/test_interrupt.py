"""Ctrl-C: a read is left at once; a write is asked to stop, and waited for."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest
from scripted_daemon import Answer, ScriptedDaemon, Talk, echo, refuse, silence

from kbdb.client import connection as connections
from kbdb.client.connection import Connection
from kbdb.errors import DaemonLostError, InterruptedByUserError
from kbdb.progress import Progress
from kbdb.rpc.codes import REFUSED
from kbdb.rpc.messages import Notification, Request

INTERRUPTED = {"code": "INTERRUPTED", "message": "interrupted", "hint": ""}


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    """Ctrl-C as a program finds it, whatever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def connection(daemon: ScriptedDaemon) -> Iterator[Connection]:
    """Connected to ``daemon``."""
    made = Connection(daemon.root)
    yield made
    made.close()


def _after_cancel(daemon: ScriptedDaemon, answer: Answer, presses: int = 1) -> Answer:
    """Presses Ctrl-C once the request is there, waits for the client's word, then answers."""

    def wait(talk: Talk, request: Request) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        told = talk.hear()
        assert told is not None
        daemon.heard.append(told)
        for _ in range(presses - 1):
            os.kill(os.getpid(), signal.SIGINT)
        answer(talk, request)

    return wait


def test_the_first_asks_for_an_end_and_the_answer_is_waited_for(connection: Connection, daemon: ScriptedDaemon) -> None:
    daemon.answers["learn"] = _after_cancel(daemon, echo)
    assert connection.call("learn", {"paths": ["/a"]}) == {"paths": ["/a"]}
    assert daemon.heard == [Request(1, "learn", {"paths": ["/a"]}), Notification("cancel", {"id": 1})]
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    assert daemon.connections == 1


def test_a_write_that_stopped_before_it_did_anything_is_an_interrupted_one(
    connection: Connection, daemon: ScriptedDaemon
) -> None:
    daemon.answers["removeSection"] = _after_cancel(daemon, refuse(REFUSED, "interrupted", INTERRUPTED))
    with pytest.raises(InterruptedByUserError):
        connection.call("removeSection", {"kbid": "x"})
    assert daemon.methods() == ["removeSection", "cancel"]


def test_the_second_does_not_wait(connection: Connection, daemon: ScriptedDaemon) -> None:
    hung = threading.Event()
    daemon.answers["learn"] = _after_cancel(daemon, lambda *_: hung.wait(10), presses=2)
    with pytest.raises(KeyboardInterrupt):
        connection.call("learn", {"paths": ["/a"]})
    hung.set()
    assert daemon.methods() == ["learn", "cancel"]
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    assert daemon.connections == 2


def test_a_read_is_left_and_so_is_its_connection(connection: Connection, daemon: ScriptedDaemon) -> None:
    daemon.answers["check"] = lambda *_: os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        connection.call("check")
    assert daemon.methods() == ["check"]
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    assert daemon.connections == 2


def test_a_program_with_a_handler_of_its_own_keeps_it(connection: Connection, daemon: ScriptedDaemon) -> None:
    pressed = []

    def handler(number: int, _: FrameType | None) -> None:
        pressed.append(number)

    def answer(talk: Talk, request: Request) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        echo(talk, request)

    daemon.answers["learn"] = answer
    signal.signal(signal.SIGINT, handler)
    try:
        assert connection.call("learn", {"paths": ["/a"]}) == {"paths": ["/a"]}
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert pressed == [signal.SIGINT]
    assert daemon.methods() == ["learn"]


def test_other_threads_have_no_ctrl_c_and_call_as_ever(connection: Connection) -> None:
    answers = []
    thread = threading.Thread(target=lambda: answers.append(connection.call("learn", {"paths": []})))
    thread.start()
    thread.join()
    assert answers == [{"paths": []}]


def _interrupt(_: Progress) -> None:
    raise InterruptedByUserError("enough")


def test_a_report_of_progress_can_ask_for_an_end(connection: Connection, daemon: ScriptedDaemon) -> None:
    def answer(talk: Talk, request: Request) -> None:
        for done in (1, 2):
            talk.say(Notification("progress", {"id": request.id, "done": done, "total": 9, "what": ""}))
        told = talk.hear()
        assert told is not None
        daemon.heard.append(told)
        echo(talk, request)

    daemon.answers["learn"] = answer
    assert connection.call("learn", {}, _interrupt) == {"progress": True}
    assert daemon.heard[1:] == [Notification("cancel", {"id": 1})]


def test_one_is_enough_for_a_daemon_that_answers_nobody(
    connection: Connection, daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CANCEL_PATIENCE_S", 0.1)
    monkeypatch.setattr(connections, "LOOK_S", 0.1)
    daemon.answers |= {"learn": lambda *_: os.kill(os.getpid(), signal.SIGINT), "hello": silence}
    with pytest.raises(DaemonLostError, match=f"process {daemon.pid}, .*whether it was done is not known"):
        connection.call("learn", {"paths": ["/a"]})
