"""Finds where the tables and values of a TOML text stand; ``tomllib`` has read the text before and found it sound.

``kbdb.setup.toml_edit`` changes single entries by these places.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

Key = tuple[str, ...]

_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'""")
_BLANKS = re.compile(r"[ \t]*")
_GAPS = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\(?s:.))*?"{3,5}'
    r"|'''(?s:.)*?'{3,5}"
    r'|"(?:[^"\\\r\n]|\\.)*"'
    r"|'[^'\r\n]*'"
)
_PLAIN = re.compile(r"[^\s,\[\]{}#\"']+(?: [0-9][^\s,\[\]{}#\"']*)?")


@dataclass(frozen=True, slots=True)
class Header:
    """``[table]`` or ``[[table]]``: the lines from here to the next one are in it.

    Attributes:
        key: the table's full name.
        start: the begin of its line.
        end: behind the closing bracket.
    """

    key: Key
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A name and its value, on a line of its own or in an inline table.

    Attributes:
        key: the full name, from the root.
        table: how much of it the header or inline table around it gives.
        start: where the name begins.
        value_start: where its value does.
        value_end: behind the value.
        within: the pair whose inline table it stands in; None on a line of its own.
    """

    key: Key
    table: int
    start: int
    value_start: int
    value_end: int
    within: Pair | None


def places(text: str) -> list[Header | Pair]:
    """Every header and pair of a text, in order; those of an inline table follow the pair that it is the value of."""
    found: list[Header | Pair] = []
    table: Key = ()
    place = _gap_end(text, 0)
    while place < len(text):
        if text[place] == "[":
            brackets = 2 if text.startswith("[[", place) else 1
            table, end = _key(text, place + brackets)
            found.append(Header(table, line_start(text, place), end + brackets))
            place = end + brackets
        else:
            pair = _pair(text, place, table, None)
            found.append(pair)
            found.extend(_inside(text, pair))
            place = pair.value_end
        place = _gap_end(text, place)
    return found


def line_start(text: str, place: int) -> int:
    """Where the line of a place begins."""
    return text.rfind("\n", 0, place) + 1


def line_end(text: str, place: int) -> int:
    """Behind the line break that ends the line of a place."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def _pair(text: str, place: int, table: Key, within: Pair | None) -> Pair:
    key, end = _key(text, place)
    start = _blanks_end(text, end + 1)
    return Pair((*table, *key), len(table), place, start, _value_end(text, start), within)


def _inside(text: str, pair: Pair) -> Iterator[Pair]:
    """The pairs of a value that is an inline table, and of the inline tables in it."""
    if text[pair.value_start] != "{":
        return
    place = _gap_end(text, pair.value_start + 1)
    while text[place] != "}":
        inner = _pair(text, place, pair.key, pair)
        yield inner
        yield from _inside(text, inner)
        place = _gap_end(text, inner.value_end)
        if text[place] == ",":
            place = _gap_end(text, place + 1)


def _key(text: str, place: int) -> tuple[Key, int]:
    """A dotted name and where what follows it stands: an equals sign or a bracket."""
    parts: list[str] = []
    place = _blanks_end(text, place)
    while part := _PART.match(text, place):
        quoted = part[0][0] in "\"'"
        parts.append(tomllib.loads(f"part = {part[0]}")["part"] if quoted else part[0])
        place = _blanks_end(text, part.end())
        if text[place : place + 1] != ".":
            break
        place = _blanks_end(text, place + 1)
    return tuple(parts), place


def _value_end(text: str, place: int) -> int:
    if text[place] in "[{":
        depth = 0
        while True:
            if text[place] in "[{":
                depth += 1
            elif text[place] in "]}":
                depth -= 1
            elif text[place] in "\"'":
                place = _string_end(text, place) - 1
            elif text[place] == "#":
                place = line_end(text, place) - 1
            place += 1
            if depth == 0:
                return place
    if text[place] in "\"'":
        return _string_end(text, place)
    plain = _PLAIN.match(text, place)
    return plain.end() if plain else place + 1


def _string_end(text: str, place: int) -> int:
    found = _STRING.match(text, place)
    return found.end() if found else place + 1


def _blanks_end(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


def _gap_end(text: str, place: int) -> int:
    """Where the next header or name stands, behind white space and comments."""
    found = _GAPS.match(text, place)
    return found.end() if found else place
