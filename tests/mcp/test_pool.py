"""Connections to the daemon: which database they are of, and what becomes of a call that nobody waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from mcp_calls import Quiet
from scripted_daemon import ScriptedDaemon, Talk, echo, refuse

from kbdb.errors import InterruptedByUserError
from kbdb.mcp.pool import Pool
from kbdb.rpc.codes import REFUSED
from kbdb.rpc.messages import Notification, Request


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[ScriptedDaemon]:
    """A daemon that answers with what it is asked."""
    root = (tmp_path / ".kbdb").resolve()
    root.mkdir()
    made = ScriptedDaemon(root)
    yield made
    made.close()


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
