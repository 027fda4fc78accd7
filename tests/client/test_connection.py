"""kbdb.client.connection: calls, progress, threads, and what is done when the daemon goes away."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_daemon import Answer, Listen, ScriptedDaemon, Talk, echo, hang_up, hello, once, refuse, silence

from kbdb.client import connection as connections
from kbdb.client import wire as wires
from kbdb.client.connection import Connection
from kbdb.errors import (
    DaemonLostError,
    DatabaseClosedError,
    InterruptedByUserError,
    InvalidArgumentError,
    KbdbError,
    ProtocolError,
    SectionNotFoundError,
    TooLargeError,
)
from kbdb.progress import Progress
from kbdb.rpc.codes import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR, REFUSED
from kbdb.rpc.messages import Failure, Notification, Request, Result

CLOSED = {"code": "DATABASE_CLOSED", "message": "closing", "hint": ""}


@pytest.fixture
def connection(daemon: ScriptedDaemon) -> Iterator[Connection]:
    """Connected to ``daemon``."""
    made = Connection(daemon.root)
    yield made
    made.close()


def test_a_call_gives_the_answer_and_leaves_out_what_is_none(connection: Connection, daemon: ScriptedDaemon) -> None:
    assert connection.call("search", {"query": "é", "mode": None, "offset": 0}) == {"query": "é", "offset": 0}
    assert daemon.heard == [Request(1, "search", {"query": "é", "offset": 0})]


def test_calls_share_one_connection(connection: Connection, daemon: ScriptedDaemon) -> None:
    assert [connection.call("ping", {"n": n})["n"] for n in range(5)] == list(range(5))
    assert daemon.connections == 1


def test_the_daemon_is_known_by_its_hello(connection: Connection, daemon: ScriptedDaemon) -> None:
    assert connection.welcome._asdict() == daemon.hello


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (
            refuse(REFUSED, "x", {"code": "SECTION_NOT_FOUND", "message": "no section", "hint": "look"}),
            None,
            "no section",
        ),
        (refuse(INVALID_PARAMS, "x", {"code": "INVALID_ARGUMENT", "message": "limit", "hint": ""}), None, "limit"),
        (refuse(METHOD_NOT_FOUND, "no method"), ProtocolError, "no method"),
        (refuse(INTERNAL_ERROR, "broken"), KbdbError, "broken"),
    ],
)
def test_a_refusal_is_raised_as_the_error_it_is(
    answer: Answer, kind: type[KbdbError] | None, says: str, connection: Connection, daemon: ScriptedDaemon
) -> None:
    daemon.answers["recall"] = answer
    with pytest.raises(kind or (SectionNotFoundError, InvalidArgumentError), match=says):
        connection.call("recall")
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    assert daemon.connections == 1


def test_answers_to_others_and_unknown_notifications_are_passed_over(
    connection: Connection, daemon: ScriptedDaemon
) -> None:
    def answer(talk: Talk, request: Request) -> None:
        talk.say(Result("another", "wrong"))
        talk.say(Notification("news", {"id": request.id}))
        talk.say(Notification("progress", {"id": 99, "done": 1, "total": 1, "what": ""}))
        echo(talk, request)

    daemon.answers["gc"] = answer
    assert connection.call("gc", {"dryRun": True}, pytest.fail) == {"dryRun": True, "progress": True}


def test_progress_is_reported_in_order(connection: Connection, daemon: ScriptedDaemon) -> None:
    def answer(talk: Talk, request: Request) -> None:
        for done in (1, 2):
            talk.say(Notification("progress", {"id": request.id, "done": done, "total": 2, "what": f"{done}.md"}))
        echo(talk, request)

    daemon.answers["learn"] = answer
    steps: list[Progress] = []
    assert connection.call("learn", {}, steps.append) == {"progress": True}
    assert steps == [Progress(1, 2, "1.md"), Progress(2, 2, "2.md")]


def test_an_answer_may_come_in_pieces(connection: Connection, daemon: ScriptedDaemon) -> None:
    def answer(talk: Talk, _: Request) -> None:
        for byte in b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 50 + b'"}\n':
            talk.say_bytes(bytes([byte]))

    daemon.answers["ping"] = answer
    assert connection.call("ping") == "x" * 50


def test_long_answers_and_calls_pass(connection: Connection) -> None:
    text = "é" * (1 << 20)
    assert connection.call("search", {"query": text}) == {"query": text}


def test_a_call_that_is_too_long_is_not_sent(
    connection: Connection, daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wires, "MAX_LINE", 200)
    with pytest.raises(TooLargeError, match="200 can be sent"):
        connection.call("addSection", {"content": "x" * 200})
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    assert daemon.methods() == ["ping"]


@pytest.mark.parametrize(
    "said", [b"garbage\n", b"\xff\n", b"[]\n", b"[" * 100_000 + b"\n", b'{"jsonrpc":"2.0","id":1}\n']
)
def test_garbage_is_an_error_and_the_next_call_connects_anew(
    said: bytes, connection: Connection, daemon: ScriptedDaemon
) -> None:
    daemon.answers["ping"] = once(lambda talk, _: talk.say_bytes(said))
    with pytest.raises(ProtocolError):
        connection.call("ping")
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    assert daemon.connections == 2


def test_a_failure_without_an_id_is_about_this_call(connection: Connection, daemon: ScriptedDaemon) -> None:
    daemon.answers["ping"] = lambda talk, _: talk.say(Failure(None, PARSE_ERROR, "not JSON"))
    with pytest.raises(ProtocolError, match="not JSON"):
        connection.call("ping")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("search", {"query": "x"}),
        ("check", {}),
        ("learn", {"paths": ["/a"]}),
        ("addSection", {"content": "x"}),
        ("gc", {}),
        ("rebuildIndexes", {}),
        ("export", {"path": "/x"}),
    ],
)
def test_a_call_that_may_be_repeated_is_repeated_once(
    method: str, params: dict[str, object], connection: Connection, daemon: ScriptedDaemon
) -> None:
    daemon.answers[method] = once(hang_up)
    assert connection.call(method, params) == params
    assert daemon.methods() == [method, method]
    assert daemon.connections == 2


def test_a_read_that_loses_the_daemon_twice_says_so(connection: Connection, daemon: ScriptedDaemon) -> None:
    daemon.answers["search"] = hang_up
    with pytest.raises(DaemonLostError, match="went away twice while it answered search"):
        connection.call("search")
    assert len(daemon.heard) == 2
    assert connection.call("ping", {"n": 1}) == {"n": 1}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("removeSection", {"kbid": "x"}),
        ("updateSection", {"kbid": "x"}),
        ("groupSections", {}),
        ("learn", {"content": "x", "replace": True}),
        ("learn", {"content": "x", "supersedes": ["y"]}),
        ("addSection", {"content": "x", "replace": True}),
        ("unheardOf", {}),
    ],
)
def test_a_write_of_unknown_outcome_is_not_repeated(
    method: str, params: dict[str, object], connection: Connection, daemon: ScriptedDaemon
) -> None:
    daemon.answers[method] = hang_up
    with pytest.raises(
        DaemonLostError, match=f"before it answered {method}; whether it was done is not known"
    ) as caught:
        connection.call(method, params)
    assert "look before you ask again" in caught.value.hint
    assert daemon.methods() == [method]


def test_half_an_answer_is_a_lost_daemon(connection: Connection, daemon: ScriptedDaemon) -> None:
    def half(talk: Talk, _: Request) -> None:
        talk.say_bytes(b'{"jsonrpc":"2.0","id":1,"resu')
        talk.close()

    daemon.answers["search"] = once(half)
    assert connection.call("search", {"query": "x"}) == {"query": "x"}


def test_a_daemon_that_was_gone_before_a_write_is_found_out_first(listen: Listen) -> None:
    first = listen()
    connection = Connection(first.root)
    first.close()
    second = listen()
    assert connection.call("removeSection", {"kbid": "x"}) == {"kbid": "x"}
    assert second.methods() == ["removeSection"]


def test_a_write_that_a_closing_daemon_did_not_read_is_repeated(connection: Connection, daemon: ScriptedDaemon) -> None:
    def close(talk: Talk, _: Request) -> None:
        talk.say(Notification("closing", {}))
        talk.close()

    daemon.answers["removeSection"] = once(close)
    assert connection.call("removeSection", {"kbid": "x"}) == {"kbid": "x"}


def test_a_write_that_a_closing_daemon_has_read_is_lost_with_it(connection: Connection, daemon: ScriptedDaemon) -> None:
    def read_and_die(talk: Talk, request: Request) -> None:
        talk.say(Notification("closing", {"answers": [request.id]}))
        talk.close()

    daemon.answers["removeSection"] = once(read_and_die)
    with pytest.raises(DaemonLostError):
        connection.call("removeSection", {"kbid": "x"})


def test_a_connection_whose_daemon_closes_after_its_answer_is_not_used_again(
    connection: Connection, daemon: ScriptedDaemon
) -> None:
    def answer_and_read_no_more(talk: Talk, request: Request) -> None:
        talk.say(Notification("closing", {"answers": [request.id]}))
        talk.say(Result(request.id, {}))
        talk.hear()
        talk.close()

    daemon.answers["removeSection"] = once(answer_and_read_no_more)
    assert connection.call("removeSection", {"kbid": "x"}) == {}
    assert connection.call("removeSection", {"kbid": "y"}) == {"kbid": "y"}
    assert daemon.connections == 2


def test_a_write_that_a_closed_database_refused_is_repeated(connection: Connection, daemon: ScriptedDaemon) -> None:
    daemon.answers["removeSection"] = once(refuse(REFUSED, "closing", CLOSED))
    assert connection.call("removeSection", {"kbid": "x"}) == {"kbid": "x"}
    assert daemon.connections == 2


def test_nothing_is_asked_of_another_database(listen: Listen) -> None:
    first = listen()
    connection = Connection(first.root)
    first.close()
    second = listen(database="b" * 26)
    for method in ("search", "removeSection"):
        with pytest.raises(DaemonLostError, match="another database now"):
            connection.call(method)
    assert second.heard == []


def test_without_starting_a_missing_daemon_is_told(root: Path) -> None:
    with pytest.raises(DaemonLostError, match="no daemon serves"):
        Connection(root, start=False)


def test_a_silent_daemon_is_given_up_in_time(daemon: ScriptedDaemon) -> None:
    daemon.answers["search"] = once(silence)
    connection = Connection(daemon.root, timeout_s=0.1)
    with pytest.raises(DaemonLostError, match=r"said nothing of search for 0\.1 s"):
        connection.call("search")
    assert connection.call("search", {"query": "y"}) == {"query": "y"}
    assert daemon.connections == 2


def test_a_closed_connection_says_so(connection: Connection) -> None:
    connection.close()
    connection.close()
    with pytest.raises(DatabaseClosedError):
        connection.call("ping")


def test_a_progress_report_cannot_call_the_waiting_client(connection: Connection, daemon: ScriptedDaemon) -> None:
    def answer(talk: Talk, request: Request) -> None:
        talk.say(Notification("progress", {"id": request.id, "done": 1, "total": 1, "what": ""}))
        echo(talk, request)

    daemon.answers["learn"] = answer
    with pytest.raises(InvalidArgumentError, match="a report of progress calls the client"):
        connection.call("learn", {}, lambda _: connection.call("ping"))
    assert connection.call("ping", {"n": 1}) == {"n": 1}


def test_threads_take_turns_and_each_gets_its_own_answer(connection: Connection, daemon: ScriptedDaemon) -> None:
    wrong: list[object] = []

    def work(number: int) -> None:
        for n in range(50):
            answer = connection.call("ping", {"who": number, "n": n})
            if answer != {"who": number, "n": n}:
                wrong.append(answer)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(daemon.heard) == 400
    assert daemon.connections == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_connection_of_its_own(connection: Connection, daemon: ScriptedDaemon) -> None:
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    child = os.fork()
    if child == 0:
        # Not one of the test's own threads is here any more; the daemon's are in the parent.
        os._exit(0 if connection.call("ping", {"n": 2}) == {"n": 2} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert connection.call("ping", {"n": 3}) == {"n": 3}
    assert daemon.connections == 2


def test_a_daemon_that_says_hello_otherwise_is_not_believed(listen: Listen) -> None:
    daemon = listen()
    for told in ({}, [], "hi", {"version": "1"}):
        daemon.answers["hello"] = hello(told)  # type: ignore[arg-type]
        with pytest.raises(DaemonLostError):
            Connection(daemon.root, start=False)


@pytest.mark.parametrize("method", ["search", "removeSection"])
def test_closing_ends_a_call_that_another_thread_waits_for(
    method: str, connection: Connection, daemon: ScriptedDaemon
) -> None:
    asked, caught = threading.Event(), []
    daemon.answers[method] = lambda *_: asked.set()

    def wait() -> None:
        try:
            connection.call(method)
        except KbdbError as error:
            caught.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert asked.wait(10)
    connection.close()
    waiting.join(10)
    assert [type(error) for error in caught] == [DatabaseClosedError]
    with pytest.raises(DatabaseClosedError):
        connection.call("ping")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_closing_in_a_forked_child_leaves_the_parents_connection(
    connection: Connection, daemon: ScriptedDaemon
) -> None:
    child = os.fork()
    if child == 0:
        connection.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert connection.call("ping", {"n": 1}) == {"n": 1}
    assert daemon.connections == 1


def test_a_read_of_a_daemon_that_answers_nobody_is_given_up_with_its_process(
    connection: Connection, daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "READ_PATIENCE_S", 0.1)
    monkeypatch.setattr(connections, "LOOK_S", 0.1)
    daemon.answers |= {"search": silence, "hello": silence}
    with pytest.raises(DaemonLostError, match=f"process {daemon.pid}, said nothing of search for 0.1 s") as caught:
        connection.call("search")
    assert f"kill -9 {daemon.pid}" in caught.value.hint


def test_a_read_goes_on_waiting_for_a_daemon_that_answers_others(
    connection: Connection, daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "READ_PATIENCE_S", 0.05)

    def late(talk: Talk, request: Request) -> None:
        threading.Event().wait(0.3)
        echo(talk, request)

    daemon.answers["search"] = late
    assert connection.call("search", {"query": "x"}) == {"query": "x"}
    assert daemon.methods() == ["search"]


@pytest.mark.parametrize("method", ["learn", "check"])
def test_what_waits_for_its_turn_is_waited_for_whatever_the_daemon_says(
    method: str, connection: Connection, daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("READ_PATIENCE_S", "CANCEL_PATIENCE_S", "LOOK_S"):
        monkeypatch.setattr(connections, name, 0.05)

    def late(talk: Talk, request: Request) -> None:
        threading.Event().wait(0.4)
        echo(talk, request)

    daemon.answers |= {method: late, "hello": silence}
    assert connection.call(method, {"n": 1}) == {"n": 1}


@pytest.mark.parametrize("told", ["before it is sent", "while it is waited for"])
def test_another_thread_can_end_a_write_early(connection: Connection, daemon: ScriptedDaemon, told: str) -> None:
    asked = threading.Event()

    def wait(talk: Talk, request: Request) -> None:
        asked.set()
        assert talk.hear() == Notification("cancel", {"id": request.id})
        refuse(REFUSED, "x", {"code": "INTERRUPTED", "message": "interrupted", "hint": ""})(talk, request)

    def greet(talk: Talk, request: Request) -> None:
        connection.cancel()
        hello(daemon.hello)(talk, request)

    daemon.answers["revise"] = wait
    if told == "before it is sent":
        daemon.answers["ping"] = hang_up
        with pytest.raises(DaemonLostError):
            connection.call("ping")
        daemon.answers["hello"] = greet
    else:
        threading.Thread(target=lambda: asked.wait() and connection.cancel(), daemon=True).start()
    with pytest.raises(InterruptedByUserError):
        connection.call("revise")


def test_cancelling_where_nothing_is_under_way_leaves_the_next_call_alone(
    connection: Connection, daemon: ScriptedDaemon
) -> None:
    connection.cancel()
    connection.call("revise")
    connection.cancel()
    assert daemon.methods() == ["revise"]
