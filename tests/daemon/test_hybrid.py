"""Searches by meaning beside everything else that a daemon does."""

from __future__ import annotations

from pathlib import Path

from daemons import running
from meanings import MeaningService

import kbdb


def test_a_search_that_waits_for_its_vector_keeps_nobody_waiting(root: Path, service: MeaningService) -> None:
    with kbdb.init(root.parent) as kb:
        kb.learn(content="Apples keep until spring.", title="Cellar")
    service.configure(root.parent, more='[search]\nmode = "hybrid"\ndeadline_ms = 60000')
    with kbdb.open(root.parent) as kb:
        kb.embed()
    with running(root) as daemon:
        waits, goes_on = daemon.talk(), daemon.talk()
        for _ in range(60):
            goes_on.ask("search", query="apples", mode="lexical")
        service.held.clear()
        asked = waits.send("search", query="fruit")
        for _ in range(5):
            assert goes_on.ask("search", query="apples", mode="lexical")["total"] == 1
            assert goes_on.ask("ping") is not None
        service.held.set()
        found = waits.answer_to(asked)["result"]
    assert (found["retrieval_method"], found["hits"][0]["title"]) == ("hybrid", "Cellar")
