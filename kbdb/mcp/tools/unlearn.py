"""``unlearn``: takes a section or a document out of all answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbdb.errors import InvalidArgumentError
from kbdb.mcp.answers import account, rounded
from kbdb.mcp.budget import DEFAULT_TOKENS, Form
from kbdb.mcp.tools.tool import TEXT, Tool, described, gives, takes

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context

DESCRIPTION = """\
Forget a section (kbid) or a whole document (docid) of the knowledge base: it leaves every answer and does not come \
back when its text is learned again. Use it when the user asks to forget something, or for what should never have \
been stored. Not for corrections: learn the new text with supersedes, which keeps the history. Returns a receipt: what \
was forgotten, which other documents said the same, and the command by which the user can restore it."""


def run(pool: Caller, given: dict[str, Any], _: Context) -> Form:
    """Answers a call."""
    if (given.get("kbid") is None) == (given.get("docid") is None):
        raise InvalidArgumentError("unlearn: give either kbid or docid", "search shows both for its hits")
    found = pool.call_raw("removeSection", {**given, "who": "agent"})
    rounded(found, "elapsed_ms")
    return account(found, DEFAULT_TOKENS)


TOOL = Tool(
    {
        "name": "unlearn",
        "title": "Forget",
        "description": DESCRIPTION,
        "inputSchema": takes(
            kbid=described(TEXT, "A section, or"),
            docid=described(TEXT, "a document"),
            reason=described(TEXT, "Why; kept in the log"),
        ),
        "outputSchema": gives(removed={"type": "boolean"}, receipt={"type": "object"}),
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    },
    run,
    writes=True,
    changes_lists=True,
)
