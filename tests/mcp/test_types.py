"""The shapes have the wire names of the specification, and those fields are required that it requires."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from kbdb.mcp import types

SHAPES: dict[str, tuple[set[str], set[str]]] = {
    "McpRequest": ({"jsonrpc", "method"}, {"id", "params"}),
    "McpResponse": ({"jsonrpc"}, {"id", "result", "error"}),
    "McpError": ({"code", "message"}, {"data"}),
    "McpNotification": ({"jsonrpc", "method"}, {"params"}),
    "McpServerInfo": ({"name", "version"}, {"title", "description"}),
    "McpCapabilities": (set(), {"tools", "resources", "prompts", "logging", "completions", "sampling"}),
    "McpToolDefinition": (
        {"name", "description", "inputSchema"},
        {"title", "outputSchema", "annotations", "_meta"},
    ),
    "McpToolAnnotations": (
        set(),
        {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"},
    ),
    "McpToolResult": ({"content"}, {"isError", "structuredContent"}),
    "McpResource": ({"uri", "name"}, {"title", "description", "mimeType", "size"}),
    "McpResourceTemplate": ({"uriTemplate", "name", "description"}, {"title", "mimeType"}),
    "McpResourceContents": ({"uri", "mimeType"}, {"text", "blob"}),
    "McpResourceResult": ({"contents"}, set()),
    "McpPrompt": ({"name"}, {"title", "description", "arguments"}),
    "McpPromptArgument": ({"name"}, {"description", "required"}),
    "McpPromptMessage": ({"role", "content"}, set()),
    "McpPromptMessageContent": ({"type", "text"}, set()),
    "McpPromptResult": ({"messages"}, {"description"}),
    "McpCompletionRef": ({"type"}, {"name", "uri"}),
    "McpCompletion": ({"values"}, {"total", "hasMore"}),
    "McpCompletionResult": ({"completion"}, set()),
    "McpLogMessage": ({"level", "data"}, {"logger"}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_has_the_fields_of_the_specification(name: str) -> None:
    shape: Any = getattr(types, name)
    required, optional = SHAPES[name]
    assert (required, optional) == (_required(shape), set(shape.__annotations__) - _required(shape))


def test_there_are_the_eight_levels_of_log_messages_least_first() -> None:
    assert get_args(types.McpLogLevel) == (
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    )


def _required(shape: Any) -> set[str]:
    """With annotations as strings, the class itself cannot tell."""
    if not shape.__total__:
        return set()
    return {name for name, kind in shape.__annotations__.items() if "NotRequired[" not in kind.__forward_arg__}
