"""Where sentences and lines end in a text: full stops before white space, line ends, and the full stops of CJK."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"\s(?:(?<=[.!?]\s)\s*|(?<=[\r\n])\s*|\s*[\r\n]\s*)")
"""White space after a full stop, or with a line end in it. Begins with what is sought, which makes it fast."""

_CJK_STOP = re.compile("[\u3002\uff01\uff1f]")
_END_CJK = re.compile(rf"(?<={_CJK_STOP.pattern})|{_END.pattern}")


def last_break(text: str, lowest: int, highest: int) -> tuple[int, int] | None:
    """Start and end of the last white space between two sentences from ``lowest`` to ``highest``; None without one.

    Looks for signs from the end, because most are near it, and a search for the pattern begins at the start.
    """
    before = lowest - 1 if lowest else 0
    if not text.isascii() and _CJK_STOP.search(text, before, highest):
        breaks = [found.span() for found in _END_CJK.finditer(text, lowest, highest)]
        return breaks[-1] if breaks else None
    place = text.rfind("\n", lowest, highest)
    place = max(place, text.rfind("\r", lowest if place < 0 else place, highest))
    # What stands before the last one found is not looked at any more.
    for sign in ".!?":
        found = text.rfind(sign, before if place < before else place, highest - 1 if highest else 0)
        while found > place and not text[found + 1].isspace():
            found = text.rfind(sign, before, found)
        place = found if found > place else place
    if place < 0:
        return None
    start = end = place + 1
    while end < highest and text[end].isspace():
        end += 1
    while start > lowest and text[start - 1].isspace():
        start -= 1
    return start, end


def sentence_ends(text: str, lowest: int, highest: int) -> Iterator[re.Match[str]]:
    """All of them, in order."""
    cjk = not text.isascii() and _CJK_STOP.search(text, max(0, lowest - 1), highest)
    return (_END_CJK if cjk else _END).finditer(text, lowest, highest)
