"""Completions of resource URIs, kbids, docids, tags and names of prompts, by what an argument is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbdb.mcp.methods import MAX_COMPLETIONS
from kbdb.mcp.resources import DOCUMENT, SECTION

if TYPE_CHECKING:
    from kbdb.mcp.pool import Pool
    from kbdb.mcp.types import McpCompletion, McpCompletionRef

_KINDS = {"docid": "docid", "kbid": "kbid", "tag": "tag", "tags": "tag"}


def complete(pool: Pool, ref: McpCompletionRef, argument: str, typed: str) -> McpCompletion:
    """What could follow. Nothing where the argument is of no kind that is known, or there is no database.

    Args:
        pool: the daemon.
        ref: the template, or the prompt.
        argument: ``kbid``, ``docid``, ``tag`` or ``tags``, ``uri``; ``name`` of a prompt, or one of that prompt's own.
        typed: what stands there already.

    Raises:
        InvalidParamsError: there is no such prompt, or it has no such argument.
    """
    from kbdb.errors import NotADatabaseError

    try:
        if ref["type"] == "ref/prompt":
            # First of all: what an argument of a skill is called is up to its author.
            return _of_prompt(pool, ref.get("name", ""), argument, typed)
        if argument in _KINDS:
            return _names(pool, _KINDS[argument], typed, "")
        if argument == "uri":
            return _uris(pool, typed)
    except NotADatabaseError:
        pass
    return _page(())


def _of_prompt(pool: Pool, name: str, argument: str, typed: str) -> McpCompletion:
    """Names of prompts, where it is the name that is typed; else what the prompt's argument may be."""
    from kbdb.mcp import prompts

    if argument == "name" and not name:
        return _page(prompts.names(pool, typed))
    return _page(prompts.values(pool, name, argument, typed))


def _uris(pool: Pool, typed: str) -> McpCompletion:
    for start, what in ((SECTION, "kbid"), (DOCUMENT, "docid")):
        if typed.startswith(start):
            return _names(pool, what, typed[len(start) :], start)
    return _page([start for start in (DOCUMENT, SECTION) if start.startswith(typed)])


def _names(pool: Pool, what: str, prefix: str, start: str) -> McpCompletion:
    found = pool.call_raw("complete", {"what": what, "prefix": prefix, "limit": MAX_COMPLETIONS})
    return _page([start + value for value in found["values"]], has_more=found["has_more"])


def _page(values: Sequence[str], *, has_more: bool = False) -> McpCompletion:
    """As many values as a completion may have. How many there are in all is told where that is known."""
    page: McpCompletion = {"values": [*values[:MAX_COMPLETIONS]], "hasMore": has_more or len(values) > MAX_COMPLETIONS}
    if not has_more:
        page["total"] = len(values)
    return page
