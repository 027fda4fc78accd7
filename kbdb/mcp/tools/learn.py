"""``learn``: stores a text, and says what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbdb.mcp.answers import account, rounded
from kbdb.mcp.budget import DEFAULT_TOKENS, Form
from kbdb.mcp.tools.tool import (
    NUMBER,
    SECTION_TYPES,
    TEXT,
    TEXTS,
    YES,
    Tool,
    described,
    gives,
    on_the_wire,
    report_to,
    takes,
)

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context

DESCRIPTION = """\
Store knowledge that should outlive this conversation: a decision and its reason, a correction, a convention, a \
pitfall, a fact. One subject a call, a title that says it, Markdown. Search first. Not for what the code or a stored \
file says already, chat summaries, guesses or secrets. To correct what is stored, pass the old kbids as supersedes: \
the old text leaves search. replace=true does so for the one live section of the same title, whatever document it is \
in. Returns kbids; near_duplicates names \
stored sections that say much the same (no error: read them, then supersede or unlearn), suppressed what stays out of \
search because it was forgotten or corrected before."""


def run(pool: Caller, given: dict[str, Any], context: Context) -> Form:
    """Answers a call."""
    found = pool.call_raw("learn", {**on_the_wire(given), "who": "agent"}, report_to(context))
    rounded(found, "elapsed_ms")
    for twin in found["near_duplicates"]:
        rounded(twin, "jaccard")
    return account(found, DEFAULT_TOKENS)


TOOL = Tool(
    {
        "name": "learn",
        "title": "Learn",
        "description": DESCRIPTION,
        "inputSchema": takes(
            ("content",),
            content=described(TEXT, "The text; headings in Markdown make sections"),
            title=described(TEXT, "What it is about; of a skill or agent, its name in kebab-case"),
            type=described(TEXT, "Media type; default text/markdown"),
            section_type=described(TEXT, "What it is for", enum=[*SECTION_TYPES]),
            description=described(TEXT, "One line on the document"),
            docid=described(TEXT, "Document to make or join"),
            tags=TEXTS,
            replace=described(YES, "Supersede the live section of this title, in any document; supersedes is surer"),
            supersedes=described(TEXTS, "kbids it takes the place of"),
        ),
        "outputSchema": gives(
            kbids=TEXTS,
            sections_added=NUMBER,
            near_duplicates={"type": "array"},
            suppressed={"type": "array"},
        ),
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
    },
    run,
    writes=True,
    changes_lists=True,
)
