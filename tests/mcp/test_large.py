"""Every tool with default arguments on a store of 100,000 sections, and on an empty one: every answer fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from daemons import Daemon
from mcp_calls import Quiet, call

from bench.speed.corpus import sections, write_markdown
from kbdb.client import Client
from kbdb.mcp.server import KbdbServer

SECTIONS = 100_000


def call_every_tool(server: KbdbServer, kb: Client, tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Calls each tool with what it must be given, and nothing else; every answer is checked."""
    kbid = kb.learn(content="The release goes out on Tuesdays.", title="Releases").kbids[0]
    document = kb.documents().items[0].docid
    answers = {
        "search": call(server, "search", query="the of and release"),
        "recall": call(server, "recall", kbid=kbid),
        "retrieve": call(server, "retrieve", docid=document),
        "learn": call(server, "learn", content="text"),
        "unlearn": call(server, "unlearn", kbid=kbid),
        "status": call(server, "status"),
        "check": call(server, "check"),
        "gc": call(server, "gc"),
        "rebuild": call(server, "rebuild"),
        "export": call(server, "export", path=str(tmp_path / "export")),
    }
    assert answers.keys() == {tool["name"] for tool in server.tools()}
    return answers


def test_every_tool_fits_on_an_empty_store(server: KbdbServer, kb: Client, tmp_path: Path) -> None:
    answers = call_every_tool(server, kb, tmp_path)
    assert len(answers["search"]["hits"]) == 1


@pytest.mark.large
def test_every_tool_fits_on_a_large_store(server: KbdbServer, daemon: Daemon, kb: Client, tmp_path: Path) -> None:
    write_markdown(tmp_path / "corpus", sections(SECTIONS))
    learned = kb.learn([tmp_path / "corpus"])
    assert learned.sections_added == SECTIONS
    answers = call_every_tool(server, kb, tmp_path)
    assert answers["status"]["sections"] >= SECTIONS
    assert len(answers["search"]["hits"]) == 10
    assert answers["rebuild"]["sections"] >= SECTIONS
    for limit in (50, 10):
        page = call(server, "search", query="the of and", limit=limit, content=True)
        assert page["hits"]
        assert page["next_offset"] == len(page["hits"])
    resources = server.resources(None)
    assert (len(resources.items), resources.next_cursor is None) == (100, False)
    found = server.complete({"type": "ref/resource", "uri": "x"}, "kbid", "", {})
    assert (len(found["values"]), found["hasMore"]) == (100, True)
    assert server.read_resource(resources.items[0]["uri"], Quiet())["contents"]
    assert daemon.process.poll() is None
