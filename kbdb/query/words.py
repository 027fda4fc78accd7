"""Groups the analysed tokens of a piece of query text into what a person would call words.

An identifier comes out of analysis whole and in parts, a run of Han, kana, Hangul or Thai as overlapping pairs; for
``match`` and ``verdict`` either is one word. ``resolve`` makes clauses of them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Literal, NamedTuple

Tokenise = Callable[[str], list[tuple[int, str]]]
"""Text to (position, folded surface word), as the engines do it."""

_UNSPACED_NAMES = (
    "CJK ", "HIRAGANA", "KATAKANA", "HANGUL", "THAI ", "LAO ", "KHMER", "MYANMAR", "IDEOGRAPHIC",
    "HANGZHOU", "VERTICAL KANA",
)  # fmt: skip


class Word(NamedTuple):
    """One word of the query.

    Attributes:
        text: its surface form, folded: the whole identifier, the whole run.
        kind: ``plain``; ``identifier``, with more than one part; ``run`` of a script without spaces.
        parts: surface words at consecutive positions that make it up, at least one.
        inner: surface words that are made up of some of the parts (``foo_bar`` in ``src/foo_bar.py``).
    """

    text: str
    kind: Literal["plain", "identifier", "run"]
    parts: tuple[str, ...]
    inner: tuple[str, ...] = ()


def words_of(text: str, tokenise: Tokenise) -> list[Word]:
    """The words of a text, in order."""
    tokens = tokenise(text)
    words = []
    start = 0
    while start < len(tokens):
        if start + 1 < len(tokens) and tokens[start + 1][0] == tokens[start][0]:
            word, start = _identifier(tokens, start)
        elif is_unspaced(tokens[start][1]):
            word, start = _run(tokens, start)
        else:
            surface = tokens[start][1]
            word, start = Word(surface, "plain", (surface,)), start + 1
        words.append(word)
    return words


def _identifier(tokens: list[tuple[int, str]], start: int) -> tuple[Word, int]:
    """Takes the tokens that lie inside the whole at ``start``; the last at each position is a part."""
    whole = tokens[start][1]
    parts = []
    inner = []
    cursor = 0
    end = start + 1
    while end < len(tokens) and any(char.isalnum() for char in whole[cursor:]):
        position, surface = tokens[end]
        found = whole.find(surface, cursor)
        if found < 0:
            break
        end += 1
        if end < len(tokens) and tokens[end][0] == position:
            inner.append(surface)
            continue
        parts.append(surface)
        cursor = found + (1 if is_unspaced(surface) and len(surface) > 1 else len(surface))
    return Word(whole, "identifier", tuple(parts), tuple(inner)), end


def _run(tokens: list[tuple[int, str]], start: int) -> tuple[Word, int]:
    """Takes tokens as long as each begins with what the one before ends with."""
    end = start + 1
    while end < len(tokens) and _overlap(tokens[end - 1], tokens[end]):
        end += 1
    parts = tuple(surface for _, surface in tokens[start:end])
    return Word(joined(parts), "run", parts), end


def _overlap(left: tuple[int, str], right: tuple[int, str]) -> int:
    """How many characters at the end of ``left`` are the start of ``right``, its follower; 0 when it is none."""
    if right[0] != left[0] + 1 or not is_unspaced(right[1]):
        return 0
    longest = min(len(left[1]), len(right[1])) - 1
    return next((size for size in range(longest, 0, -1) if left[1][-size:] == right[1][:size]), 0)


def joined(pairs: tuple[str, ...]) -> str:
    """The text that these overlapping pairs were cut from."""
    text = pairs[0]
    for left, right in pairwise(pairs):
        text += right[_overlap((0, left), (1, right)) :]
    return text


def is_unspaced(word: str) -> bool:
    """Whether a surface word is in a script that is written without spaces, and so was cut into pairs."""
    first = word[0]
    return (
        not first.isascii()
        and unicodedata.category(first) in ("Lo", "Lm", "Nl")
        and unicodedata.name(first, "").startswith(_UNSPACED_NAMES)
    )


def text_of(words: Iterable[Word]) -> str:
    """The surface forms of words that follow each other."""
    return " ".join([word.text for word in words])


def is_single(word: Word) -> bool:
    """Whether the word is one character of a script without spaces."""
    return word.kind == "run" and len(word.parts) == 1 and is_alone(word.text)


def is_alone(surface: str) -> bool:
    """Whether a surface word is one character and its marks."""
    return sum(unicodedata.category(char)[0] != "M" for char in surface) == 1
