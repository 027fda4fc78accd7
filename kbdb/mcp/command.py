"""``kbdb mcp`` without a command line: reads its few options and serves, so that nothing heavy is loaded before.

What it does not understand is left to ``kbdb.cli``, which explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

ToolSet = Literal["core", "all"]
TOOL_SETS = get_args(ToolSet)


class Options(NamedTuple):
    """What a command line asks for.

    Attributes:
        db: the database that is meant; None for the usual one.
        read_only: whether tools that write are left out.
        tools: which set is offered, of ``TOOL_SETS``.
    """

    db: str | None = None
    read_only: bool = False
    tools: str = "core"


def parsed(words: Sequence[str]) -> Options | None:
    """The options in the words after ``mcp``; None where they are not all plain."""
    found = Options()
    left = list(words)
    while left:
        word = left.pop(0)
        name, given, value = word.partition("=")
        if word == "--read-only":
            found = found._replace(read_only=True)
            continue
        if name not in ("--db", "--tools"):
            return None
        if not given:
            if not left:
                return None
            value = left.pop(0)
        if not value or (name == "--tools" and value not in TOOL_SETS):
            return None
        found = found._replace(db=value) if name == "--db" else found._replace(tools=value)
    return found


def serve(options: Options) -> int:
    """Serves the client on stdin and stdout until it is gone.

    Returns:
        The exit code.
    """
    from kbdb.mcp.server import KbdbServer  # type: ignore[import-untyped,unused-ignore]
    from kbdb.mcp.stdio import serve as serve_stdio

    return serve_stdio(KbdbServer(options.db, read_only=options.read_only, tools=options.tools))
