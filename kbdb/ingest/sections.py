"""From headings to parts: cuts the text into contiguous parts with title, level, parent, path, lines and gap.

Markdown and plain text both end here; what differs is where sections start (``Start``) and which borders they have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbdb.ingest.document import Part
from kbdb.ingest.lines import BLANK, Lines
from kbdb.ingest.split import SECTION_LIMIT, Tier, cut


@dataclass(frozen=True, slots=True)
class Start:
    """Where a section starts: offset of its first line, heading level (0 for none), title (may be empty)."""

    offset: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _Place:
    level: int
    index: int
    title: str


def parts_of(
    text: str, lines: Lines, starts: Sequence[Start], title: str, tiers: Callable[[], Sequence[Tier]]
) -> tuple[str, tuple[Part, ...]]:
    """Cuts ``text`` into parts.

    Args:
        text: the whole decoded source.
        lines: its lines, from the first that may belong to a part.
        starts: the sections in order; each goes on to the next, the last to the end. None of them is blank.
        title: the document's, for sections without a title of their own.
        tiers: gives the borders at which sections past the limit are cut; called only when there is such a section.

    Returns:
        The head (what precedes the first section) and the parts.
    """
    if not starts:
        return text, ()
    parts: list[Part] = []
    above: list[_Place] = []
    ends = [start.offset for start in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=True):
        while above and above[-1].level >= max(start.level, 1):
            above.pop()
        parent = above[-1] if above else None
        own = start.title or (parent.title if parent else title)
        path = tuple(place.title for place in above)
        first = len(parts)
        for content, gap, line, line_end in _pieces(text, lines, start.offset, end, tiers):
            parts.append(Part(own, content, start.level, parent.index if parent else -1, path, line, line_end, gap))
        if start.level:
            above.append(_Place(start.level, first, own))
    return text[: starts[0].offset], tuple(parts)


def first_text(lines: Lines) -> int | None:
    """The index of the first line that is not blank, None if all are."""
    return next((index for index, line in enumerate(lines.texts) if line.strip(BLANK)), None)


def _pieces(
    text: str, lines: Lines, start: int, end: int, tiers: Callable[[], Sequence[Tier]]
) -> list[tuple[bytes, str, int, int]]:
    whole = text[start:end].rstrip(BLANK)
    last = start + len(whole)
    cuts = [start] if len(whole) <= SECTION_LIMIT else cut(text, start, last, tiers())
    pieces = []
    for begin, stop in zip(cuts, [*cuts[1:], end], strict=True):
        content = text[begin:stop].rstrip(BLANK)
        after = begin + len(content)
        pieces.append((content.encode(), text[after:stop], lines.number(begin), lines.number(after - 1)))
    return pieces
