"""Chooses the passage of a section that shows best why it was found, and marks what matched in it.

``highlight`` says where terms stand, ``kbdb.graphemes`` and ``kbdb.sentences`` where text may be cut, ``emphasis`` what
looks like a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kbdb.graphemes import boundaries_around
from kbdb.query.emphasis import emphasis_markers, without_emphasis
from kbdb.query.highlight import Matcher, Span
from kbdb.sentences import last_break, sentence_ends

WIDTH = 220
"""Characters of a passage: two or three lines of a terminal, some 50 tokens for an agent."""

MARKS = ("**", "**")
ELLIPSIS = "\u2026"

_SPACE = re.compile(r"\s+")
_OPENING_NOISE = re.compile(r"(?:(?:#{1,6}|[-*+>|]|\d{1,3}[.)]|`{3,}\S*|~{3,}\S*)\s+)+")


class Snippet(NamedTuple):
    """A passage of a section.

    Attributes:
        text: the passage on one line without the ``**`` of its own, matched terms between marks, an ellipsis where the
            section goes on.
        start, end: where it stands in the section's text.
        telling: where its most telling match starts; its own start without a match.
    """

    text: str
    start: int
    end: int
    telling: int


def make_snippet(
    text: str, matcher: Matcher, *, start: int = 0, width: int = WIDTH, marks: tuple[str, str] = MARKS
) -> Snippet:
    """Makes the snippet of a section.

    Args:
        text: the section's content.
        matcher: of the query.
        start: where the body begins, past the heading, which is shown as the title anyway.
        width: characters of the text that the passage may have; a longer match is shown all the same.
        marks: put before and after what matched; without white space.
    """
    spans = matcher.spans(text[start:] if start else text)
    if start:
        spans = [Span(first + start, last + start, clause) for first, last, clause in spans]
    core = _best(spans, matcher.worth, width)
    if core is None:
        first = last = telling = start + len(text[start:]) - len(text[start:].lstrip())
    else:
        first, last, telling = core
    # Every place may be cut at where each character is one for the reader.
    plain = text.isascii() and "\r" not in text
    first, last = _widen(text, first, last, start, width, plain=plain)
    intervals = _intervals(text, spans, first, last, plain=plain)
    passage = _render(text, first, last, intervals, marks)
    left_out, rest = text[start:first].lstrip(), text[last:]
    noise = left_out and not left_out[0].isalpha() and _OPENING_NOISE.fullmatch(left_out)
    before = ELLIPSIS if left_out and not noise else ""
    after = ELLIPSIS if rest and not rest.isspace() else ""
    return Snippet(f"{before}{passage}{after}", first, last, telling if core else first)


def line_of(text: str, offset: int) -> int:
    """The line, from 1, in which an offset lies; lines end in LF, CR or both."""
    return text.count("\n", 0, offset) + text.count("\r", 0, offset) - text.count("\r\n", 0, offset) + 1


def _best(spans: Sequence[Span], worth: Sequence[int], width: int) -> tuple[int, int, int] | None:
    """The earliest window whose distinct clauses are worth most.

    Returns:
        Where its first match starts, its last one ends and its most telling one starts; None without spans.
    """
    if len(spans) < 2:
        return (spans[0].start, spans[0].end, spans[0].start) if spans else None
    counts = [0] * len(worth)
    total = best_total = right = 0
    best = None
    for left, (start, _, clause) in enumerate(spans):
        right = right if right > left else left
        while right < len(spans) and (spans[right][1] - start <= width or right == left):
            entering = spans[right][2]
            total += 0 if counts[entering] else worth[entering]
            counts[entering] += 1
            right += 1
        if total > best_total:
            best, best_total = (left, right), total
        counts[clause] -= 1
        total -= 0 if counts[clause] else worth[clause]
    if best is None:
        return None
    window = spans[best[0] : best[1]]
    telling = max([(worth[clause], -start) for start, _, clause in window])
    return window[0].start, max([end for _, end, _ in window]), -telling[1]


def _widen(text: str, first: int, last: int, lowest: int, width: int, *, plain: bool) -> tuple[int, int]:
    """Grows a window to about ``width`` characters, to where sentences, lines, words or at least graphemes end."""
    room = max(0, width - (last - first))
    start = _start(text, first, lowest, room)
    size = len(text)
    highest = start + width if start + width > last else last
    end = _end(text, last, highest if highest < size else size)
    if end == size and end - start < width:
        earliest = max(lowest, end - width)
        starts = _sentences(text, earliest, start, lowest)
        start = starts[0] if starts else _word_start(text, earliest, start)
    if not plain:
        start = _cut(text, start, lowest, first, later=True)
        end = _cut(text, end, last, len(text), later=False)
    if start < first and not text[start].isalpha():
        noise = _OPENING_NOISE.match(text, start, first)
        start = noise.end() if noise else start
    while start < first and text[start].isspace():
        start += 1
    while end > max(last, start) and text[end - 1].isspace():
        end -= 1
    if plain:
        return start, end
    return boundaries_around(text, start)[0], boundaries_around(text, end)[1]


def _start(text: str, first: int, lowest: int, room: int) -> int:
    """The best place to start before ``first``: the last sentence's or line's, else a word's near it."""
    earliest = max(lowest, first - room)
    between = last_break(text, earliest, first)
    if between is not None:
        return between[1]
    return lowest if earliest == lowest else _word_start(text, max(lowest, first - room // 3), first)


def _sentences(text: str, lowest: int, highest: int, first: int) -> list[int]:
    """Where sentences and lines begin from ``lowest`` to ``highest``; the text's own beginning is at ``first``."""
    starts = [found.end() for found in sentence_ends(text, lowest, highest)]
    return [first, *starts] if lowest == first else starts


def _word_start(text: str, lowest: int, highest: int) -> int:
    """Where the first word begins from ``lowest`` to ``highest``; ``lowest`` when none does."""
    if lowest == 0 or text[lowest - 1].isspace():
        return lowest
    space = _SPACE.search(text, lowest, highest)
    return space.end() if space else lowest


def _end(text: str, last: int, highest: int) -> int:
    """The best place to end from ``last`` to ``highest``: a sentence's in the last third, else a word's."""
    if highest == len(text) or text[highest].isspace():
        return highest
    lowest = highest - (highest - last) // 3
    between = last_break(text, _space_start(text, last, lowest), highest)
    if between is not None and between[0] >= lowest:
        return between[0]
    space = highest
    while space > last and not text[space - 1].isspace():
        space -= 1
    return _space_start(text, last, space - 1) if space > last else highest


def _space_start(text: str, lowest: int, position: int) -> int:
    """Where the white space begins in which a position lies, if not before ``lowest``; elsewhere the position."""
    while position > lowest and text[position].isspace() and text[position - 1].isspace():
        position -= 1
    return position


def _cut(text: str, position: int, lowest: int, highest: int, *, later: bool) -> int:
    """Moves a position to where text may be cut, in the wanted direction when that stays within bounds."""
    before, after = boundaries_around(text, position)
    if later:
        return after if after <= highest else before
    return before if before >= lowest else after


def _intervals(text: str, spans: Iterable[Span], first: int, last: int, *, plain: bool) -> list[tuple[int, int]]:
    """What to mark within a window: spans on whole graphemes, joined where at most one joining sign lies between."""
    intervals: list[tuple[int, int]] = []
    for start, end, _ in spans:
        if end <= first:
            continue
        if start >= last:
            break
        if not plain:
            start, end = boundaries_around(text, start)[0], boundaries_around(text, end)[1]
        start = start if start > first else first
        end = end if end < last else last
        if start >= end:
            continue
        if intervals and (start <= intervals[-1][1] or _is_joiner(text[intervals[-1][1] : start])):
            intervals[-1] = (intervals[-1][0], max(end, intervals[-1][1]))
        else:
            intervals.append((start, end))
    return intervals


def _is_joiner(between: str) -> bool:
    return between in ("_", "-", ".", "/", "::", "@")


def _render(text: str, first: int, last: int, intervals: Iterable[tuple[int, int]], marks: tuple[str, str]) -> str:
    """The passage on one line, without the emphasis of its own."""
    markers = emphasis_markers(text)
    opening, closing = marks
    passage = ""
    cursor = first
    for start, end in intervals:
        if markers:
            passage += f"{_piece(text, cursor, start, markers)}{opening}{_piece(text, start, end, markers)}{closing}"
        else:
            passage += f"{text[cursor:start]}{opening}{text[start:end]}{closing}"
        cursor = end
    passage += _piece(text, cursor, last, markers)
    return passage.strip() if passage.isprintable() and "  " not in passage else " ".join(passage.split())


def _piece(text: str, start: int, end: int, markers: list[tuple[int, int]]) -> str:
    return without_emphasis(text, start, end, markers) if markers else text[start:end]
