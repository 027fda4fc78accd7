"""Link reference definitions (``[label]: target "title"``): where one ends in a paragraph's text.

The block scanner needs them because a paragraph of nothing but definitions is no heading; ``links.py`` reads targets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)*+)\]:[ \t]*+\n?[ \t]*+", re.DOTALL)
_NO_LABEL = re.compile(r"\[(?:[^\[\]\\]|\\.)*+(?:\[|\](?!:))", re.DOTALL)
_TARGET = re.compile(r"<((?:[^<>\\\n]|\\.)*+)>|((?!<)[^ \x00-\x1f\x7f]++)")
_TITLE = re.compile(
    r"(?:[ \t]++\n?|\n)[ \t]*+(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))[ \t]*+(?=\n|\Z)",
    re.DOTALL,
)
_LINE_REST = re.compile(r"[ \t]*+(?=\n|\Z)")


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition's target as written, where it ends (before the line end), and whether it has a title."""

    target: str
    end: int
    titled: bool


def may_define(text: str) -> bool:
    """Whether paragraph text that starts with ``[`` is, or could with more lines become, a definition."""
    return _NO_LABEL.match(text) is None


def definition_at(text: str, pos: int = 0) -> Definition | None:
    """The definition that starts at ``pos`` of a paragraph's text (lines stripped, joined with ``\\n``), if any."""
    label = _LABEL.match(text, pos)
    if label is None or not label[1].strip():
        return None
    target = _TARGET.match(text, label.end())
    if target is None or not _balanced(target[2]):
        return None
    written = target[1] if target[1] is not None else target[2]
    if title := _TITLE.match(text, target.end()):
        return Definition(written, title.end(), True)
    rest = _LINE_REST.match(text, target.end())
    return None if rest is None else Definition(written, rest.end(), False)


def definitions(text: str) -> tuple[list[Definition], int]:
    """The definitions a paragraph's text begins with, and where the text after them starts."""
    found: list[Definition] = []
    pos = 0
    while pos < len(text) and (definition := definition_at(text, pos)) is not None:
        found.append(definition)
        pos = min(definition.end + 1, len(text))
    return found, pos


def _balanced(target: str | None) -> bool:
    depth, escaped = 0, False
    for char in target or "":
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
