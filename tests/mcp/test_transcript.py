"""A session as an agent would have it, message by message, against the stored one (``transcript.jsonl``).

What differs from run to run is masked: times, and the version. Written anew with ``KBDB_WRITE_TRANSCRIPT=1``; look at
the difference before it is committed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from daemons import Daemon
from mcp_process import server

import kbdb

STORED = Path(__file__).with_name("transcript.jsonl")
WRITE = "KBDB_WRITE_TRANSCRIPT"

_MASKS = (
    (re.compile(r"\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "TIME"),
    (re.compile(r"\b\d+(?:\.\d+)? ms\b"), "N ms"),
    (re.compile(r"(_ms\\?\"?: ?)\d+(?:\.\d+)?"), r"\g<1>0"),
    (re.compile(r'("event": ")[^"]+'), r"\g<1>EVENT"),
    (re.compile(r"(event: )\S+?(?=\\n)"), r"\g<1>EVENT"),
    (re.compile(rf'"version": "{re.escape(kbdb.__version__)}"'), '"version": "VERSION"'),
)


class Host:
    """An agent's host that keeps what is said."""

    def __init__(self, process: Any) -> None:
        self.said: list[str] = []
        self._process = process
        self._id = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Makes a request; gives its result."""
        self._id += 1
        self._keep("host", {"id": self._id, "method": method, "params": params})
        answer: dict[str, Any] = self._process.ask(method, self._id, **params)
        self._keep("kbdb", answer)
        while "id" not in answer:  # news come before the answer of what made them
            answer = self._process.receive()
            self._keep("kbdb", answer)
        return dict(answer["result"])

    def tell(self, method: str) -> None:
        """Sends a notification."""
        self._keep("host", {"method": method})
        self._process.send({"method": method})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        return dict(result["structuredContent"])

    def _keep(self, who: str, message: dict[str, Any]) -> None:
        message = {name: value for name, value in message.items() if name != "jsonrpc"}
        line = json.dumps({who: message}, ensure_ascii=False)
        for pattern, mask in _MASKS:
            line = pattern.sub(mask, line)
        self.said.append(line)


def session(host: Host) -> None:
    """Looks, finds nothing, learns a decision, corrects it, looks again."""
    info = {"name": "agent", "version": "1"}
    host.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
    host.tell("notifications/initialized")
    host.ask("tools/list")
    assert host.call("search", query="which database for the job queue")["verdict"] == "unanswered"
    old = host.call(
        "learn",
        content="We keep the job queue in Redis, because workers need blocking reads.",
        title="Job queue: Redis",
        tags=["decision"],
    )["kbids"][0]
    host.call("learn", content="text", titel="Job queue")
    (hit,) = host.call("search", query="which database for the job queue")["hits"]
    assert hit["kbid"] == old
    host.call("recall", kbid=old)
    new = host.call(
        "learn",
        content="We keep the job queue in PostgreSQL: one thing less to run. Redis lost jobs when it restarted.",
        title="Job queue: PostgreSQL",
        tags=["decision"],
        supersedes=[old],
    )["kbids"][0]
    found = host.call("search", query="which database for the job queue")
    assert ([hit["kbid"] for hit in found["hits"]], found["hidden"]) == ([new], 1)
    host.call("recall", kbids=[new, old], format="compact")
    host.call("unlearn", kbid=old, reason="misleading")
    host.ask("prompts/list")
    host.ask("resources/list")
    host.ask("resources/read", uri=f"kbdb://section/{new}")
    ref = {"type": "ref/resource", "uri": "kbdb://document/{docid}"}
    host.ask("completion/complete", ref=ref, argument={"name": "docid", "value": "job"})


def test_an_agents_session_is_as_it_was(daemon: Daemon) -> None:
    with server([sys.executable, "-m", "kbdb", "mcp", "--db", str(daemon.root)]) as process:
        host = Host(process)
        session(host)
        assert process.end() == (0, b"", b"")
    if os.environ.get(WRITE):
        STORED.write_text("".join(f"{line}\n" for line in host.said), encoding="utf-8")
    assert STORED.read_text(encoding="utf-8").splitlines() == host.said
