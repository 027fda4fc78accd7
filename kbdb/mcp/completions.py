"""Completions of resource URIs, kbids, docids, tags and names of prompts, by what an argument is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kbdb.mcp.resources import DOCUMENT, SECTION

if TYPE_CHECKING:
    from kbdb.mcp.pool import Pool
    from kbdb.mcp.types import McpCompletion

MOST = 100

_KINDS = {"docid": "docid", "kbid": "kbid", "tag": "tag", "tags": "tag"}


def complete(pool: Pool, argument: str, typed: str, prompt_names: Callable[[], Sequence[str]]) -> McpCompletion:
    """What could follow. Nothing where the argument is of no kind that is known, or there is no database.

    Args:
        pool: the daemon.
        argument: ``kbid``, ``docid``, ``tag`` or ``tags``, ``uri``, or ``name`` for prompts.
        typed: what stands there already.
        prompt_names: gives the names of all prompts.
    """
    from kbdb.errors import NotADatabaseError

    try:
        if argument in _KINDS:
            return _names(pool, _KINDS[argument], typed, "")
        if argument == "uri":
            return _uris(pool, typed)
        if argument == "name":
            return _page([name for name in prompt_names() if name.startswith(typed)])
    except NotADatabaseError:
        pass
    return _page(())


def _uris(pool: Pool, typed: str) -> McpCompletion:
    for start, what in ((SECTION, "kbid"), (DOCUMENT, "docid")):
        if typed.startswith(start):
            return _names(pool, what, typed[len(start) :], start)
    return _page([start for start in (DOCUMENT, SECTION) if start.startswith(typed)])


def _names(pool: Pool, what: str, prefix: str, start: str) -> McpCompletion:
    found = pool.call("complete", {"what": what, "prefix": prefix, "limit": MOST})
    return _page([start + value for value in found["values"]], has_more=found["has_more"])


def _page(values: Sequence[str], *, has_more: bool = False) -> McpCompletion:
    """At most 100 values. How many there are in all is told where that is known."""
    page: McpCompletion = {"values": [*values[:MOST]], "hasMore": has_more or len(values) > MOST}
    if not has_more:
        page["total"] = len(values)
    return page
