"""Calls of the MCP server's tools, each result checked: its schema, its budget, and that its text says its values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from typing import Any

import jsonschema
from bpe_openai import get_encoding

from kbdb.mcp.budget import DEFAULT_TOKENS
from kbdb.mcp.registry import Context
from kbdb.mcp.server import KbdbServer

UNSAID = ("limit", "total_is_exact", "search_mode")
"""Numbers and flags that a text says in words."""


class Quiet(Context):
    """A context that keeps what it is told.

    Attributes:
        steps: of progress.
        logged: log messages with their levels.
        announced: what changed.
        cancel_after: how many steps it takes until nobody waits any more; None for ever.
    """

    def __init__(self, cancel_after: int | None = None) -> None:
        self.logged: list[tuple[Any, Any]] = []
        self.announced: list[Any] = []
        self.steps: list[tuple[float, float | None, str | None]] = []
        self.cancel_after = cancel_after

    @property
    def cancelled(self) -> bool:
        return self.cancel_after is not None and len(self.steps) >= self.cancel_after

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.steps.append((done, total, message))

    def log(self, level: Any, data: Any) -> None:
        self.logged.append((level, data))

    def can_ask(self, method: str) -> bool:  # noqa: ARG002
        return False

    def ask(self, requests: Any) -> Any:
        raise NotImplementedError

    def announce(self, change: Any, uri: str | None = None) -> None:  # noqa: ARG002
        self.announced.append(change)

    def ended_by(self, end: Any) -> Any:  # noqa: ARG002
        return nullcontext()


@cache
def _encode() -> Callable[[str], list[int]]:
    return get_encoding("o200k_base").encode_ordinary


def tokens(text: str) -> int:
    """What a text costs by o200k."""
    return len(_encode()(text))


def larger_form(result: Any) -> int:
    """The tokens of the larger form of a result."""
    written = json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":"))
    return max(tokens(written), *(tokens(block["text"]) for block in result["content"]))


def call(server: KbdbServer, name: str, context: Context | None = None, **arguments: Any) -> dict[str, Any]:
    """The values of a call that goes well."""
    result = server.call_tool(name, arguments, context or Quiet())
    assert not result.get("isError"), result
    check(server, name, result, arguments.get("max_tokens", DEFAULT_TOKENS))
    return dict(result["structuredContent"])


def error(server: KbdbServer, name: str, **arguments: Any) -> dict[str, str]:
    """The error of a call that does not."""
    result = server.call_tool(name, arguments, Quiet())
    assert result.get("isError"), result
    told = result["structuredContent"]["error"]
    assert told["code"] in text_of(result)
    assert told["message"] in text_of(result)
    assert told["hint"] in text_of(result)
    check(server, name, result, DEFAULT_TOKENS)
    return dict(told)


def check(server: KbdbServer, name: str, result: Any, budget: int) -> None:
    """Fails where a result breaks one of the promises that hold for all of them."""
    (schema,) = [tool["outputSchema"] for tool in server.tools() if tool["name"] == name]
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(result["structuredContent"], schema, jsonschema.Draft202012Validator)
    assert larger_form(result) <= budget
    text = text_of(result)
    unsaid = [f"{path}: {value}" for path, value in leaves(result["structuredContent"]) if not _says(text, path, value)]
    assert unsaid == []


def text_of(result: Any) -> str:
    """The text of a result."""
    (block,) = result["content"]
    return str(block["text"])


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that holds no others, and where it stands."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, path)
    else:
        yield path, value


def _says(text: str, path: str, value: Any) -> bool:
    name = path.rpartition(".")[2]
    if value in (None, "", 0, False) or name in UNSAID:
        return True
    if value is True:
        return bool(re.search(rf"{name}|cut|true", text))
    return str(value) in text
