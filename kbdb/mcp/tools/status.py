"""``status``: what the database holds and how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbdb.mcp.answers import account, rounded
from kbdb.mcp.budget import DEFAULT_TOKENS, Form
from kbdb.mcp.tools.tool import NUMBER, READS, TEXT, Tool, gives, takes

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context

DESCRIPTION = """\
Tell which knowledge base this is, where it lies, how many sections and documents it has by state, and what is wrong \
with it. Use it when searches find less than expected, or the user asks about the knowledge base itself. Not needed \
before search or learn. Returns counts, sizes, the daemon, and warnings."""


def run(pool: Caller, _: dict[str, Any], __: Context) -> Form:
    """Answers a call."""
    found = pool.call_raw("dbStatus", {})
    if found.get("daemon"):
        rounded(found["daemon"], "uptime_s", digits=0)
    return account(found, DEFAULT_TOKENS)


TOOL = Tool(
    {
        "name": "status",
        "title": "Status",
        "description": DESCRIPTION,
        "inputSchema": takes(),
        "outputSchema": gives(path=TEXT, sections=NUMBER, documents=NUMBER, states={"type": "object"}),
        "annotations": READS,
    },
    run,
)
