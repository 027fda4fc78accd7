"""What goes over the wire of MCP, by its wire names: the shapes of the specification as typed dictionaries.

Typed dictionaries, because these values are JSON at the edge: they are made by handlers and written as they are. Fields
that only some revisions have are optional; ``kbdb.mcp.protocol`` leaves out what the revision at hand does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

JsonObject = dict[str, Any]

McpId = int | str
"""The id of a request; of no other kind."""

McpLogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class McpError(TypedDict):
    """Why there is no result; ``code`` is one of ``kbdb.mcp.codes``."""

    code: int
    message: str
    data: NotRequired[Any]


class McpRequest(TypedDict):
    """A message that asks; one without ``id`` is a notification."""

    jsonrpc: Literal["2.0"]
    id: NotRequired[McpId]
    method: str
    params: NotRequired[JsonObject]


class McpResponse(TypedDict):
    """A message that answers: ``result`` or ``error``; without ``id`` where the request could not be read."""

    jsonrpc: Literal["2.0"]
    id: NotRequired[McpId]
    result: NotRequired[Any]
    error: NotRequired[McpError]


class McpNotification(TypedDict):
    """A message that nobody answers."""

    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[JsonObject]


class McpServerInfo(TypedDict):
    """Which program serves."""

    name: str
    title: NotRequired[str]
    version: str
    description: NotRequired[str]


class McpCapabilities(TypedDict, total=False):
    """What a server offers. Each key stands for the methods of its name."""

    tools: JsonObject
    resources: JsonObject
    prompts: JsonObject
    logging: JsonObject
    completions: JsonObject
    sampling: JsonObject


class McpLogMessage(TypedDict):
    """What ``notifications/message`` tells."""

    level: McpLogLevel
    logger: NotRequired[str]
    data: Any


class McpToolAnnotations(TypedDict, total=False):
    """Hints about what a tool does to the world; what is left out counts as the worst."""

    title: str
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool


class McpToolDefinition(TypedDict):
    """A tool as ``tools/list`` shows it. Schemas are JSON Schema 2020-12."""

    name: str
    title: NotRequired[str]
    description: str
    inputSchema: JsonObject
    outputSchema: NotRequired[JsonObject]
    annotations: NotRequired[McpToolAnnotations]
    _meta: NotRequired[JsonObject]


class McpTextContent(TypedDict):
    """A piece of text in a result."""

    type: Literal["text"]
    text: str


McpPromptMessageContent = McpTextContent
"""What a message of a prompt says."""


class McpToolResult(TypedDict):
    """What ``tools/call`` answers; ``content`` holds objects of the specification's content types."""

    content: Sequence[Mapping[str, Any]]
    structuredContent: NotRequired[JsonObject]
    isError: NotRequired[bool]


class McpResource(TypedDict):
    """A resource as ``resources/list`` shows it; ``size`` in bytes."""

    uri: str
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    mimeType: NotRequired[str]
    size: NotRequired[int]


class McpResourceTemplate(TypedDict):
    """A family of resources as ``resources/templates/list`` shows it (RFC 6570)."""

    uriTemplate: str
    name: str
    title: NotRequired[str]
    description: str
    mimeType: NotRequired[str]


class McpResourceContents(TypedDict):
    """One content of a resource: ``text``, or ``blob`` in base64."""

    uri: str
    mimeType: str
    text: NotRequired[str]
    blob: NotRequired[str]


class McpResourceResult(TypedDict):
    """What ``resources/read`` answers."""

    contents: Sequence[McpResourceContents]


class McpPromptArgument(TypedDict):
    """One argument of a prompt; its value is always a string on the wire."""

    name: str
    description: NotRequired[str]
    required: NotRequired[bool]


class McpPrompt(TypedDict):
    """A prompt as ``prompts/list`` shows it: a skill by its name, an agent as ``agent:<name>``."""

    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    arguments: NotRequired[Sequence[McpPromptArgument]]


class McpPromptMessage(TypedDict):
    """One message of a prompt; ``content`` is an object of the specification's content types."""

    role: Literal["user", "assistant"]
    content: Mapping[str, Any]


class McpPromptResult(TypedDict):
    """What ``prompts/get`` answers."""

    description: NotRequired[str]
    messages: Sequence[McpPromptMessage]


class McpCompletionRef(TypedDict):
    """What is completed: ``name`` with ``ref/prompt``, ``uri`` with ``ref/resource``."""

    type: Literal["ref/prompt", "ref/resource"]
    name: NotRequired[str]
    uri: NotRequired[str]


class McpCompletion(TypedDict):
    """Values that complete what was typed, 100 at most."""

    values: Sequence[str]
    total: NotRequired[int]
    hasMore: NotRequired[bool]


class McpCompletionResult(TypedDict):
    """What ``completion/complete`` answers."""

    completion: McpCompletion
