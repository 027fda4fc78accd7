"""Cuts text into words by the rules of csrc/README.md section 7 (twin: csrc/analysis.c; shared: kbdb/normalise.py).

Written to be compared with the rules, not to be fast: the text becomes a list of units (a character and the marks on
it), identifiers are found in that list, and an identifier is taken apart with plain lists.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kbdb.normalise import ANALYSIS_VERSION, fold, normalise
from kbdb.reference.unicode_classes import (
    APOSTROPHE,
    COLON,
    DIGIT,
    JOINER,
    LETTER,
    LOWER,
    MARK,
    OTHER,
    PAIR,
    RANGES,
    UNDERSCORE,
    UPPER,
)

__all__ = ["ANALYSIS_VERSION", "fold", "normalise", "slices", "tokenise"]

MARKS_MAX = 15
WHOLE_CODE_POINTS_MAX = 64
CONTRACTION_LETTERS_MAX = 2
TOKEN_BYTES_MAX = 144

LETTERS = (LETTER, LOWER, UPPER)
BASES = (DIGIT, *LETTERS)
TAKES_MARKS = (*BASES, PAIR)


class Unit(NamedTuple):
    """A character and the marks that stay with it. ``script`` 0 fits every script."""

    text: str
    kind: int
    script: int


Word = list[Unit]
Token = tuple[int, str]


def tokenise(text: str) -> list[Token]:
    """The words of a text.

    Args:
        text: any string.

    Returns:
        (position, surface word) in order. Positions start at 0 and never fall; a whole identifier stands before its
        first part, at the same position.
    """
    return [(position, fold(token)) for position, token in slices(normalise(text))]


def slices(text: str) -> list[Token]:
    """The tokens of normalised text, not folded yet: (position, slice of the text)."""
    units = _units(text)
    tokens: list[Token] = []
    position = 0
    at = 0
    while at < len(units):
        if units[at].kind in BASES:
            words, joiners, at = _identifier(units, at)
            added = _identifier_tokens(words, joiners, position)
        elif units[at].kind == PAIR:
            run = units[at : _run_end(units, at)]
            at += len(run)
            added = _pair_tokens(run, position)
        else:
            at += 1
            continue
        tokens += added
        position = added[-1][0] + 1
    return tokens


def _class_table() -> tuple[bytearray, bytearray]:
    kinds, scripts = bytearray(0x110000), bytearray(0x110000)
    for first, last, kind, script in RANGES:
        kinds[first : last + 1] = bytes([kind]) * (last + 1 - first)
        scripts[first : last + 1] = bytes([script]) * (last + 1 - first)
    return kinds, scripts


_KINDS, _SCRIPTS = _class_table()


def _units(text: str) -> list[Unit]:
    """Cuts into characters with up to MARKS_MAX marks each; a mark without a base is OTHER."""
    units: list[Unit] = []
    at = 0
    while at < len(text):
        end = at + 1
        if _KINDS[ord(text[at])] in TAKES_MARKS:
            while end < len(text) and end - at <= MARKS_MAX and _KINDS[ord(text[end])] == MARK:
                end += 1
        units.append(_unit(text[at:end]))
        at = end
    return units


@lru_cache(maxsize=1 << 16)
def _unit(text: str) -> Unit:
    kind = _KINDS[ord(text[0])]
    return Unit(text, OTHER if kind == MARK else kind, _SCRIPTS[ord(text[0])])


def _kind(units: list[Unit], at: int) -> int:
    return units[at].kind if at < len(units) else OTHER


def _run_end(units: list[Unit], start: int) -> int:
    """The end of the pair run at ``start``."""
    at = start
    while _kind(units, at) == PAIR and units[at].script == units[start].script:
        at += 1
    return at


def _pair_tokens(run: list[Unit], position: int) -> list[Token]:
    if len(run) == 1:
        return [(position, run[0].text)]
    return [(position + i, run[i].text + run[i + 1].text) for i in range(len(run) - 1)]


def _identifier(units: list[Unit], at: int) -> tuple[list[Word], list[Word], int]:
    """The words of the identifier at ``at``, the joiners between them, and where it ends."""
    end = _word_end(units, at)
    words, joiners = [units[at:end]], []
    while (after := _joiner_end(units, end)) is not None:
        joiners.append(units[end:after])
        end = _word_end(units, after)
        words.append(units[after:end])
    return words, joiners, end


def _word_end(units: list[Unit], start: int) -> int:
    """A word goes on as long as there are letters and digits of one script, and contractions."""
    at = start
    script = 0
    while True:
        if _kind(units, at) in BASES and _fits(script, units[at].script):
            script = script or units[at].script
            at += 1
        elif at > start and (after := _contraction_end(units, at, script)) is not None:
            at = after
        else:
            return at


def _fits(script: int, other: int) -> bool:
    return script == 0 or other == 0 or script == other


def _contraction_end(units: list[Unit], apostrophe: int, script: int) -> int | None:
    """Where a contraction at ``apostrophe`` ends: a letter before it, one or two behind, then no letter or digit."""
    if _kind(units, apostrophe) != APOSTROPHE or _kind(units, apostrophe - 1) not in LETTERS:
        return None
    at = apostrophe + 1
    while _kind(units, at) in LETTERS:
        if not _fits(script, units[at].script):
            return None
        script = script or units[at].script
        at += 1
    letters = at - apostrophe - 1
    return at if 1 <= letters <= CONTRACTION_LETTERS_MAX and _kind(units, at) != DIGIT else None


def _joiner_end(units: list[Unit], start: int) -> int | None:
    """Where the joiner at ``start`` ends, None when there is none or no word follows."""
    at = start
    while _kind(units, at) == UNDERSCORE:
        at += 1
    if _kind(units, at) == APOSTROPHE and at == start:
        at += 1
    else:
        if _kind(units, at) == JOINER:
            at += 1
        elif _kind(units, at) == COLON:
            at += 2 if _kind(units, at + 1) == COLON else 1
        while _kind(units, at) == UNDERSCORE:
            at += 1
    return at if at > start and _kind(units, at) in BASES else None


def _identifier_tokens(words: list[Word], joiners: list[Word], position: int) -> list[Token]:
    tokens: list[Token] = []
    if len(words) > 1:
        whole = words[0] + [unit for joiner, word in zip(joiners, words[1:], strict=True) for unit in joiner + word]
        if _may_be_whole(_text(whole)):
            tokens.append((position, _text(whole)))
    for word in words:
        parts = _pieces(word) if _size(_text(word)) > TOKEN_BYTES_MAX else _parts(word)
        if len(parts) > 1 and _may_be_whole(_text(word)):
            tokens.append((position, _text(word)))
        tokens += [(position + i, _text(part)) for i, part in enumerate(parts)]
        position += len(parts)
    return tokens


def _may_be_whole(text: str) -> bool:
    return len(text) <= WHOLE_CODE_POINTS_MAX and _size(text) <= TOKEN_BYTES_MAX


def _text(units: list[Unit]) -> str:
    return "".join(unit.text for unit in units)


def _size(text: str) -> int:
    return len(text.encode("utf-8"))


def _pieces(word: Word) -> list[Word]:
    """Cuts a word that is too long for a token: each piece as many units as fit."""
    pieces: list[Word] = [[]]
    for unit in word:
        if _size(_text(pieces[-1]) + unit.text) > TOKEN_BYTES_MAX:
            pieces.append([])
        pieces[-1].append(unit)
    return pieces


def _parts(word: Word) -> list[Word]:
    """Cuts a word before each capital that starts a part."""
    parts: list[Word] = [[word[0]]]
    for i in range(1, len(word)):
        if _starts_part(word, i):
            parts.append([])
        parts[-1].append(word[i])
    return parts


def _starts_part(word: Word, i: int) -> bool:
    """Whether a capital stands at ``i`` after a small letter, or after a capital or digit and before a small letter.

    A small s with no small letter behind it is a plural and starts nothing: HTTP|Server, utf8|Decode, but APIs,
    URLs|For. A contraction is not cut.
    """
    before = word[i - 1].kind
    if word[i].kind != UPPER or (i > 1 and word[i - 2].kind == APOSTROPHE):
        return False
    if before == LOWER:
        return True
    if before not in (UPPER, DIGIT) or _kind(word, i + 1) != LOWER:
        return False
    return word[i + 1].text[0] != "s" or _kind(word, i + 2) == LOWER
