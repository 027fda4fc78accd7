"""Resources: every live document, and any section or document by its id; read whole, as stored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kbdb.mcp import cursors
from kbdb.mcp.registry import InvalidParamsError, Page, ResourceNotFoundError

if TYPE_CHECKING:
    from kbdb.mcp.pool import Pool
    from kbdb.mcp.types import McpResource, McpResourceContents, McpResourceResult, McpResourceTemplate

SECTION, DOCUMENT = "kbdb://section/", "kbdb://document/"
PAGE = 100

TEMPLATES: tuple[McpResourceTemplate, ...] = (
    {
        "uriTemplate": SECTION + "{kbid}",
        "name": "section",
        "title": "Section",
        "description": "A section of the knowledge base as it is stored; kbid as search gives it",
    },
    {
        "uriTemplate": DOCUMENT + "{docid}",
        "name": "document",
        "title": "Document",
        "description": "A document of the knowledge base, byte for byte as it was learned",
    },
)

_CURSOR = re.compile(r"after:([a-z0-9][a-z0-9-]{0,79})")
_NOT_THERE = ("SECTION_NOT_FOUND", "DOCUMENT_NOT_FOUND", "INVALID_ID", "INVALID_ARGUMENT", "NOT_A_DATABASE")


def listed(pool: Pool, cursor: str | None) -> Page[McpResource]:
    """A page of the live documents, by docid. A cursor names the last one before it, which may be gone by then.

    Where there is no database there are no documents.

    Raises:
        InvalidParamsError: the cursor is none of ours.
    """
    from kbdb.errors import NotADatabaseError

    after = "" if cursor is None else _read_cursor(cursor)
    try:
        found = pool.call_raw("documents", {"after": after, "limit": PAGE})
    except NotADatabaseError:
        return Page(())
    return Page(
        [_resource(item) for item in found["items"]],
        cursors.written(f"after:{found['after']}") if found["after"] else None,
    )


def read(pool: Pool, uri: str) -> McpResourceResult:
    """A section or a document, whole.

    Raises:
        ResourceNotFoundError: there is none of that URI.
    """
    from kbdb.errors import KbdbError

    if uri.startswith(SECTION):
        params = {"kbid": uri[len(SECTION) :]}
    elif uri.startswith(DOCUMENT):
        params = {"docid": uri[len(DOCUMENT) :]}
    else:
        raise ResourceNotFoundError(f"no resource {uri!r}: they are {SECTION}{{kbid}} and {DOCUMENT}{{docid}}")
    try:
        view = pool.call_raw("retrieve", params)
    except KbdbError as error:
        if error.code in _NOT_THERE:
            raise ResourceNotFoundError(f"no resource {uri!r}: {error.message}") from error
        raise
    type = view["type"] if "type" in view else view["manifest"]["type"]
    return {"contents": [_contents(uri, type, view["content"])]}


def _resource(item: dict[str, Any]) -> McpResource:
    resource: McpResource = {
        "uri": DOCUMENT + item["docid"],
        "name": item["docid"],
        "title": item["title"] or item["docid"],
        "mimeType": item["type"],
    }
    if item["source"]:
        resource["description"] = item["source"]
    return resource


def _contents(uri: str, type: str, content: Any) -> McpResourceContents:
    """Text as text; what is not UTF-8, and what says it is no text, in base64."""
    if isinstance(content, dict):
        return {"uri": uri, "mimeType": type, "blob": content["base64"]}
    return {"uri": uri, "mimeType": type, "text": content}


def _read_cursor(cursor: str) -> str:
    try:
        found = _CURSOR.fullmatch(cursors.read(cursor))
    except ValueError:
        found = None
    if found is None:
        raise InvalidParamsError(f"no page begins at cursor {cursor!r}: cursors come from the page before")
    return found[1]
