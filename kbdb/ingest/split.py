"""Where a section past the size limit is cut: at the best border that keeps the pieces near the size that reads well.

Pieces are cut greedily from the start, so that an edit leaves the pieces before it, and their kbids, as they were.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

PIECE = 8_000
"""A piece has at most this many characters where borders allow: some 2,000 tokens, which a model reads in one recall.
Nine in ten sections of written documentation have under 1,500 characters and are never cut."""

SECTION_LIMIT = 10_000
"""A section up to this many characters stays whole, so that no piece is left with a few closing lines."""

BLOCK_LIMIT = 4 * PIECE
"""One list, table or fence up to this many characters is not torn."""

_SMALLEST = PIECE // 4
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Tier:
    """Borders of one quality, as ascending offsets; up to ``hold`` characters between two of them are not torn."""

    borders: Sequence[int]
    hold: int


def cut(text: str, start: int, end: int, tiers: Sequence[Tier]) -> list[int]:
    """The offsets at which the pieces of ``text[start:end]`` start, ``start`` first.

    Args:
        text: the whole source.
        start: offset of the section's first character.
        end: offset after its last character that is not white space.
        tiers: borders, best first. Every border is the start of a line that is not blank.
    """
    pieces = [start]
    while end - start > SECTION_LIMIT:
        start = _next_border(text, start, end, tiers)
        if start >= end:
            break
        pieces.append(start)
    return pieces


def _next_border(text: str, start: int, end: int, tiers: Sequence[Tier]) -> int:
    for tier in tiers:
        after = bisect_right(tier.borders, start + PIECE)
        if after and tier.borders[after - 1] >= start + _SMALLEST:
            return tier.borders[after - 1]
        following = min(tier.borders[after], end) if after < len(tier.borders) else end
        if following - start <= tier.hold and _is_border(tier.borders, start):
            return following
    return _inside_line(text, start, end)


def _is_border(borders: Sequence[int], offset: int) -> bool:
    place = bisect_left(borders, offset)
    return place < len(borders) and borders[place] == offset


def _inside_line(text: str, start: int, end: int) -> int:
    """A border for text whose next line is longer than any block may be: after a blank, else anywhere."""
    stop = start + PIECE
    blank = max(text.rfind(mark, start + _SMALLEST, stop) for mark in " \t\n\r")
    if blank == -1:
        return stop
    while blank < end and text[blank] in " \t\r\n":
        blank += 1
    return blank
