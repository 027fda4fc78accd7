"""Cuts lines out of a content, so that a long one need not be sent whole. Lines end in LF, CR or both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from kbdb.errors import InvalidArgumentError
from kbdb.graphemes import boundaries_around
from kbdb.ingest.media import is_text
from kbdb.lines import LineRange
from kbdb.model.read import Excerpt

_LINE_END = re.compile(rb"\r\n|\r|\n")
_LINE_FEED = re.compile(rb"\n")


def cut(content: bytes, type: str, lines: LineRange | None, max_bytes: int | None) -> tuple[bytes, Excerpt]:
    """The bytes of a range of lines, and where they stand.

    Args:
        content: of a section or a document.
        type: its media type. What is no text has no lines: nothing of it is given.
        lines: all without it.
        max_bytes: at most so many of the range: as many whole lines as fit, or the beginning of the first.

    Raises:
        InvalidArgumentError: lines of what has none, or that are not there.
    """
    if max_bytes is not None and max_bytes < 1:
        raise InvalidArgumentError(f"max_bytes is {max_bytes}", "use a positive number")
    if not is_text(type):
        if lines is not None:
            raise InvalidArgumentError(f"{type} has no lines", "leave lines out")
        return b"", Excerpt(0, 1, 0, 0, "", len(content))
    wanted = lines or LineRange()
    total = _count(content)
    if wanted.first > max(total, 1):
        raise InvalidArgumentError(
            f"line {wanted.first} is asked for of {total}", f"use lines 1-{total}" if total else "it is empty"
        )
    start = _skip_characters(content, _start_of(content, wanted.first), wanted)
    end = len(content) if wanted.last is None else _start_of(content, wanted.last + 1)
    stop = end if max_bytes is None or end - start <= max_bytes else _stop(content, start, start + max_bytes)
    piece = content[start:stop]
    last = wanted.first + _ends(piece)
    begins_line = not piece or piece[-1:] in (b"\n", b"\r")
    following = ""
    if stop < end:
        column = 1 if begins_line else len(_last_line(piece).decode()) + (wanted.column if last == wanted.first else 1)
        following = str(LineRange(last, column, wanted.last))
    elif end < len(content):
        following = str(LineRange(last))
    return piece, Excerpt(
        first=wanted.first,
        column=wanted.column,
        last=last - 1 if begins_line else last,
        total=total,
        next=following,
        bytes=len(content),
    )


def _line_ends(content: bytes, start: int = 0) -> Iterator[re.Match[bytes]]:
    return (_LINE_END if b"\r" in content else _LINE_FEED).finditer(content, start)


def _ends(content: bytes) -> int:
    """How many lines end in it."""
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")


def _count(content: bytes) -> int:
    """How many lines it has."""
    return _ends(content) + (1 if content and content[-1:] not in (b"\n", b"\r") else 0)


def _start_of(content: bytes, line: int) -> int:
    """Where a line begins; the content's end where there is no such line."""
    if line == 1:
        return 0
    found = next(islice(_line_ends(content), line - 2, None), None)
    return len(content) if found is None else found.end()


def _skip_characters(content: bytes, start: int, wanted: LineRange) -> int:
    if wanted.column == 1:
        return start
    end = next((found.start() for found in _line_ends(content, start)), len(content))
    line = content[start:end].decode()
    if wanted.column > len(line) + 1:
        raise InvalidArgumentError(
            f"character {wanted.column} of line {wanted.first} is asked for, which has {len(line)}",
            f"use lines {wanted.first}-",
        )
    return start + len(line[: wanted.column - 1].encode())


def _stop(content: bytes, start: int, highest: int) -> int:
    """Where to stop at the latest at ``highest``: after a line, else between two characters, and after one at least."""
    line_feed, carriage_return = content.rfind(b"\n", start, highest), content.rfind(b"\r", start, highest)
    last = max(line_feed, carriage_return)
    if last == highest - 1 and last == carriage_return and content[highest : highest + 1] == b"\n":
        # The two end one line together, and the second does not fit.
        last = max(content.rfind(b"\n", start, last), content.rfind(b"\r", start, last))
    if last >= 0:
        return last + 1
    text = content[start : highest + 64].decode(errors="ignore")
    fits = len(content[start:highest].decode(errors="ignore"))
    before = boundaries_around(text, fits)[0]
    return start + len(text[: before or boundaries_around(text, 1)[1]].encode())


def _last_line(piece: bytes) -> bytes:
    return piece[max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1 :]
