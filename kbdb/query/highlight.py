"""Finds where in a section's text the query's terms stand, as offsets into the text as it is.

``snippet`` chooses and marks a passage by it. The engine's analysis gives words without offsets and changes case and
form, so words are found again in a folded copy of the text whose characters are traced back to the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from kbdb.normalise import fold, normalise
from kbdb.query.resolve import Resolved
from kbdb.query.words import Tokenise, is_unspaced

_HALFWIDTH_VOICING = "\uff9e\uff9f"
"""Marks that are letters: they only become marks by NFKC, and then join the kana before them."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place where a clause of the plan matches: ``text[start:end]``."""

    start: int
    end: int
    clause: int


@dataclass(frozen=True, slots=True, order=True)
class _Found:
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
        self._wanted = self._single.keys() | {stem for stems, _ in self._phrases for stem in stems}
        self._stems: dict[str, str | None] = {}
        self._chunks: dict[str, list[tuple[int, int, str, bool]]] = {}

    def spans(self, text: str) -> list[Span]:
        """All places where a clause matches in a text, by start, end, clause. They may overlap."""
        folded, offsets = fold_with_offsets(text)
        found = self._found(text, folded, offsets)
        spans = {Span(one.start, one.end, clause) for one in found for clause in self._single.get(one.stem, ())}
        parts = [one for one in found if one.part]
        for stems, clause in self._phrases:
            spans.update(Span(start, end, clause) for start, end in _phrases(parts, stems, folded))
        for character, clause in self._characters:
            spans.update(Span(one.start(), one.end(), clause) for one in re.finditer(re.escape(character), folded))
        return sorted(spans) if offsets is None else sorted({_original(span, offsets) for span in spans})

    def _found(self, text: str, folded: str, offsets: list[int] | None) -> list[_Found]:
        """Where wanted words stand in the folded text, in order."""
        wanted = self._wanted_words(text)
        if not wanted:
            return []
        pattern = re.compile("|".join(map(re.escape, sorted(wanted, key=len, reverse=True))))
        found: list[_Found] = []
        position = 0
        while candidate := pattern.search(folded, position):
            start, end = _chunk_around(text, candidate.start() if offsets is None else offsets[candidate.start()])
            chunk = text[start:end]
            if offsets is not None:
                start, end = bisect_left(offsets, start), bisect_left(offsets, end)
            if chunk not in self._chunks:
                self._chunks[chunk] = self._aligned(chunk, folded[start:end])
            for left, right, stem, part in self._chunks[chunk]:
                found.append(_Found(start + left, start + right, stem, part))
            position = max(end, candidate.end())
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
        """Where the wanted words of a run without spaces stand in its folded form: (start, end, stem, part)."""
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
                cursor = start + 1 if is_unspaced(word) and len(word) > 1 else end
            stem = self._stems.get(word)
            if stem is not None:
                aligned.append((start, end, stem, part))
        return aligned


def _chunk_around(text: str, position: int) -> tuple[int, int]:
    """The run without spaces that holds a position."""
    start = position
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while position < len(text) and not text[position].isspace():
        position += 1
    return start, position


def _phrases(parts: list[_Found], stems: tuple[str, ...], folded: str) -> Iterable[tuple[int, int]]:
    """Where words of these stems stand in a row, with nothing that belongs to a word between them."""
    for first in range(len(parts) - len(stems) + 1):
        row = parts[first : first + len(stems)]
        if tuple(one.stem for one in row) == stems and all(
            not any(map(str.isalnum, folded[left.end : right.start])) for left, right in pairwise(row)
        ):
            yield row[0].start, row[-1].end


def _original(span: Span, offsets: list[int]) -> Span:
    return Span(offsets[span.start], offsets[span.end], span.clause)


def fold_with_offsets(text: str) -> tuple[str, list[int] | None]:
    """A folded copy of a text in which surface words are found, and where its characters come from.

    Returns:
        The copy, and for each of its characters (and its end) the offset in the text; None when these are the same.
    """
    if text.isascii():
        return text.lower(), None
    if unicodedata.is_normalized("NFC", text) and not any(mark in text for mark in _HALFWIDTH_VOICING):
        distinct = {char: _fold(char) for char in set(text)}
        folded = "".join([distinct[char] for char in text])
        if all(len(form) == 1 for form in distinct.values()):
            return folded, None
        pieces: Iterable[str] = text
    else:
        import regex

        pieces = regex.findall(r"\X", text)
    forms = []
    offsets = []
    offset = 0
    for piece in pieces:
        form = _fold(piece)
        forms.append(form)
        offsets += [offset] * len(form)
        offset += len(piece)
    offsets.append(len(text))
    return "".join(forms), offsets


@lru_cache(maxsize=8192)
def _fold(piece: str) -> str:
    return fold(normalise(piece))
