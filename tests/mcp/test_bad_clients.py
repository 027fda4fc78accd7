"""Clients that misbehave, each against a real process: it answers what can be answered, goes on, and leaves quietly."""

from __future__ import annotations

import array
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemons import wait_for
from mcp_driver import envelope
from mcp_process import COMMAND, KBDB_MCP, Server, server

from kbdb.mcp.workers import MAX_BYTES, MAX_WAITING, MAX_WORKERS

QUIET = (0, b"", b"")


@pytest.fixture
def bad() -> Iterator[Server]:
    """A server that a bad client shook hands with."""
    with server() as found:
        found.begin()
        yield found


def refused(bad: Server, line: bytes) -> tuple[int, Any]:
    """Sends a line; gives the number and the id of the refusal. The server goes on."""
    bad.write(line + b"\n")
    answer = bad.receive()
    assert bad.ask("ping")["result"] == {}
    return answer["error"]["code"], answer.get("id")


def test_a_huge_line_is_refused_and_the_next_is_read(bad: Server) -> None:
    huge = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * (9 << 20) + b'"}}'
    assert refused(bad, huge) == (-32600, None)
    assert bad.end() == QUIET


def test_a_line_of_eight_mebibytes_is_served(bad: Server) -> None:
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b'"}}'
    bad.write(head + b"x" * ((8 << 20) - len(head) - len(tail)) + tail + b"\n")
    assert bad.receive()["result"] == {}


def test_deep_nesting_is_refused(bad: Server) -> None:
    assert refused(bad, b"[" * 100_000) == (-32700, None)
    assert refused(bad, b'{"id":1,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}") == (-32700, None)
    assert bad.end() == QUIET


def test_a_batch_is_refused(bad: Server) -> None:
    batch = [{"jsonrpc": "2.0", "id": id, "method": "ping"} for id in (1, 2)]
    assert refused(bad, json.dumps(batch).encode()) == (-32600, None)


@pytest.mark.parametrize("id", ["null", "true", "1.5", "[]", "{}"])
def test_a_bad_id_is_refused(bad: Server, id: str) -> None:
    assert refused(bad, b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id.encode()) == (-32600, None)


@pytest.mark.parametrize("id", ['"' + "x" * 257 + '"', "1" * 257])
def test_a_long_id_is_refused_without_it(bad: Server, id: str) -> None:
    assert refused(bad, b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id.encode()) == (-32600, None)


def test_half_a_surrogate_pair_is_refused_under_its_id(bad: Server) -> None:
    line = b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"\\ud800"}}'
    assert refused(bad, line) == (-32602, 3)


def test_half_a_surrogate_pair_in_bytes_is_refused(bad: Server) -> None:
    assert refused(bad, b'{"jsonrpc":"2.0","id":3,"method":"\xed\xa0\x80"}') == (-32700, None)


def test_text_that_is_not_utf8_is_refused(bad: Server) -> None:
    assert refused(bad, b"\xff\xfe{\x00}\x00") == (-32700, None)


def test_binary_rubbish_is_survived(bad: Server) -> None:
    bad.write(bytes(range(256)) * 64 + b"\n")
    while "result" not in bad.ask("ping"):
        pass
    assert bad.end()[0] == 0


def test_parameters_in_a_list_are_refused_under_their_id(bad: Server) -> None:
    assert refused(bad, b'{"jsonrpc":"2.0","id":"l","method":"tools/list","params":[1]}') == (-32602, "l")


