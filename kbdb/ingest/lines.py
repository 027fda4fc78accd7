"""Text cut into lines the way every parser here counts them: only ``\\n``, ``\\r\\n`` and a lone ``\\r`` end a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

BLANK = " \t\r\n"
"""White space that may stand in a gap. Form feeds, no-break spaces and the like are content."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a text.

    Attributes:
        texts: each line without its end.
        starts: offset of each line in the whole text, then the offset of the text's end.
        before: number of lines that precede the first.
    """

    texts: list[str]
    starts: list[int]
    before: int

    def number(self, offset: int) -> int:
        """The line, counted from 1 over the whole text, that holds the character at ``offset``."""
        return bisect_right(self.starts, offset) + self.before


def split_lines(text: str, start: int = 0) -> Lines:
    """Cuts ``text[start:]`` into lines; ``start`` must be the start of a line (or follow a byte-order mark)."""
    body = text[start:] if start else text
    if "\r" not in body:
        texts = body.split("\n")
        if not texts[-1]:
            texts.pop()
        starts = list(accumulate((len(line) + 1 for line in texts), initial=start))
        starts[-1] = len(text)
    else:
        whole = _LINE.findall(body)
        starts = list(accumulate((len(line) for line in whole), initial=start))
        texts = [line.rstrip("\r\n") for line in whole]
    return Lines(texts, starts, line_ends(text[:start]))


def line_ends(text: str) -> int:
    """How many lines end in the text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")
