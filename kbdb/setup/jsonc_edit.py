"""Changes one member of a JSON text, comments and trailing commas allowed, and leaves every other byte as it is.

Taking out what was put in gives the text as it was before, unless an object on the way to it was there and empty: that
goes, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from kbdb.setup.fault import TextFault
from kbdb.setup.jsonc import COMMENT, Member, Node, parse

_BLANK = " \t\r\n"
_INDENT = "  "
"""Of files that are made, and of those that have no indentation to follow."""


def read(text: str) -> dict[str, Any]:
    """The object a text holds; an empty one where it holds nothing.

    Raises:
        TextFault: it is not JSON, or not an object.
    """
    root = _root(text)
    return {} if root is None else dict(root.value)


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a member added, or with the value it has replaced; objects missing on the way are made.

    Args:
        text: a whole file.
        path: the names that lead to the member.
        value: what JSON can hold.

    Raises:
        TextFault: the text is not JSON, or something on the way is no object.
    """
    node = _root(text)
    newline = _newline(text)
    if node is None:
        gap = "" if not text or text[-1] in "\r\n" else newline
        return f"{text}{gap}{_rendered(_nested(path, value), '', _INDENT, newline)}{newline}"
    root = node
    for depth, key in enumerate(path):
        member = _member(text, node, path[:depth], key)
        if member is None:
            return _inserted(text, root, node, key, _nested(path[depth + 1 :], value))
        node = member.value
    indent = _indent_of(text, node.start)
    new = _compact(text, root, value) if _is_flat(text, root) else _rendered(value, indent, _unit(text, root), newline)
    return text[: node.start] + new + text[node.end :]


def take_out(text: str, path: Sequence[str]) -> str:
    """The text without a member; objects that held nothing else, not even a comment, go with it.

    Raises:
        TextFault: the text is not JSON, or something on the way is no object.
        KeyError: there is no such member.
    """
    node = _root(text)
    way: list[tuple[Node, Member]] = []
    for depth, key in enumerate(path):
        member = None if node is None else _member(text, node, path[:depth], key)
        if node is None or member is None:
            raise KeyError(key)
        way.append((node, member))
        node = member.value
    parent, member = way.pop()
    while way and _is_all_of(text, parent, member) and not _has_comment(text, way[-1][1]):
        parent, member = way.pop()
    return _without(text, parent, member)


def snippet(path: Sequence[str], value: Any) -> str:
    """A whole file that holds nothing but one member."""
    return put("", path, value)


def _root(text: str) -> Node | None:
    root = parse(text)
    if root is not None and root.members is None:
        raise TextFault(text, root.start, "the file must hold an object: {…}")
    return root


def _member(text: str, node: Node, path: Sequence[str], key: str) -> Member | None:
    """A member of an object by its name."""
    if node.members is None:
        raise TextFault(text, node.start, f"{'.'.join(path)} must be an object: {{…}}")
    found = [member for member in node.members if member.key == key]
    if len(found) > 1:
        raise TextFault(text, found[1].key_start, f"{key!r} stands here a second time; which one counts is not clear")
    return found[0] if found else None


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _inserted(text: str, root: Node, node: Node, key: str, value: Any) -> str:
    """The text with a member added behind the last one of an object."""
    members = node.members or ()
    flat = _is_flat(text, root)
    newline = _newline(text)
    if not members:
        return _filled(text, root, node, key, value)
    last = members[-1]
    end = last.value.end if last.comma is None else last.comma + 1
    place = _line_comment_end(text, end, node.end - 1)
    on_lines = _has_newline(text[node.start : last.key_start]) or _ends_in_line_comment(text, end, place)
    if on_lines:
        own_line = not text[_line_start(text, last.key_start) : last.key_start].strip(_BLANK)
        indent = _indent_of(text, last.key_start)
        indent = indent if own_line else indent + _unit(text, root)
        gap = newline + indent
    else:
        first = members[0]
        before = text[members[-2].comma + 1 : last.key_start] if len(members) > 1 and members[-2].comma else " "
        gap = " " if before.strip(_BLANK) or first is last else before
        indent = _indent_of(text, last.key_start)
    shown = (
        _compact(text, root, value) if flat or not on_lines else _rendered(value, indent, _unit(text, root), newline)
    )
    added = f"{gap}{_colon(text, root, key)}{shown}"
    if last.comma is None:
        return f"{text[:end]},{text[end:place]}{added}{text[place:]}"
    return f"{text[:place]}{added},{text[place:]}"


def _filled(text: str, root: Node, node: Node, key: str, value: Any) -> str:
    """The text with the first member of an object put in, behind the comments in it."""
    start, end = node.start + 1, node.end - 1
    comments = list(COMMENT.finditer(text, start, end))
    newline, unit = _newline(text), _unit(text, root)
    closing = _indent_of(text, node.start)
    indent = closing + unit
    if comments:
        place = comments[-1].end()
        if _has_newline(text[place:end]):
            shown = _rendered(value, indent, unit, newline)
            return f"{text[:place]}{newline}{indent}{json.dumps(key)}: {shown}{text[place:]}"
        return f"{text[:place]} {_colon(text, root, key)}{_compact(text, root, value)}{text[place:]}"
    if _is_flat(text, root):
        return f"{text[:start]}{_colon(text, root, key)}{_compact(text, root, value)}{text[end:]}"
    shown = _rendered(value, indent, unit, newline)
    return f"{text[:start]}{newline}{indent}{json.dumps(key)}: {shown}{newline}{closing}{text[end:]}"


