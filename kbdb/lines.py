"""Ranges of lines as people and agents write them: ``12-40``, ``12-``, ``12``, and ``12:300-`` from a character on."""

from __future__ import annotations

import re
from typing import NamedTuple

from kbdb.errors import InvalidArgumentError

LINES_PATTERN = r"[1-9][0-9]{0,8}(:[1-9][0-9]{0,9})?(-([1-9][0-9]{0,8})?)?"
_LINES = re.compile(r"([1-9][0-9]{0,8})(?::([1-9][0-9]{0,9}))?(?:(-)([1-9][0-9]{0,8})?)?", re.ASCII)


class LineRange(NamedTuple):
    """Lines of a text, counted from 1.

    Attributes:
        first: the first line.
        column: the character of it to begin with, from 1.
        last: the last line; None for the text's.
    """

    first: int = 1
    column: int = 1
    last: int | None = None

    def __str__(self) -> str:
        column = f":{self.column}" if self.column > 1 else ""
        return f"{self.first}{column}-{self.last or ''}"


def line_range(text: str) -> LineRange:
    """Reads a range.

    Raises:
        InvalidArgumentError: it is none, or ends before it begins.
    """
    found = _LINES.fullmatch(text)
    if not found:
        raise InvalidArgumentError(
            f"lines is {text!r}",
            "write lines as 12-40, 12- (to the end) or 12; 12:300- begins with its 300th character",
        )
    first, column, dash, last = found.groups()
    wanted = LineRange(int(first), int(column or 1), int(last) if last else None if dash else int(first))
    if wanted.last is not None and wanted.last < wanted.first:
        raise InvalidArgumentError(f"lines {text} end before they begin", f"write {wanted.last}-{wanted.first}")
    return wanted
