"""Finds where text may be cut: never inside what a reader sees as one character (Unicode grapheme clusters, UAX 29).

``regex`` does the segmenting. It is slow to import and only needed near characters that are not ASCII, so it is
imported there, and only the neighbourhood of a cut is segmented.
"""

from __future__ import annotations

import unicodedata

_PLAIN = frozenset(("Lu", "Ll", "Nd", "Zs", "Po"))
"""Categories without characters that join what stands before or after them."""

_SARA_AM = "\u0e33\u0eb3"
"""The two letters that join the one before them, as marks do."""


def boundaries_around(text: str, position: int) -> tuple[int, int]:
    """The last place to cut at or before a position, and the first at or after it.

    Args:
        text: any string.
        position: from 0 to its length.
    """
    if position <= 0 or position >= len(text) or _is_cut(text[position - 1], text[position]):
        return position, position
    anchor = position - 1
    while anchor > 0 and text[anchor - 1] != "\n" and not _is_cut(text[anchor - 1], text[anchor]):
        anchor -= 1
    import regex

    before = anchor
    for cluster in regex.finditer(r"\X", text, pos=anchor):
        if cluster.end() >= position:
            return (position, position) if cluster.end() == position else (before, cluster.end())
        before = cluster.end()
    return len(text), len(text)


def _is_cut(left: str, right: str) -> bool:
    """Whether two neighbours surely are parts of two characters, whatever stands around them."""
    if left.isascii() and right.isascii():
        return left != "\r" or right != "\n"
    if not (left.isascii() or unicodedata.category(left) in _PLAIN or _is_unjoined(left)):
        return False
    category = unicodedata.category(right)
    return category in _PLAIN or (category == "Lo" and right not in _SARA_AM and not _is_jamo(right))


def _is_unjoined(char: str) -> bool:
    """Whether it is a letter of Thai, Lao, kana, Han or Hangul syllables: no letter there joins what follows it."""
    in_range = "\u0e01" <= char <= "\u0eff" or "\u3041" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"
    return in_range and unicodedata.category(char) == "Lo"


def _is_jamo(char: str) -> bool:
    return "\u1100" <= char <= "\u11ff" or "\ua960" <= char <= "\ua97f" or "\ud7b0" <= char <= "\ud7ff"
