"""A folded copy of a text, in which surface words can be searched, and the way back to the text as it is.

Most characters fold to one character each. Where they do not (ligatures, invisible characters, letters with
separate accents) a break is noted, so that the cost beside copying depends on the number of such places alone.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import lru_cache
from string import ascii_uppercase
from typing import NamedTuple

from kbdb.normalise import fold, normalise

_HALFWIDTH_VOICING = "\uff9e\uff9f"
"""Letters that become marks by NFKC, and then join the kana before them."""

_GROWS_IN_LOWER_CASE = "\u0130"
"""The one character whose lower case is longer."""


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")

_FEW = 24
"""So many characters are replaced faster one after the other than by one translation."""


class FoldedText(NamedTuple):
    """Folded text with its breaks: at ``positions[k]`` begins what stands at ``offsets[k]`` of the original."""

    text: str
    positions: tuple[int, ...]
    offsets: tuple[int, ...]

    def offset(self, position: int) -> int:
        """Where in the original a position of the folded text comes from."""
        if not self.positions:
            return position
        number = bisect_right(self.positions, position) - 1
        offset = self.offsets[number] + position - self.positions[number]
        return min(offset, self.offsets[number + 1] - 1) if number + 1 < len(self.offsets) else offset

    def position(self, offset: int) -> int:
        """Where in the folded text an offset of the original went; inside of what became one piece, the end of that."""
        if not self.positions:
            return offset
        number = bisect_left(self.offsets, offset + 1) - 1
        position = self.positions[number] + offset - self.offsets[number]
        return min(position, self.positions[number + 1]) if number + 1 < len(self.positions) else position


def fold_text(text: str) -> FoldedText:
    """Folds a text as the analysis folds words (``kbdb.normalise``)."""
    if text.isascii():
        return FoldedText(text.lower(), (), ())
    lowered = text if _GROWS_IN_LOWER_CASE in text else text.lower()
    distinct = set("".join(_NOT_ASCII.findall(lowered)))
    forms = {char: _fold(char) for char in distinct}
    odd = {char for char, form in forms.items() if len(form) != 1}
    joining = _joining(lowered, distinct)
    changed = {char: form for char, form in forms.items() if form != char and len(form) == 1 and char not in joining}
    if lowered is text:
        changed |= {char: char.lower() for char in ascii_uppercase}
    plain = _replace(lowered, changed)
    if not odd and not joining:
        return FoldedText(plain, (), ())
    return _with_breaks(plain, odd, joining)


def _replace(text: str, changed: Mapping[str, str]) -> str:
    if len(changed) > _FEW:
        return text.translate({ord(char): form for char, form in changed.items()})
    for char, form in changed.items():
        text = text.replace(char, form)
    return text


def _joining(text: str, distinct: set[str]) -> set[str]:
    """The characters that may become one with what stands before them."""
    voicing = distinct.intersection(_HALFWIDTH_VOICING)
    if unicodedata.is_normalized("NFC", text):
        return voicing
    marks = {char for char in distinct if unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"}
    return marks | voicing


def _with_breaks(text: str, odd: set[str], joining: set[str]) -> FoldedText:
    """Folds the pieces that do not fold character by character, and notes where they start and end."""
    alone = "".join(map(re.escape, sorted(odd - joining)))
    joined = "".join(map(re.escape, sorted(joining)))
    patterns = ([f"[^{joined}]?[{joined}]+"] if joined else []) + ([f"[{alone}]"] if alone else [])
    folded = []
    positions, offsets = [0], [0]
    length = done = 0
    for piece in re.finditer("|".join(patterns), text, re.DOTALL):
        form = _fold(piece[0])
        folded += [text[done : piece.start()], form]
        length += piece.start() - done
        positions += [length, length + len(form)]
        offsets += [piece.start(), piece.end()]
        length += len(form)
        done = piece.end()
    folded.append(text[done:])
    return FoldedText("".join(folded), tuple(positions), tuple(offsets))


@lru_cache(maxsize=8192)
def _fold(piece: str) -> str:
    return fold(normalise(piece))
