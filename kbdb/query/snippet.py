"""Chooses the passage of a section that shows best why it was found, and marks what matched in it.

``highlight`` says where terms stand, ``graphemes`` where text may be cut, ``emphasis`` what looks like a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kbdb.query.emphasis import emphasis_markers, without_emphasis
from kbdb.query.graphemes import boundaries_around
from kbdb.query.highlight import Matcher, Span

WIDTH = 220
"""Characters of a passage: two or three lines of a terminal, some 50 tokens for an agent."""

MARKS = ("**", "**")
ELLIPSIS = "\u2026"

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\s*[\r\n]\s*")
_SPACE = re.compile(r"\s+")
_OPENING_NOISE = re.compile(r"(?:(?:#{1,6}|[-*+>|]|\d{1,3}[.)]|`{3,}\S*|~{3,}\S*)\s+)+")
_WEIGHT_SCALE = 1_000_000


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage of a section.

    Attributes:
        text: the passage on one line without the ``**`` of its own, matched terms between marks, an ellipsis where the
            section goes on.
        start, end: where it stands in the section's text.
        line: line of the section's text, from 1, where its most telling match stands; of its start without a match.
    """

    text: str
    start: int
    end: int
    line: int


def make_snippet(
    text: str, matcher: Matcher, *, start: int = 0, width: int = WIDTH, marks: tuple[str, str] = MARKS
) -> Snippet:
    """Makes the snippet of a section.

    Args:
        text: the section's content.
        matcher: of the query.
        start: where the body begins, past the heading, which is shown as the title anyway.
        width: characters of the text that the passage may have; a longer match is shown all the same.
        marks: put before and after what matched.
    """
    spans = [_moved(span, start) for span in matcher.spans(text[start:]) if span.start < span.end]
    core = _best(spans, matcher.values, width)
    if core is None:
        first = last = telling = start + len(text[start:]) - len(text[start:].lstrip())
    else:
        first, last, telling = core
    first, last = _widen(text, first, last, start, width)
    intervals = _intervals(text, spans, first, last)
    passage = _render(text, first, last, intervals, marks)
    left_out = text[start:first].lstrip()
    before = ELLIPSIS if left_out and not _OPENING_NOISE.fullmatch(left_out) else ""
    after = ELLIPSIS if text[last:].strip() else ""
    return Snippet(f"{before}{passage}{after}", first, last, line_of(text, telling if core else first))


def line_of(text: str, offset: int) -> int:
    """The line, from 1, in which an offset lies; lines end in LF, CR or both."""
    return text.count("\n", 0, offset) + text.count("\r", 0, offset) - text.count("\r\n", 0, offset) + 1


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by, span.clause) if by else span


def _best(spans: Sequence[Span], values: Sequence[float], width: int) -> tuple[int, int, int] | None:
    """The earliest window whose distinct clauses are worth most.

    Returns:
        Where its first match starts, its last one ends and its most telling one starts; None without spans.
    """
    worth = [round(value * _WEIGHT_SCALE) + 1 for value in values]
    counts = [0] * len(values)
    total = best_total = right = 0
    best = None
    for left, span in enumerate(spans):
        right = max(right, left)
        while right < len(spans) and (spans[right].end - span.start <= width or right == left):
            counts[spans[right].clause] += 1
            total += worth[spans[right].clause] if counts[spans[right].clause] == 1 else 0
            right += 1
        if total > best_total:
            best, best_total = (left, right), total
        counts[span.clause] -= 1
        total -= 0 if counts[span.clause] else worth[span.clause]
    if best is None:
        return None
    window = spans[best[0] : best[1]]
    telling = max(window, key=lambda span: (worth[span.clause], -span.start))
    return window[0].start, max(span.end for span in window), telling.start


def _widen(text: str, first: int, last: int, lowest: int, width: int) -> tuple[int, int]:
    """Grows a window to about ``width`` characters, to where sentences, lines, words or at least graphemes end."""
    room = max(0, width - (last - first))
    near = max(lowest, first - room // 3)
    starts = _sentences(text, max(lowest, first - room), first, lowest)
    start = starts[-1] if starts else _word_start(text, near, first)
    end = _end(text, last, min(len(text), max(last, start + width)))
    if end == len(text) and end - start < width:
        earliest = max(lowest, end - width)
        starts = _sentences(text, earliest, start, lowest)
        start = starts[0] if starts else _word_start(text, earliest, start)
    start = _cut(text, start, lowest, first, later=True)
    end = _cut(text, end, last, len(text), later=False)
    noise = _OPENING_NOISE.match(text, start, max(start, first))
    if noise:
        start = noise.end()
    while start < first and text[start].isspace():
        start += 1
    while end > max(last, start) and text[end - 1].isspace():
        end -= 1
    return boundaries_around(text, start)[0], boundaries_around(text, end)[1]


def _sentences(text: str, lowest: int, highest: int, first: int) -> list[int]:
    """Where sentences and lines begin from ``lowest`` to ``highest``; the text's own beginning is at ``first``."""
    starts = [found.end() for found in _SENTENCE_END.finditer(text, lowest, highest)]
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
    sentences = [found.start() for found in _SENTENCE_END.finditer(text, last, highest)]
    if sentences and sentences[-1] >= highest - (highest - last) // 3:
        return sentences[-1]
    spaces = [found.start() for found in _SPACE.finditer(text, last, highest)]
    return spaces[-1] if spaces else highest


def _cut(text: str, position: int, lowest: int, highest: int, *, later: bool) -> int:
    """Moves a position to where text may be cut, in the wanted direction when that stays within bounds."""
    before, after = boundaries_around(text, position)
    if later:
        return after if after <= highest else before
    return before if before >= lowest else after


def _intervals(text: str, spans: Iterable[Span], first: int, last: int) -> list[tuple[int, int]]:
    """What to mark within a window: spans on whole graphemes, joined where at most one joining sign lies between."""
    intervals: list[tuple[int, int]] = []
    for span in spans:
        start = max(first, boundaries_around(text, span.start)[0])
        end = min(last, boundaries_around(text, span.end)[1])
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
    markers = emphasis_markers(text)
    pieces = []
    cursor = first
    for start, end in intervals:
        before, matched = (without_emphasis(text, *part, markers) for part in ((cursor, start), (start, end)))
        pieces += [_collapse(before), marks[0], _collapse(matched), marks[1]]
        cursor = end
    pieces.append(_collapse(without_emphasis(text, cursor, last, markers)))
    return "".join(pieces).strip()


def _collapse(text: str) -> str:
    return _SPACE.sub(" ", text)
