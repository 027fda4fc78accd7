"""The thread that writes, when something of its own goes wrong: nobody waits for ever."""

from __future__ import annotations

from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from locks import unlocked

import kbdb
from kbdb.daemon.queue import FairQueue, Job
from kbdb.daemon.writer import Writer
from kbdb.errors import DatabaseClosedError
from kbdb.knowledge import KnowledgeBase


class Wanted:
    """A writer of a real database, with all that it tells."""

    def __init__(self, root: Path) -> None:
        self.kb = KnowledgeBase.create(root)
        self.queue = FairQueue()
        self.published: list[Any] = []
        self.reasons: list[str] = []
        self.outcomes: SimpleQueue[Any] = SimpleQueue()
        self.writer = Writer(self.kb, self.queue, unlocked, self.published.append, self.reasons.append)

    def put(self, content: str, *, short: bool = True) -> None:
        def run(kb: KnowledgeBase, _: Any) -> Any:
            return kb.learn(content=content, title=content)

        self.queue.put(Job("owner", "addSection", "process 1", run, short, self.outcomes.put))


def test_jobs_that_wait_are_answered_when_the_writer_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = Wanted(tmp_path / ".kbdb")
    monkeypatch.setattr(wanted.kb, "reading", lambda: 1 / 0)
    wanted.put("never stored")
    wanted.writer.start()
    assert isinstance(wanted.outcomes.get(), DatabaseClosedError)
    wanted.writer.join()
    assert isinstance(wanted.published[-1], DatabaseClosedError)
    assert wanted.reasons == ["writing failed: ZeroDivisionError"]
    with pytest.raises(DatabaseClosedError):
        wanted.put("too late")
    wanted.kb.close()


@pytest.mark.parametrize("short", [True, False])
def test_what_is_stored_is_told_so_even_when_it_cannot_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, short: bool
) -> None:
    wanted = Wanted(tmp_path / ".kbdb")
    wanted.writer.start()
    wanted.put("first", short=short)
    assert wanted.outcomes.get().sections_added == 1
    monkeypatch.setattr(wanted.kb, "reading", lambda: 1 / 0)
    wanted.put("second", short=short)
    assert wanted.outcomes.get().sections_added == 1
    wanted.writer.join()
    wanted.kb.close()
    with kbdb.open(tmp_path) as kb:
        assert kb.status().sections == 2