def test_blank_lines_and_both_line_ends_are_fine(bad: Server) -> None:
    bad.write(b'\n\r\n  \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
    assert bad.receive()["result"] == {}


def test_a_message_in_pieces_is_put_together(bad: Server) -> None:
    for byte in b'{"jsonrpc":"2.0","id":"\xc3\xa9","method":"ping"}\n':
        bad.write(bytes([byte]))
    assert bad.receive()["id"] == "é"


def test_requests_before_initialize_are_refused() -> None:
    with server() as early:
        assert early.ask("tools/list")["error"]["code"] == -32002


def test_an_unknown_revision_gets_one_that_is_known() -> None:
    with server() as other:
        answer = other.ask("initialize", protocolVersion="1999-12-31", capabilities={})
        assert answer["result"]["protocolVersion"] == "2025-11-25"
        meta = {**envelope(), "io.modelcontextprotocol/protocolVersion": "1999-12-31"}
        assert other.ask("tools/list", _meta=meta)["error"]["code"] == -32022


def test_interleaved_requests_of_both_eras_each_get_their_own_answer(bad: Server) -> None:
    for number in range(200):
        meta = {"_meta": envelope()} if number % 2 else {}
        name = ["test_simple_text", "test_error_handling"][number % 4 // 2]
        bad.send({"id": number, "method": "tools/call", "params": {"name": name, **meta}})
        if number % 8 == 7:  # no more than are waited for, or some are told that it is busy
            answers = [bad.receive() for _ in range(8)]
            assert sorted(one["id"] for one in answers) == list(range(number - 7, number + 1))
            for answer in answers:
                assert ("resultType" in answer["result"]) is (answer["id"] % 2 == 1)
                assert answer["result"].get("isError", False) is (answer["id"] % 4 // 2 == 1)


def test_a_quick_request_does_not_wait_for_a_slow_one(bad: Server) -> None:
    bad.send({"id": "slow", "method": "tools/call", "params": {"name": "slow"}})
    assert bad.ask("tools/list")["id"] == "id"
    assert bad.ask("tools/call", name="test_simple_text")["id"] == "id"
    bad.send({"method": "notifications/cancelled", "params": {"requestId": "slow"}})
    assert bad.ask("ping")["result"] == {}
    assert bad.end() == QUIET


@pytest.mark.parametrize(
    ("sent", "size", "refused"),
    [(MAX_WORKERS + MAX_WAITING + 20, 1, 20), (16, 7 << 20, 16 - MAX_BYTES // (7 << 20))],
    ids=["requests", "bytes"],
)
def test_a_flood_is_told_that_the_server_is_busy(bad: Server, sent: int, size: int, refused: int) -> None:
    for number in range(sent):
        call = {"name": "slow", "arguments": {"x": "x" * size}}
        bad.send({"id": number, "method": "tools/call", "params": call})
    # At least so many: a worker may not have begun when the next request comes.
    answers = [bad.receive() for _ in range(refused)]
    assert all("busy" in answer["result"]["content"][0]["text"] for answer in answers)
    for number in range(sent):
        bad.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    answer = bad.ask("tools/call", id="last", name="test_simple_text")
    while answer["id"] != "last" or "isError" in answer["result"]:
        answer = bad.receive() if answer["id"] != "last" else bad.ask("tools/call", id="last", name="test_simple_text")
    assert bad.end() == QUIET


def test_a_client_that_hangs_up_in_the_middle_of_a_line_ends_the_server(bad: Server) -> None:
    bad.write(b'{"jsonrpc":"2.0","id":1,"method":"pi')
    assert bad.end() == QUIET


def test_a_client_that_hangs_up_at_once_ends_the_server() -> None:
    with server() as found:
        assert found.end() == QUIET


def test_a_client_that_hangs_up_ends_calls_that_run_or_wait_for_it(bad: Server) -> None:
    bad.begin(sampling={})
    for number in range(20):
        bad.send({"id": number, "method": "tools/call", "params": {"name": "slow"}})
    bad.send({"id": "q", "method": "tools/call", "params": {"name": "test_sampling", "arguments": {"prompt": "x"}}})
    assert bad.end() == QUIET


def test_a_handler_that_hangs_does_not_keep_the_server() -> None:
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); import mcp_registry; from kbdb.mcp.stdio import serve;"
        "mcp_registry.TOOLS['slow'] = lambda *_: time.sleep(3600); sys.exit(serve(mcp_registry.FixtureRegistry()))"
    )
    with server([sys.executable, "-c", code, str(Path(COMMAND[1]).parent)]) as stuck:
        stuck.begin()
        stuck.send({"id": 1, "method": "tools/call", "params": {"name": "slow"}})
        assert stuck.ask("ping")["result"] == {}
        assert stuck.end() == QUIET


def test_a_client_that_reads_no_more_ends_the_server_quietly(bad: Server) -> None:
    assert bad.process.stdout
    assert bad.process.stderr
    bad.process.stdout.close()
    bad.send({"id": 1, "method": "ping"})
    assert bad.process.wait() == 0
    assert bad.process.stderr.read() == b""


def test_a_worker_whose_answer_nobody_reads_ends_the_server_quietly(bad: Server) -> None:
    bad.send({"id": 1, "method": "tools/call", "params": {"name": "slow", "arguments": {"seconds": 0.3}}})
    assert bad.process.stdout
    assert bad.process.stderr
    bad.process.stdout.close()
    assert bad.process.wait() == 0
    assert bad.process.stderr.read() == b""


def test_a_client_that_reads_late_is_held_up_and_gets_all_its_answers(bad: Server) -> None:
    # Both pipes are full, and so are the answers' and the requests' further ones that the server holds.
    many, sent = 8000, threading.Event()

    def write() -> None:
        for number in range(many):
            bad.send({"id": number, "method": "ping", "params": {"x": "x" * 100}})
        sent.set()

    threading.Thread(target=write, daemon=True).start()
    wait_for(lambda: _is_full(bad))
    assert not sent.is_set()
    assert [bad.receive()["id"] for _ in range(many)] == [*range(many)]
    assert bad.end() == QUIET


def _is_full(bad: Server) -> bool:
    """Whether nothing can be written to the server."""
    assert bad.process.stdin
    return not select.select([], [bad.process.stdin], [], 0)[1]


@pytest.mark.parametrize("gone", ["stdin", "parent"])
def test_a_server_whose_answers_nobody_reads_ends_with_its_client(gone: str, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    code = (
        f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {CHILD!r}, sys.argv[1]]);"
        "open(sys.argv[2], 'w').write(f'{child.pid}\\n'); child.wait()"
    )
    own = [sys.executable, "-c", CHILD] if gone == "stdin" else [sys.executable, "-c", code]
    with server([*own, str(Path(COMMAND[1]).parent), str(told)]) as found:
        found.begin()
        for number in range(40):
            found.send({"id": number, "method": "tools/list"})
        assert found.process.stdout
        # It is in the middle of an answer that has no room.
        wait_for(lambda: _is_held_up(found.process.stdout))
        if gone == "parent":
            found.process.kill()
            wait_for(lambda: not _is_running(int(told.read_text())))
        else:
            found.hang_up()
            assert found.process.wait() == 0


def _is_held_up(stream: Any) -> bool:
    """Whether a pipe holds much, and gets no more."""
    held = _held(stream)
    time.sleep(0.1)
    return 30_000 < held == _held(stream)


def _held(stream: Any) -> int:
    """Bytes in a pipe."""
    held = array.array("i", [0])
    fcntl.ioctl(stream, termios.FIONREAD, held)
    return held[0]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_ends_a_server_that_waits_in_a_read(number: signal.Signals, code: int) -> None:
    def heed() -> None:
        # Whoever runs the tests in the background has Ctrl-C ignored, which children inherit.
        signal.signal(number, signal.SIG_DFL)

    with server(KBDB_MCP, preexec_fn=heed) as found:
        assert found.ask("ping")["result"] == {}
        found.process.send_signal(number)
        assert found.process.wait() == code
        assert found.process.stderr
        assert found.process.stderr.read() == b""


def test_a_server_whose_parent_was_killed_ends_though_another_holds_its_pipe(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    parent = (
        "import subprocess, sys, time; from kbdb.mcp import stdio\n"
        f"child = subprocess.Popen([sys.executable, '-c', {CHILD!r}, sys.argv[1]], stdin=0)\n"
        "open(sys.argv[2], 'w').write(f'{child.pid}\\n'); time.sleep(3600)"
    )
    command = [sys.executable, "-c", parent, str(Path(COMMAND[1]).parent), str(told)]
    with server(command) as found:
        while not (told.exists() and told.read_text().endswith("\n")):
            time.sleep(0.01)
        pid = int(told.read_text())
        found.begin()
        found.process.kill()
        # Our end of its stdin stays open, so it can know from its parent alone.
        assert found.process.stdout
        assert found.process.stdout.read() == b""
        while _is_running(pid):
            time.sleep(0.01)


CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); import mcp_registry; from kbdb.mcp import stdio;"
    "stdio.LOOK_S = 0.05; sys.exit(stdio.serve(mcp_registry.FixtureRegistry()))"
)


def _is_running(pid: int) -> bool:
    """Whether a process runs; one that nobody waited for has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_nothing_but_the_protocol_gets_to_the_client(bad: Server) -> None:
    answer = bad.ask("tools/call", name="printing")
    assert answer["result"]["content"][0]["text"] == "read ''"
    assert bad.end() == (0, b"", b"a stray print\n")


def test_children_of_the_server_inherit_neither_pipe() -> None:
    code = (
        "import subprocess, sys; sys.path.insert(0, sys.argv[1])\n"
        "import mcp_registry as fixtures; from kbdb.mcp.stdio import serve\n"
        "def run(*_):\n"
        "    script = 'import sys, time; print(sys.stdin.read()); time.sleep(3600)'\n"
        "    return fixtures.said(str(subprocess.Popen([sys.executable, '-c', script], close_fds=False).pid))\n"
        "fixtures.TOOLS['slow'] = run; sys.exit(serve(fixtures.FixtureRegistry()))"
    )
    command = [sys.executable, "-c", code, str(Path(COMMAND[1]).parent)]
    with server(command, stderr=subprocess.DEVNULL) as found:
        found.begin()
        child = int(found.ask("tools/call", name="slow")["result"]["content"][0]["text"])
        try:
            found.hang_up()
            # The end of the pipe comes when nobody is left who could write to it.
            assert found.process.stdout
            assert found.process.stdout.read() == b""
            assert found.process.wait() == 0
            assert _is_running(child)
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_fault_is_told_on_stderr_and_by_its_class_to_the_client(bad: Server) -> None:
    assert bad.ask("tools/call", name="broken")["error"] == {"code": -32603, "message": "KeyError"}
    code, out, err = bad.end()
    assert (code, out) == (0, b"")
    assert b"a secret of the server's own" in err


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_does_no_harm(closed: str) -> None:
    number = {"stdin": 0, "stdout": 1, "stderr": 2}[closed]
    command = ["/bin/sh", "-c", f'exec "$@" {number}>&-', "sh", *KBDB_MCP]
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    ran = subprocess.run(command, input=line, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout == (b'{"jsonrpc":"2.0","id":1,"result":{}}\n' if closed == "stderr" else b"")
