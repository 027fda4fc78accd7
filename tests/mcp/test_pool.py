"""Connections to the daemon: which database they are of, and what becomes of a call that nobody waits for."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from mcp_calls import Quiet
from scripted_daemon import ScriptedDaemon, Talk, echo, hang_up, refuse

from kbdb.errors import DaemonLostError, InterruptedByUserError
from kbdb.mcp.pool import Pool
from kbdb.rpc.codes import REFUSED
from kbdb.rpc.messages import Notification, Request


@contextmanager
def served(root: Path, **told: Any) -> Iterator[ScriptedDaemon]:
    """A daemon for a folder, made where there is none."""
    root = root.resolve()
    root.mkdir(exist_ok=True)
    made = ScriptedDaemon(root, **told)
    yield made
    made.close()


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[ScriptedDaemon]:
    """A daemon that answers with what it is asked."""
    with served(tmp_path / ".kbdb") as made:
        yield made


class Cancelling(Quiet):
    """A context whose client cancels once ``asked`` says so."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    @contextmanager
    def ended_by(self, end: Callable[[], object]) -> Iterator[None]:
        threading.Thread(target=lambda: self.asked.wait() and end(), daemon=True).start()
        yield


def test_a_call_that_nobody_waits_for_is_cancelled_at_the_daemon(scripted: ScriptedDaemon) -> None:
    context, heard = Cancelling(), Queue[Any]()

    def wait(talk: Talk, request: Request) -> None:
        context.asked.set()
        heard.put(talk.hear())
        refuse(REFUSED, "x", {"code": "INTERRUPTED", "message": "interrupted", "hint": ""})(talk, request)

    scripted.answers["learn"] = wait
    pool = Pool(str(scripted.root))
    with pytest.raises(InterruptedByUserError):
        pool.of(context).call_raw("learn", {"content": "x"})
    cancelled = heard.get()
    assert isinstance(cancelled, Notification)
    assert cancelled.method == "cancel"
    scripted.answers["learn"] = echo
    assert pool.call_raw("learn", {"content": "y"}) == {"content": "y"}
    assert scripted.connections == 1
    pool.close()


def test_one_server_means_one_database_whatever_comes_to_lie_nearer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sub = tmp_path / "sub"
    sub.mkdir()
    monkeypatch.chdir(sub)
    monkeypatch.delenv("KBDB_DB", raising=False)
    with served(tmp_path / ".kbdb") as outer:
        pool = Pool(None)
        pool.call_raw("dbStatus")
        with served(sub / ".kbdb") as nearer:
            busy = threading.Barrier(3)
            outer.answers["dbStatus"] = lambda talk, request: (busy.wait(), echo(talk, request))
            threads = [threading.Thread(target=pool.call_raw, args=("dbStatus",), daemon=True) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert (nearer.heard, len(outer.heard)) == ([], 4)
        pool.close()


@pytest.mark.parametrize("method", ["search", "revise"])
def test_after_the_database_was_made_anew_no_call_fails(tmp_path: Path, method: str) -> None:
    root = tmp_path / ".kbdb"
    pool = Pool(str(root))
    with served(root) as old:
        together = threading.Barrier(4)
        old.answers["ping"] = lambda talk, request: (together.wait(), echo(talk, request))
        threads = [threading.Thread(target=pool.call_raw, args=("ping",), daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert old.connections == 4
    with served(root, database="b" * 26) as new:
        assert pool.call_raw(method, {"n": 1}) == {"n": 1}
        assert (new.methods(), new.connections) == ([method], 2)
        pool.close()


def test_a_write_of_unknown_outcome_is_not_made_again(scripted: ScriptedDaemon) -> None:
    pool = Pool(str(scripted.root))
    pool.call_raw("ping")
    scripted.answers["revise"] = hang_up
    with pytest.raises(DaemonLostError):
        pool.call_raw("revise")
    assert scripted.methods() == ["ping", "revise"]
    pool.close()


def test_a_database_that_is_gone_is_looked_for_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sub = tmp_path / "sub"
    sub.mkdir()
    monkeypatch.chdir(sub)
    monkeypatch.delenv("KBDB_DB", raising=False)
    pool = Pool(None)
    with served(sub / ".kbdb"):
        pool.call_raw("ping")
    shutil.rmtree(sub / ".kbdb")
    with served(tmp_path / ".kbdb") as outer:
        assert pool.call_raw("revise", {"n": 1}) == {"n": 1}
        assert outer.methods() == ["revise"]
        pool.close()
