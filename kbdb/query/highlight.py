"""Finds where in a section's text the query's terms stand, as offsets into the text as it is.

``snippet`` chooses and marks a passage by it. The engine's analysis gives words without offsets and changes case and
form, so words are found again in a folded copy of the text whose characters are traced back to the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from kbdb.query.folding import FoldedText, fold_text
from kbdb.query.resolved import Resolved
from kbdb.query.words import Tokenise, is_alone, is_unspaced

_UNSPACED = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ec0-\u0ec6\u1000-\u102a\u1780-\u17b3"
    "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff66-\uff9d\U00020000-\U0003134a]+"
)
"""Letters of scripts without spaces, or nearly all: they are looked for as they are, and analysis need not see them."""


class Span(NamedTuple):
    """A place where a clause of the plan matches: ``text[start:end]``."""

    start: int
    end: int
    clause: int


class _Found(NamedTuple):
    """A word of the text whose stem is wanted; ``part`` is false for an identifier, whose parts are found as well."""

    start: int
    end: int
    stem: str
    part: bool


class Matcher:
    """Finds one query's terms in texts. Remembers words and chunks it has met; use one for all hits of a search."""

    def __init__(self, resolved: Resolved, tokenise: Tokenise, stem: Callable[[list[str]], list[str]]) -> None:
        """Prepares for a query.

        Args:
            resolved: the query.
            tokenise: the engine's analysis.
            stem: distinct surface words to their stems, as at indexing.
        """
        self.values = [note.value for note in resolved.notes]
        self._tokenise = tokenise
        self._stem = stem
        self._single: dict[str, list[int]] = defaultdict(list)
        self._phrases: list[tuple[tuple[str, ...], int]] = []
        self._characters: list[tuple[str, int]] = []
        for number, (clause, note) in enumerate(zip(resolved.plan.clauses, resolved.notes, strict=True)):
            if clause.kind == "must_not":
                continue
            if note.part:
                self._characters.append((note.part, number))
                continue
            for alternative in clause.alternatives:
                if len(alternative.stems) == 1:
                    self._single[alternative.stems[0]].append(number)
                else:
                    self._phrases.append((alternative.stems, number))
        wanted = self._single.keys() | {stem for stems, _ in self._phrases for stem in stems}
        self._pairs = sorted(stem for stem in wanted if is_unspaced(stem))
        self._wanted = wanted.difference(self._pairs)
        self._stems: dict[str, str | None] = {}
        self._chunks: dict[str, list[tuple[int, int, str, bool]]] = {}

    def spans(self, text: str) -> list[Span]:
        """All places where a clause matches in a text, by start, end, clause. They may overlap."""
        folded = fold_text(text)
        found = self._found(text, folded)
        for pair in self._pairs:
            found += [_Found(start, start + len(pair), pair, True) for start in _pair_places(pair, folded.text)]
        found.sort()
        spans = {Span(one.start, one.end, clause) for one in found for clause in self._single.get(one.stem, ())}
        parts = [one for one in found if one.part]
        for stems, clause in self._phrases:
            spans.update(Span(start, end, clause) for start, end in _phrases(parts, stems, folded.text))
        for character, clause in self._characters:
            for start in _occurrences(character, folded.text):
                spans.add(Span(start, start + len(character), clause))
        return sorted({Span(folded.offset(one.start), folded.offset(one.end), one.clause) for one in spans})

    def _found(self, text: str, folded: FoldedText) -> list[_Found]:
        """Where wanted words of scripts with spaces stand in the folded text."""
        text = text if text.isascii() else _UNSPACED.sub(_blank, text)
        candidates = {start for word in self._wanted_words(text) for start in _occurrences(word, folded.text)}
        found: list[_Found] = []
        done = 0
        for candidate in sorted(candidates):
            if candidate < done:
                continue
            first, last = _chunk_around(text, folded.offset(candidate))
            start, done = folded.position(first), folded.position(last)
            chunk = text[first:last]
            if chunk not in self._chunks:
                self._chunks[chunk] = self._aligned(chunk, folded.text[start:done])
            for left, right, stem, part in self._chunks[chunk]:
                found.append(_Found(start + left, start + right, stem, part))
        return found

    def _wanted_words(self, text: str) -> list[str]:
        """The surface words of the text whose stems are wanted."""
        if not self._wanted:
            return []
        words = {word for _, word in self._tokenise(text)}
        new = sorted(words.difference(self._stems))
        for word, stem in zip(new, self._stem(new) if new else [], strict=True):
            self._stems[word] = stem if stem in self._wanted else None
        return [word for word in words if self._stems[word] is not None]

    def _aligned(self, chunk: str, folded: str) -> list[tuple[int, int, str, bool]]:
        """Where the wanted words of a piece of the text stand in its folded form: (start, end, stem, part)."""
        tokens = self._tokenise(chunk)
        aligned = []
        cursor = 0
        for number, (position, word) in enumerate(tokens):
            start = folded.find(word, cursor)
            if start < 0:
                continue
            end = start + len(word)
            part = number + 1 == len(tokens) or tokens[number + 1][0] != position
            if part:
                cursor = end
            stem = self._stems.get(word)
            if stem is not None:
                aligned.append((start, end, stem, part))
        return aligned


def _chunk_around(text: str, position: int) -> tuple[int, int]:
    """The piece between spaces and line ends that holds a position; no word goes past its ends."""
    start = max(text.rfind(" ", 0, position), text.rfind("\n", 0, position)) + 1
    space, line = text.find(" ", position), text.find("\n", position)
    return start, min(space if space >= 0 else len(text), line if line >= 0 else len(text))


def _occurrences(part: str, text: str) -> Iterator[int]:
    """Every place where ``part`` stands in a text, overlapping ones too."""
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1)


def _blank(run: re.Match[str]) -> str:
    return " " * len(run[0])


def _pair_places(pair: str, folded: str) -> Iterable[int]:
    """Where a pair of characters of a script without spaces stands, or one that has no neighbour to pair with."""
    alone = is_alone(pair)
    for start in _occurrences(pair, folded):
        before, after = folded[start - 1 : start], folded[start + len(pair) : start + len(pair) + 1]
        marked = after != "" and unicodedata.category(after)[0] == "M"
        paired = alone and ((before and _is_in_run(before)) or (after and is_unspaced(after)))
        if not (marked or paired):
            yield start


def _is_in_run(char: str) -> bool:
    return is_unspaced(char) or unicodedata.category(char)[0] == "M"


def _phrases(parts: list[_Found], stems: tuple[str, ...], folded: str) -> Iterable[tuple[int, int]]:
    """Where words of these stems stand in a row, with nothing that belongs to a word between them."""
    for first in range(len(parts) - len(stems) + 1):
        row = parts[first : first + len(stems)]
        if tuple(one.stem for one in row) == stems and all(
            not any(map(str.isalnum, folded[left.end : right.start])) for left, right in pairwise(row)
        ):
            yield row[0].start, row[-1].end
