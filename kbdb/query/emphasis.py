"""Finds the ``**`` that make words bold in Markdown, which would be taken for the marks of ``snippet``.

Only ``**`` around words is found: not ``__init__``, nor what may be code (``2**10``, ``src/**/*.md``, ``f(**a)``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PIECE = re.compile(r"(?P<ticks>`+)|(?P<paragraph>\n[ \t]*\r?\n)|(?P<stars>(?<![*\\])\*{2,}(?!\*))")


def emphasis_markers(text: str) -> list[tuple[int, int]]:
    """Where bold begins and ends: pairs of ``**`` or more, in one paragraph and outside of code spans; in order."""
    if "*" not in text or "**" not in text:  # one sign is sought several times faster than two
        return []
    markers: list[tuple[int, int]] = []
    opened: tuple[int, int] | None = None
    for piece in _outside_code(list(_PIECE.finditer(text))):
        if piece["paragraph"]:
            opened = None
        elif piece["stars"]:
            before, after = text[piece.start() - 1 : piece.start()], text[piece.end() : piece.end() + 1]
            if opened and _closes(before, after):
                markers += [opened, piece.span()]
                opened = None
            elif _opens(before, after):
                opened = piece.span()
    return markers


def _outside_code(pieces: list[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The pieces that no code span holds: one goes from some backticks to the next that are as many."""
    last = {len(piece["ticks"]): number for number, piece in enumerate(pieces) if piece["ticks"]}
    ticks = 0
    for number, piece in enumerate(pieces):
        found = len(piece["ticks"] or "")
        if ticks:
            ticks = 0 if found == ticks else ticks
        elif found:
            ticks = found if last[found] > number else 0
        else:
            yield piece


def without_emphasis(text: str, start: int, end: int, markers: list[tuple[int, int]]) -> str:
    """``text[start:end]`` less the markers, or what of them lies in it."""
    pieces = []
    for first, last in markers:
        if start < last and first < end:
            pieces.append(text[start : max(start, first)])
            start = min(end, last)
    return "".join(pieces) + text[start:end]


def _opens(before: str, after: str) -> bool:
    return after != "" and not (after.isspace() or after in "/.,;:)]}" or before == "/" or _is_in_word(before))


def _closes(before: str, after: str) -> bool:
    return not (before.isspace() or before in "/([{,=" or after == "/" or _is_in_word(after))


def _is_in_word(neighbour: str) -> bool:
    """Whether a letter or digit touches the outside; scripts without spaces write bold that way."""
    return neighbour.isascii() and (neighbour.isalnum() or neighbour == "_")
