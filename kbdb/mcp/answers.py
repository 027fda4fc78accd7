"""Results of tools: an object and text that says the same; errors as results that a model can act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbdb.mcp.budget import Form, short, shrunk_form

if TYPE_CHECKING:
    from kbdb.errors import KbdbError
    from kbdb.mcp.types import McpToolResult

_LONGEST_ERROR = 1_000


def result(form: Form) -> McpToolResult:
    """A result of both forms."""
    value, text = form
    return {"content": [{"type": "text", "text": text}], "structuredContent": value}


def error_result(error: KbdbError) -> McpToolResult:
    """A result that says what went wrong and what to do."""
    told = {
        "code": error.code,
        "message": short(error.message, _LONGEST_ERROR),
        "hint": short(error.hint, _LONGEST_ERROR),
    }
    text = f"{told['code']}: {told['message']}"
    if told["hint"]:
        text += f"\n{told['hint']}"
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"error": told}, "isError": True}


def account(value: dict[str, Any], tokens: int, headline: Callable[[dict[str, Any]], str] | None = None) -> Form:
    """The answer of a tool whose values are short: its text is every value by its name."""

    def draw(shown: dict[str, Any]) -> str:
        lines = [] if headline is None else [headline(shown)]
        return "\n".join([*lines, *_lines(shown, "")])

    return shrunk_form(value, draw, tokens)


def _lines(value: dict[str, Any], indent: str) -> list[str]:
    """``name: value`` for what says something; what is empty, or null, is left to its absence."""
    lines: list[str] = []
    for name, item in value.items():
        if isinstance(item, dict):
            if item:
                lines.append(f"{indent}{name}:")
                lines.extend(_lines(item, f"{indent}  "))
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            lines.append(f"{indent}{name}:")
            for one in item:
                first, *rest = _lines(one, f"{indent}  ") or [f"{indent}  "]
                lines += [f"{indent}- {first.strip()}", *rest]
        elif isinstance(item, list):
            if item:
                lines.append(f"{indent}{name}: {', '.join(map(plain, item))}")
        elif item is not None and item != "":
            lines.append(f"{indent}{name}: {plain(item)}")
    return lines


def plain(value: Any) -> str:
    """A value as a text shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def rounded(value: dict[str, Any], *names: str, digits: int = 2) -> None:
    """Rounds what nobody needs to the last bit: each digit is paid for."""
    for name in names:
        if isinstance(value.get(name), float):
            value[name] = round(value[name], digits)
