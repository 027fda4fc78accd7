"""What a server offers: the interface between the protocol, which knows no kbdb, and what answers its requests.

``kbdb.mcp.server`` implements it over the daemon's client; the conformance tests over fixtures. Where nothing else is
said a method is called on a worker's thread, several at once, and may wait.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    # For the types alone: a host waits for the first answer, which needs none of these classes.
    from kbdb.mcp.types import (
        JsonObject,
        McpCompletion,
        McpCompletionRef,
        McpLogLevel,
        McpPrompt,
        McpPromptResult,
        McpResource,
        McpResourceResult,
        McpResourceTemplate,
        McpToolDefinition,
        McpToolResult,
    )

Item = TypeVar("Item")

Change = Literal["tools", "prompts", "resources", "resource"]
"""What can change: one of the three lists, or the content of a single resource."""


class InvalidParamsError(Exception):
    """The request names something that does not exist, or has parameters it cannot have: -32602."""


class ResourceNotFoundError(InvalidParamsError):
    """No such resource: -32002 in the handshake revisions, -32602 since 2026-07-28."""


class CancelledError(Exception):
    """Nobody waits for the answer any more; raised where a handler waits for the client. Let it pass."""


class CannotAskError(Exception):
    """The client did not declare that it can be asked for this.

    Since 2026-07-28 the answer is -32021. Before, a tool's result tells it, and other methods answer -32600.

    Attributes:
        capability: the capability that lacks, such as ``sampling``.
    """

    def __init__(self, capability: str) -> None:
        super().__init__(f"this takes a client that offers {capability}")
        self.capability = capability


class AskRefusedError(Exception):
    """The client answered a question with an error, as when its user said no."""


class Context(ABC):
    """What a handler may do for the request it answers."""

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""

    @abstractmethod
    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tells how far it is, where the client asked to be told."""

    @abstractmethod
    def log(self, level: McpLogLevel, data: Any) -> None:
        """Sends a log message, where the client asked for this level or a lesser one."""

    @abstractmethod
    def can_ask(self, method: str) -> bool:
        """Whether the client declared that it answers this: ``sampling/createMessage`` and the like."""

    @abstractmethod
    def ask(self, requests: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        """Asks the client for input: sampling, elicitation or its roots. In tools, resources and prompts only.

        In the handshake revisions this waits for the client's answers. Since 2026-07-28 it ends the handler, and the
        client calls again with the answers: what stands before ``ask`` runs once more. A client may answer unasked, so
        an answer proves nothing but what the client says.

        Args:
            requests: ``{"method", "params"}`` by names of the handler's choice, no two alike in one call.

        Returns:
            The client's results by the same names.

        Raises:
            CannotAskError: the client does not offer that.
            AskRefusedError: it answered with an error (handshake revisions; later, no answer comes at all).
            CancelledError: it cancelled the call meanwhile.
        """

    @abstractmethod
    def announce(self, change: Change, uri: str | None = None) -> None:
        """Tells those who listen that something changed, where the registry ``announces`` that.

        Args:
            change: what changed.
            uri: the resource, with ``resource``.
        """

    @abstractmethod
    def ended_by(self, end: Callable[[], object]) -> AbstractContextManager[None]:
        """A context in which ``end`` is called, by another thread, as soon as nobody waits for the answer any more.

        Args:
            end: must not wait.

        Raises:
            CancelledError: nobody does already.
        """


class Page(NamedTuple, Generic[Item]):
    """A page of a list.

    Attributes:
        items: in a stable order.
        next_cursor: what brings the next page; None on the last.
    """

    items: Sequence[Item]
    next_cursor: str | None = None


class Registry(ABC):
    """The tools, resources and prompts of a server.

    Attributes:
        instructions: what a model should know of them all.
        announces: of which changes handlers tell (``Context.announce``); clients can listen to these.
    """

    instructions: str = ""
    announces: Collection[Change] = ()

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """The client is gone: ends what waits. Called once, while handlers may still run."""

    @abstractmethod
    def tools(self) -> Sequence[McpToolDefinition]:
        """All tools, always in the same order. Must not wait: hosts ask at once, and the thread that reads answers."""

    @abstractmethod
    def call_tool(self, name: str, arguments: JsonObject, context: Context) -> McpToolResult:
        """Calls a tool. What goes wrong with arguments or in the tool is a result with ``isError``.

        Raises:
            InvalidParamsError: there is no such tool.
        """

    def queues(self, name: str) -> bool:  # noqa: ARG002
        """Whether a call of a tool may have to wait for others that write. Must not wait itself, as ``tools``."""
        return False

    @abstractmethod
    def resources(self, cursor: str | None) -> Page[McpResource]:
        """A page of the list.

        Raises:
            InvalidParamsError: the cursor is none of ours.
        """

    @abstractmethod
    def resource_templates(self) -> Sequence[McpResourceTemplate]:
        """All templates. Must not wait, as ``tools``."""

    @abstractmethod
    def read_resource(self, uri: str, context: Context) -> McpResourceResult:
        """Reads a resource.

        Raises:
            ResourceNotFoundError: there is none of that URI.
        """

    @abstractmethod
    def prompts(self, cursor: str | None) -> Page[McpPrompt]:
        """A page of the list.

        Raises:
            InvalidParamsError: the cursor is none of ours.
        """

    @abstractmethod
    def get_prompt(self, name: str, arguments: Mapping[str, str], context: Context) -> McpPromptResult:
        """A prompt with its arguments put in.

        Raises:
            InvalidParamsError: there is no such prompt, or an argument is missing.
        """

    @abstractmethod
    def complete(self, ref: McpCompletionRef, argument: str, typed: str, arguments: Mapping[str, str]) -> McpCompletion:
        """What could follow.

        Args:
            ref: the prompt or resource template.
            argument: the argument that is being typed.
            typed: what stands there already.
            arguments: those that are complete.
        """
