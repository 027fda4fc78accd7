"""What a tool is: its definition, and the handler that answers it; and what definitions share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kbdb.errors import InterruptedByUserError
from kbdb.mcp.budget import DEFAULT_TOKENS, LEAST_TOKENS, MOST_TOKENS, Form

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context
    from kbdb.mcp.types import McpToolAnnotations, McpToolDefinition
    from kbdb.progress import Progress, Report

Handler = Callable[["Caller", dict[str, Any], "Context"], Form]
"""Gets the daemon, arguments that are checked, and the context; gives both forms of the answer, within the budget."""


class Tool(NamedTuple):
    """A tool of the server.

    Attributes:
        definition: as clients see it.
        run: answers a call.
        writes: whether it can change what is stored.
        changes_lists: whether it can change which resources and prompts there are.
        queues: whether it waits for its turn among those that write, though it only reads.
    """

    definition: McpToolDefinition
    run: Handler
    writes: bool = False
    changes_lists: bool = False
    queues: bool = False


MAX_TOKENS: dict[str, Any] = {
    "type": "integer",
    "minimum": LEAST_TOKENS,
    "maximum": MOST_TOKENS,
    "default": DEFAULT_TOKENS,
    "description": "Budget of the result in tokens",
}

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": {"type": "string"}}
NUMBER = {"type": "integer"}
YES = {"type": "boolean", "default": False}

SECTION_TYPES = ("default", "skill", "agent")
"""As ``kbdb.model.truth`` has them, whose classes take longer to load than a list of tools may."""

READS: McpToolAnnotations = {"readOnlyHint": True, "openWorldHint": False}

_SNAKE = re.compile("_([a-z])")


def on_the_wire(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments by the names that the daemon's methods have for them."""
    return {_SNAKE.sub(lambda found: found[1].upper(), name): value for name, value in given.items()}


def described(kind: dict[str, Any], description: str, **more: Any) -> dict[str, Any]:
    """A property's schema with what it is for."""
    return {**kind, **more, "description": description}


def takes(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of arguments."""
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = [*required]
    return schema


def or_null(kind: dict[str, Any]) -> dict[str, Any]:
    """A schema that takes null, too; a list of types is more than some hosts can read."""
    return {"anyOf": [kind, {"type": "null"}]}


def gives(**properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an answer: what an agent goes on with; there is more.

    Nothing is required, since some clients check ``{"error": {code, message, hint}}`` against it, too.
    """
    return {"type": "object", "properties": properties}


def report_to(context: Context) -> Report:
    """Tells the client how far a long run is, and ends it when nobody waits any more."""

    def report(step: Progress) -> None:
        if context.cancelled:
            raise InterruptedByUserError("cancelled")
        context.progress(step.done, step.total or None, step.source or None)

    return report
