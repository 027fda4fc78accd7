"""``check``, ``gc``, ``rebuild`` and ``export``: maintenance, which only ``--tools all`` offers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kbdb.errors import InvalidArgumentError
from kbdb.mcp.answers import account, rounded
from kbdb.mcp.budget import DEFAULT_TOKENS, Form
from kbdb.mcp.tools.tool import NUMBER, READS, TEXT, YES, Handler, Tool, described, gives, on_the_wire, report_to, takes

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context

_KEEPS: Any = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def _run(method: str) -> Handler:
    """A handler that calls a method and gives an account of the answer."""

    def run(pool: Caller, given: dict[str, Any], context: Context) -> Form:
        found = pool.call_raw(method, on_the_wire(given), report_to(context))
        rounded(found, "elapsed_ms")
        return account(found, DEFAULT_TOKENS)

    return run


def _export(pool: Caller, given: dict[str, Any], context: Context) -> Form:
    if not os.path.isabs(given["path"]):
        raise InvalidArgumentError(f"export: 'path' is {given['path']!r}", "give the absolute path of a folder")
    return _EXPORT(pool, given, context)


_EXPORT = _run("export")

CHECK = Tool(
    {
        "name": "check",
        "title": "Check the database",
        "description": "Verify every file and checksum of the knowledge base. Use it when an error says that something "
        "is damaged. Returns ok, and errors with what to do about each. Changes nothing; may take a minute.",
        "inputSchema": takes(),
        "outputSchema": gives(ok={"type": "boolean"}, errors={"type": "array"}),
        "annotations": READS,
    },
    _run("check"),
    queues=True,
)
GC = Tool(
    {
        "name": "gc",
        "title": "Collect garbage",
        "description": "Delete for good the sections that no document lists and that were retired or superseded long "
        "ago. Use it only when the user asks for space; look with dry_run first. Returns what went.",
        "inputSchema": takes(
            dry_run=described(YES, "Only tell what would go"),
            keep_days=described(NUMBER, "Days that such sections stay; default as configured", minimum=0),
        ),
        "outputSchema": gives(removed=NUMBER, bytes_freed=NUMBER),
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    },
    _run("gc"),
    writes=True,
)
REBUILD = Tool(
    {
        "name": "rebuild",
        "title": "Rebuild the index",
        "description": "Make the search index anew from the stored files. Use it when check or status says so. "
        "Nothing is lost; searches go on meanwhile. Returns how many sections it holds.",
        "inputSchema": takes(),
        "outputSchema": gives(sections=NUMBER),
        "annotations": _KEEPS,
    },
    _run("rebuildIndexes"),
    writes=True,
)
EXPORT = Tool(
    {
        "name": "export",
        "title": "Export",
        "description": "Write all that is stored to a folder, as plain files with hashes; an earlier export there is "
        "replaced. Use it when the user asks for a backup. Returns path and counts.",
        "inputSchema": takes(("path",), path=described(TEXT, "Absolute path of the folder")),
        "outputSchema": gives(path=TEXT, sections=NUMBER, documents=NUMBER),
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    },
    _export,
    writes=True,
)
