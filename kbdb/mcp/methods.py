"""The methods that a registry answers: what each takes, what it calls, what its result looks like on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kbdb.mcp.registry import Context, InvalidParamsError, Page, Registry, ResourceNotFoundError

if TYPE_CHECKING:
    from kbdb.mcp.types import McpCompletionRef

Params = dict[str, Any]

MAX_COMPLETIONS = 100
"""How many values the specification lets a completion have."""

LASTING_MS = 300_000
"""How long a client may keep what only another version of kbdb changes."""


class Method(NamedTuple):
    """One method.

    Attributes:
        run: calls the registry.
        waits: whether it may take long, and so needs a worker.
        ttl_ms: for how long a client may keep the result; None where the result has no such field.
        scope: who may share what was kept: ``public`` where nothing of the user's is in it.
        queues: whether a call with these parameters may have to wait for others that write (``Registry.queues``).
    """

    run: Callable[[Registry, Params, Context], dict[str, Any]]
    waits: bool = True
    ttl_ms: int | None = None
    scope: str = "private"
    queues: Callable[[Registry, Params], bool] = lambda _registry, _params: False


def text(params: Params, name: str) -> str:
    """A parameter that must be a string.

    Raises:
        InvalidParamsError: it is none, or missing.
    """
    value = params.get(name)
    if not isinstance(value, str):
        raise InvalidParamsError(f"{name!r} must be a string")
    return value


def mapping(params: Params, name: str) -> dict[str, Any]:
    """A parameter that must be an object; empty where it is missing.

    Raises:
        InvalidParamsError: it is something else.
    """
    value = params.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidParamsError(f"{name!r} must be an object")
    return value


def _texts(params: Params, name: str) -> dict[str, str]:
    values = mapping(params, name)
    for key, value in values.items():
        if not isinstance(value, str):
            raise InvalidParamsError(f"{name!r} holds {key!r}, which must be a string")
    return values


def _cursor(params: Params) -> str | None:
    return text(params, "cursor") if params.get("cursor") is not None else None


def _no_cursor(params: Params) -> None:
    if _cursor(params) is not None:
        raise InvalidParamsError("the cursor is none of this server's")


def _page(name: str, page: Page[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: list(page.items)}
    if page.next_cursor is not None:
        found["nextCursor"] = page.next_cursor
    return found


def _list_tools(registry: Registry, params: Params, _context: Context) -> dict[str, Any]:
    _no_cursor(params)
    return {"tools": list(registry.tools())}


def _call_tool(registry: Registry, params: Params, context: Context) -> dict[str, Any]:
    return {**registry.call_tool(text(params, "name"), mapping(params, "arguments"), context)}


def _tool_queues(registry: Registry, params: Params) -> bool:
    name = params.get("name")
    return isinstance(name, str) and registry.queues(name)


def _list_resources(registry: Registry, params: Params, _context: Context) -> dict[str, Any]:
    return _page("resources", registry.resources(_cursor(params)))


def _list_templates(registry: Registry, params: Params, _context: Context) -> dict[str, Any]:
    _no_cursor(params)
    return {"resourceTemplates": list(registry.resource_templates())}


def _read_resource(registry: Registry, params: Params, context: Context) -> dict[str, Any]:
    uri = text(params, "uri")
    found = registry.read_resource(uri, context)
    if not found["contents"]:
        raise ResourceNotFoundError(f"no resource {uri}")
    return {**found}


def _list_prompts(registry: Registry, params: Params, _context: Context) -> dict[str, Any]:
    return _page("prompts", registry.prompts(_cursor(params)))


def _get_prompt(registry: Registry, params: Params, context: Context) -> dict[str, Any]:
    return {**registry.get_prompt(text(params, "name"), _texts(params, "arguments"), context)}


def _complete(registry: Registry, params: Params, _context: Context) -> dict[str, Any]:
    ref, argument = mapping(params, "ref"), mapping(params, "argument")
    complete = _texts(mapping(params, "context"), "arguments")
    found = registry.complete(_reference(ref), text(argument, "name"), text(argument, "value"), complete)
    completion: dict[str, Any] = {**found}
    if len(found["values"]) > MAX_COMPLETIONS:
        completion["values"] = list(found["values"][:MAX_COMPLETIONS])
        completion["hasMore"] = True
    return {"completion": completion}


def _reference(ref: Params) -> McpCompletionRef:
    if ref.get("type") == "ref/prompt":
        return {"type": "ref/prompt", "name": text(ref, "name")}
    if ref.get("type") == "ref/resource":
        return {"type": "ref/resource", "uri": text(ref, "uri")}
    raise InvalidParamsError("'ref' has the type 'ref/prompt' or 'ref/resource'")


METHODS = {
    "tools/list": Method(_list_tools, waits=False, ttl_ms=LASTING_MS, scope="public"),
    "tools/call": Method(_call_tool, queues=_tool_queues),
    "resources/list": Method(_list_resources, ttl_ms=0),
    "resources/templates/list": Method(_list_templates, waits=False, ttl_ms=LASTING_MS, scope="public"),
    "resources/read": Method(_read_resource, ttl_ms=0),
    "prompts/list": Method(_list_prompts, ttl_ms=0),
    "prompts/get": Method(_get_prompt),
    "completion/complete": Method(_complete),
}
"""What every revision has, by name. What belongs to the protocol itself is in ``kbdb.mcp.protocol``."""

ASKING = {"tools/call", "prompts/get", "resources/read"}
"""The methods whose handlers may ask the client."""
