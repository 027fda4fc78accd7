"""What layers that talk to nobody say of a remedy holds on a command line, in Python and over MCP alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "kbdb"
LAYERS = ("model", "store", "index", "query", "ingest", "embed", "knowledge", "daemon", "rpc", "client", "errors.py")

NEVER = {
    "an option of the command line": re.compile(r"(?<![\w-])--[a-z]"),
    "a command in the place of a verb": re.compile(
        r"kbdb (search|recall|retrieve|learn|unlearn|revise|history|list)\b"
    ),
}
"""An agent over MCP has tools of these names and no command line; ``list`` it has not at all."""


def _modules() -> list[Path]:
    found = [path for layer in LAYERS for path in (PACKAGE / layer).rglob("*.py")]
    return sorted([*found, *(PACKAGE / layer for layer in LAYERS if layer.endswith(".py"))])


def _texts(path: Path) -> Iterator[str]:
    """The string literals of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


@pytest.mark.parametrize("path", _modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_message_speaks_of_the_command_line(path: Path) -> None:
    said = [(what, text) for text in _texts(path) for what, never in NEVER.items() if never.search(text)]
    assert said == []
