"""Changes one entry of a TOML text and leaves every other byte as it is.

tomlkit would do for most files, yet it leaves line breaks of its own behind, mixes line ends, and refuses a table
inside an inline one. What is written here is read again by ``tomllib`` in ``kbdb.setup.change``, and taking out what
was put in gives the text as it was before.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from kbdb.setup.fault import TextFault
from kbdb.setup.toml_places import Header, Key, Pair, line_end, line_start, places

_FAULT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = " \t\r\n"


def read(text: str) -> dict[str, Any]:
    """What a text holds.

    Raises:
        TextFault: it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _fault(text, str(error)) from error
    except RecursionError as error:
        raise TextFault(text, 0, "nested too deep") from error


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with an entry added at its end, or with the value it has replaced where it stands.

    Args:
        text: a whole file.
        path: the names that lead to the entry.
        value: a table, a list, a string or a truth value.

    Raises:
        TextFault: the text is not TOML, or something on the way is no table.
    """
    _tables(text, path)
    key = tuple(path)
    found = places(text)
    pairs = [place for place in found if isinstance(place, Pair)]
    for pair in pairs:
        if pair.key == key:
            return text[: pair.value_start] + inline(value) + text[pair.value_end :]
    around = [pair for pair in pairs if pair.key == key[: len(pair.key)] and text[pair.value_start] == "{"]
    if around:
        return _into_inline(text, around[-1], pairs, key, value)
    if not isinstance(value, Mapping):
        return _into_table(text, found, key, value)
    if any(place.key[: len(key)] == key for place in found):
        text = take_out(text, path)
    return _at_the_end(text, key, value)


def take_out(text: str, path: Sequence[str]) -> str:
    """The text without an entry: its tables with all lines in them, or its line, or its part of an inline table.

    Raises:
        TextFault: the text is not TOML, or something on the way is no table.
        KeyError: there is no such entry.
    """
    _tables(text, path)
    key = tuple(path)
    held: Any = read(text)
    for part in path:
        held = held[part]
    found = places(text)
    cuts: list[tuple[int, int]] = []
    for at, place in enumerate(found):
        if place.key[: len(key)] != key:
            continue
        if isinstance(place, Header):
            cuts.append(_block(text, found, at))
        elif place.within is not None:
            if place.within.key[: len(key)] != key:
                cuts.append(_inline_cut(text, place, found))
        elif not any(start <= place.start < end for start, end in cuts):
            cuts.append(_line_cut(text, place))
    kept, last = [], 0
    for start, end in sorted(cuts):
        kept.append(text[last:start])
        last = max(last, end)
    return "".join(kept) + text[last:]


def snippet(path: Sequence[str], value: Any) -> str:
    """A whole file that holds nothing but one entry."""
    return put("", path, value)


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_name(key)} = {inline(item)}" for key, item in value.items()) + " }"
    return "[" + ", ".join(map(inline, value)) + "]"


def _tables(text: str, path: Sequence[str]) -> None:
    """Makes sure that whatever is there on the way to an entry is a table."""
    held: Any = read(text)
    for depth, part in enumerate(path):
        if not isinstance(held, dict):
            name = ".".join(path[:depth])
            place = next((place for place in places(text) if place.key == tuple(path[:depth])), None)
            raise TextFault(text, place.start if place else 0, f"{name} must be a table")
        if part not in held:
            return
        held = held[part]


def _at_the_end(text: str, key: Key, table: Mapping[str, Any]) -> str:
    """The text with a table behind everything else; it ends in a line break if the text did."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(map(_name, key))}]", *(f"{_name(name)} = {inline(item)}" for name, item in table.items())]
    block = newline.join(lines)
    if not text:
        return block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def _into_inline(text: str, table: Pair, pairs: Sequence[Pair], key: Key, value: Any) -> str:
    """The text with a pair more in an inline table."""
    added = f"{'.'.join(map(_name, key[len(table.key) :]))} = {inline(value)}"
    inside = [pair for pair in pairs if pair.within == table]
    if not inside:
        return f"{text[: table.value_start]}{{ {added} }}{text[table.value_end :]}"
    end = inside[-1].value_end
    return f"{text[:end]}, {added}{text[end:]}"


def _into_table(text: str, found: Sequence[Header | Pair], key: Key, value: Any) -> str:
    """The text with a line more in a table that is there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    parent = key[:-1]
    after: Header | Pair | None = None
    for place in found:
        own = isinstance(place, Header) or place.within is None
        if own and (place.key == parent if isinstance(place, Header) else place.key[:-1] == parent):
            after = place
    if after is None:
        return _at_the_end(text, parent, {key[-1]: value})
    shared = len(parent) if isinstance(after, Header) else after.table
    line = f"{'.'.join(map(_name, key[shared:]))} = {inline(value)}"
    end = line_end(text, after.end if isinstance(after, Header) else after.value_end)
    if text[:end].endswith("\n"):
        return f"{text[:end]}{line}{newline}{text[end:]}"
    return f"{text[:end]}{newline}{line}{text[end:]}"


def _block(text: str, found: Sequence[Header | Pair], at: int) -> tuple[int, int]:
    """From a header to its last line; comments behind that belong to what follows."""
    header = found[at]
    end = header.end if isinstance(header, Header) else header.value_end
    for place in found[at + 1 :]:
        if isinstance(place, Header):
            break
        end = max(end, place.value_end)
    start, end = header.start, line_end(text, end)
    if end == len(text) and not text.endswith("\n"):
        start = _without_break(text, _without_break(text, start))
    elif start and _is_blank_line(text, line_start(text, start - 1)) and _is_blank_line(text, end):
        start = line_start(text, start - 1)
    return start, end


def _line_cut(text: str, pair: Pair) -> tuple[int, int]:
    start, end = line_start(text, pair.start), line_end(text, pair.value_end)
    return (_without_break(text, start), end) if not text[:end].endswith("\n") else (start, end)


def _inline_cut(text: str, pair: Pair, found: Sequence[Header | Pair]) -> tuple[int, int]:
    """A pair of an inline table with one comma; with the table's own line where nothing else is in it."""
    beside = [place for place in found if isinstance(place, Pair) and place.within == pair.within]
    at = beside.index(pair)
    if at:
        return beside[at - 1].value_end, pair.value_end
    if len(beside) > 1:
        return pair.start, beside[1].start
    assert pair.within is not None
    return _inline_cut(text, pair.within, found) if pair.within.within else _line_cut(text, pair.within)


def _without_break(text: str, place: int) -> int:
    """The place before the line break that ends there."""
    if text[:place].endswith("\r\n"):
        return place - 2
    return place - 1 if text[:place].endswith("\n") else place


def _is_blank_line(text: str, start: int) -> bool:
    """Whether the line that begins there has nothing on it; the end of the file counts as one."""
    return not text[start : line_end(text, start)].strip(_BLANK)


def _name(part: str) -> str:
    return part if _BARE.fullmatch(part) else inline(part)


def _fault(text: str, message: str) -> TextFault:
    found = _FAULT.fullmatch(message)
    if not found:
        return TextFault(text, 0, message)
    if found[2] is None:
        return TextFault(text, len(text), found[1])
    lines = text.replace("\r\n", "\n").split("\n")
    before = "\n".join([*lines[: int(found[2]) - 1], lines[int(found[2]) - 1][: int(found[3]) - 1]])
    return TextFault(before, len(before), found[1])