def _without(text: str, node: Node, member: Member) -> str:
    members = node.members or ()
    at = members.index(member)
    before = members[at - 1] if at else None
    after = members[at + 1] if at + 1 < len(members) else None
    lowest = node.start + 1 if before is None else (before.comma or before.value.end) + 1
    start, end = member.key_start, member.value.end
    behind = end if member.comma is None else member.comma + 1
    has_own_comment = text[behind : node.end].lstrip(" \t").startswith("/")
    if not has_own_comment:
        start = _blank_start(text, lowest, start)
        if _ends_in_line_comment(text, lowest, start) and text[behind:].lstrip(" \t")[:1] not in ("\r", "\n"):
            start = text.index("\n", start) + 1 if "\n" in text[start : member.key_start] else start + 1
    cuts = [(start, end)]
    if member.comma is not None:
        cuts.append((member.comma, behind))
    elif before is not None and before.comma is not None:
        cuts.append((before.comma, before.comma + 1))
    if len(members) == 1 and _is_all_of(text, node, member):
        cuts = [(node.start + 1, node.end - 1)]
    elif before is None and after is not None and not _has_newline(text[start : after.key_start]):
        cuts = [(member.key_start, after.key_start)]
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def _is_all_of(text: str, node: Node, member: Member) -> bool:
    """Whether an object holds nothing but one member."""
    behind = member.value.end if member.comma is None else member.comma + 1
    between = text[member.value.end : behind - 1] if member.comma is not None else ""
    rest = text[node.start + 1 : member.key_start] + between + text[behind : node.end - 1]
    return not rest.strip(_BLANK)


def _has_comment(text: str, member: Member) -> bool:
    """Whether there is a comment between a member's name and its value."""
    return bool(COMMENT.search(text, member.key_end, member.value.start))


def _blank_start(text: str, lowest: int, place: int) -> int:
    """Where the white space before a place begins; blanks that end a comment are the comment's."""
    comments = list(COMMENT.finditer(text, lowest, place))
    lowest = comments[-1].end() if comments else lowest
    while place > lowest and text[place - 1] in _BLANK:
        place -= 1
    return place


def _line_comment_end(text: str, place: int, end: int) -> int:
    """Behind the comments that begin on the same line as what ends at a place; the place itself where none does."""
    behind = place
    while True:
        next_token = behind
        while next_token < end and text[next_token] in " \t":
            next_token += 1
        comment = COMMENT.match(text, next_token, end)
        if not comment:
            return behind
        behind = comment.end()


def _ends_in_line_comment(text: str, start: int, end: int) -> bool:
    comments = list(COMMENT.finditer(text, start, end))
    return bool(comments) and comments[-1][0].startswith("//")


def _is_flat(text: str, root: Node) -> bool:
    """Whether a file with something in it stands on one line."""
    return bool(root.members) and not _has_newline(text[root.start : root.end])


def _rendered(value: Any, indent: str, unit: str, newline: str) -> str:
    """A value with each member of its objects on a line of its own; lists stay on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    members = [f"{inner}{json.dumps(key)}: {_rendered(held, inner, unit, newline)}" for key, held in value.items()]
    return f"{{{newline}{f',{newline}'.join(members)}{newline}{indent}}}"


def _compact(text: str, root: Node, value: Any) -> str:
    """A value on one line, with blanks where the file has them."""
    blank = _blank_after_colon(text, root)
    return json.dumps(value, ensure_ascii=False, separators=("," + blank, ":" + blank))


def _colon(text: str, root: Node, key: str) -> str:
    return f"{json.dumps(key)}:{_blank_after_colon(text, root)}"


def _blank_after_colon(text: str, root: Node) -> str:
    if not root.members:
        return " "
    return " " if text[root.members[0].value.start - 1] in _BLANK else ""


def _unit(text: str, root: Node) -> str:
    """What one level of the file is indented by."""
    for member in root.members or ():
        if not text[_line_start(text, member.key_start) : member.key_start].strip(_BLANK):
            indent = _indent_of(text, member.key_start)
            outer = _indent_of(text, root.start)
            if indent.startswith(outer) and len(indent) > len(outer):
                return indent[len(outer) :]
    return _INDENT


def _line_start(text: str, place: int) -> int:
    return max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1


def _indent_of(text: str, place: int) -> str:
    """The blanks that the line of a place begins with."""
    start = _line_start(text, place)
    found = re.compile(r"[ \t]*").match(text, start, place)
    return found[0] if found else ""


def _newline(text: str) -> str:
    """How the file ends its lines."""
    found = re.search(r"\r\n|\n|\r", text)
    return found[0] if found else "\n"


def _has_newline(text: str) -> bool:
    return "\n" in text or "\r" in text
