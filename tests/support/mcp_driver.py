"""A client of ``Protocol`` in one thread: messages in, messages out, each call made as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from mcp_registry import FixtureRegistry

from kbdb.mcp.calls import Call
from kbdb.mcp.methods import METHODS
from kbdb.mcp.protocol import Protocol
from kbdb.mcp.registry import Change, Context, Registry
from kbdb.mcp.types import JsonObject, McpLogLevel

Message = dict[str, Any]

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LEVEL = "io.modelcontextprotocol/logLevel"
EVERYTHING: Message = {"sampling": {}, "elicitation": {}, "roots": {}}
INFO = {"name": "test", "title": "A test", "version": "1", "description": "For tests"}


def line(message: Message) -> bytes:
    """The line of a message."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def envelope(capabilities: Message | None = None, **more: Any) -> Message:
    """The ``_meta`` of a request without a session."""
    return {VERSION: "2026-07-28", CAPABILITIES: EVERYTHING if capabilities is None else capabilities, **more}


class Driver:
    """One client.

    Args:
        registry: what is served; the fixtures where none is given.
        answer: what this client answers to a question: a result, or a string it refuses with.

    Attributes:
        protocol: what is tested.
        now: the time, in seconds.
    """

    def __init__(
        self, registry: Registry | None = None, answer: Callable[[Message], Message | str] | None = None
    ) -> None:
        self.now = 0.0
        self.registry = registry or FixtureRegistry()
        self.protocol = Protocol(self.registry, INFO, clock=lambda: self.now)
        self._answer = answer
        self._told: list[Message] = []
        self._ids = 0

    def feed(self, data: bytes) -> list[Message]:
        """Sends bytes; gives what the server sends meanwhile."""
        told, self._told = self._told, []
        for event in self.protocol.receive(data):
            if isinstance(event, Call):
                self._make(event)
            elif isinstance(event, bytes):
                self.take(event)
        told, self._told = self._told, told
        return told

    def send(self, message: Message) -> list[Message]:
        """Sends a message; gives what the server sends meanwhile."""
        return self.feed(line(message))

    def ask(self, method: str, **params: Any) -> Message:
        """Makes a request; gives its answer, which is the only message that comes."""
        (answer,) = self.talk(method, **params)
        return answer

    def talk(self, method: str, **params: Any) -> list[Message]:
        """Makes a request; gives all that comes, the answer last."""
        self._ids += 1
        told = self.send({"id": self._ids, "method": method, "params": params})
        assert told[-1]["id"] == self._ids
        return told

    def begin(self, revision: str = "2025-11-25", capabilities: Message | None = None) -> Message:
        """Shakes hands; gives the server's welcome."""
        given = EVERYTHING if capabilities is None else capabilities
        welcome = self.ask("initialize", protocolVersion=revision, capabilities=given, clientInfo=INFO)
        assert self.send({"method": "notifications/initialized"}) == []
        found: Message = welcome["result"]
        return found

    def take(self, data: bytes) -> None:
        """Notes what the server sends."""
        assert data == b"" or (data.isascii() and data.endswith(b"\n"))
        self._told += map(json.loads, data.splitlines())

    def make(self, call: Call, handler: Callable[[Context], Message]) -> None:
        """Makes a call with a handler of the test's own."""
        try:
            value = handler(_DriverContext(self, call))
        except BaseException as error:
            self.take(self.protocol.fail(call, error))
        else:
            self.take(self.protocol.finish(call, value))

    def answers(self, call: Call, requests: Mapping[str, JsonObject]) -> Mapping[str, Message]:
        """Answers the questions of a handler."""
        lines = self.protocol.ask(call, requests)
        for question in map(json.loads, lines.splitlines()):
            assert self._answer
            given = self._answer(question)
            reply = {"error": {"code": -1, "message": given}} if isinstance(given, str) else {"result": given}
            for _event in self.protocol.receive(line({"id": question["id"], **reply})):
                pass
        found = self.protocol.answers(call, requests)
        assert found is not None
        return found

    def _make(self, call: Call) -> None:
        self.make(call, lambda context: METHODS[call.method].run(self.registry, call.params, context))


class _DriverContext(Context):
    def __init__(self, driver: Driver, call: Call) -> None:
        self._driver = driver
        self._call = call

    @property
    def cancelled(self) -> bool:
        return self._call.cancelled

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self._driver.take(self._driver.protocol.progress(self._call, done, total, message))

    def log(self, level: McpLogLevel, data: Any) -> None:
        self._driver.take(self._driver.protocol.log(self._call, level, data))

    def can_ask(self, method: str) -> bool:
        return self._driver.protocol.can_ask(self._call, method)

    def ask(self, requests: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        return self._driver.answers(self._call, requests)

    def announce(self, change: Change, uri: str | None = None) -> None:
        self._driver.take(self._driver.protocol.announce(change, uri))

    def ended_by(self, end: Any) -> Any:  # noqa: ARG002
        return nullcontext()
