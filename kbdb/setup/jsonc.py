"""Reads JSON with comments and trailing commas, and keeps where in the text everything stands.

``kbdb.setup.jsonc_edit`` changes single members by these places.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from kbdb.setup.fault import TextFault

DEEPEST = 200
"""More levels than any settings file has, and fewer than Python's stack."""

COMMENT = re.compile(r"//[^\r\n]*|/\*(?s:.*?)\*/")

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*(?s:.*?)\*/)*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_WORD = re.compile(r"[A-Za-z0-9_.+-]+")
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object.

    Attributes:
        key: its name.
        key_start: where the name's first quote stands.
        key_end: behind its last one.
        value: what it is.
        comma: where the comma after it stands; None where there is none.
    """

    key: str
    key_start: int
    key_end: int
    value: Node
    comma: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands.

    Attributes:
        value: as Python has it; long numbers are floats, so that none can fail.
        start: where it begins.
        end: just behind it.
        members: of an object; None for anything else.
    """

    value: Any
    start: int
    end: int
    members: tuple[Member, ...] | None = None


def parse(text: str) -> Node | None:
    """The value a text holds; None where it holds nothing but white space and comments.

    Raises:
        TextFault: it is not JSON, comments and trailing commas aside.
    """
    start = _skip(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    end = _skip(text, node.end)
    if end < len(text):
        raise TextFault(text, end, "nothing may follow the value that ends before this")
    return node


def _skip(text: str, place: int) -> int:
    """Where the next token begins."""
    found = _TRIVIA.match(text, place)
    end = found.end() if found else place
    if text.startswith("/*", end):
        raise TextFault(text, end, "this comment has no end")
    return end


def _value(text: str, place: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise TextFault(text, place, f"nested more than {DEEPEST} deep")
    letter = text[place : place + 1]
    if letter == "{":
        return _object(text, place, depth)
    if letter == "[":
        return _array(text, place, depth)
    if letter == '"':
        return _string(text, place)
    if number := _NUMBER.match(text, place):
        short = len(number[0]) < 16 and number[0].lstrip("-").isdigit()
        return Node(int(number[0]) if short else float(number[0]), place, number.end())
    word = _WORD.match(text, place)
    if word and word[0] in _WORDS:
        return Node(_WORDS[word[0]], place, word.end())
    raise TextFault(text, place, f"a value must stand here, not {_shown(text, place)}")


def _string(text: str, place: int) -> Node:
    found = _STRING.match(text, place)
    if not found:
        raise TextFault(text, place, "this string has no end, or a character that must be escaped")
    quoted = found[0]
    return Node(json.loads(quoted) if "\\" in quoted else quoted[1:-1], place, found.end())


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    place = _skip(text, start + 1)
    while text[place : place + 1] != "}":
        if members and members[-1].comma is None:
            raise TextFault(text, place, f"a comma or }} must stand here, not {_shown(text, place)}")
        if text[place : place + 1] != '"':
            raise TextFault(text, place, f'a name in "double quotes" or }} must stand here, not {_shown(text, place)}')
        key = _string(text, place)
        colon = _skip(text, key.end)
        if text[colon : colon + 1] != ":":
            raise TextFault(text, colon, f"a colon must stand here, not {_shown(text, colon)}")
        value = _value(text, _skip(text, colon + 1), depth + 1)
        comma = _skip(text, value.end)
        has_comma = text[comma : comma + 1] == ","
        members.append(Member(key.value, place, key.end, value, comma if has_comma else None))
        place = _skip(text, comma + 1) if has_comma else comma
    return Node({member.key: member.value.value for member in members}, start, place + 1, tuple(members))


def _array(text: str, start: int, depth: int) -> Node:
    values: list[Any] = []
    place = _skip(text, start + 1)
    while text[place : place + 1] != "]":
        node = _value(text, place, depth + 1)
        values.append(node.value)
        place = _skip(text, node.end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != "]":
            raise TextFault(text, place, f"a comma or ] must stand here, not {_shown(text, place)}")
    return Node(values, start, place + 1)


def _shown(text: str, place: int) -> str:
    if place >= len(text):
        return "the end of the file"
    word = _WORD.match(text, place)
    return repr(word[0][:20] if word else text[place])
