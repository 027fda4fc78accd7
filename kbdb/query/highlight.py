"""Finds where in a section's text the query's terms stand, as offsets into the text as it is.

``snippet`` chooses and marks a passage by it. The engine's analysis gives words without offsets and changes case and
form, so words are found again in a folded copy of the text whose characters are traced back to the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from string import ascii_letters, digits
from typing import NamedTuple

from kbdb.query.folding import FoldedText, fold_text
from kbdb.query.lexicon import Analysis
from kbdb.query.resolved import Resolved
from kbdb.query.words import is_alone, is_unspaced

_UNSPACED = (
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ec0-\u0ec6\u1000-\u102a\u1780-\u17b3"
    "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff66-\uff9d\U00020000-\U0003134a]+"
)
"""Letters of scripts without spaces, or nearly all: they are looked for as they are, and analysis need not see them.

Compiled when first needed, because so many letters take milliseconds; ``re`` remembers it.
"""

_JOINERS = "'_-./@#:"
_SEPARATORS = frozenset(map(chr, range(128))) - set(_JOINERS + ascii_letters + digits)
"""The ASCII characters that are no part of a word and hold none together."""

_WORTH_SCALE = 1_000_000

_LONG = 100
"""Words of up to so many characters are never cut in pieces."""


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


class _Wanted(NamedTuple):
    """A surface word that is looked for; ``is_plain`` when it is ASCII letters and digits."""

    word: str
    stem: str
    is_plain: bool


class _Pair(NamedTuple):
    """The words that may be the first and the second of a phrase; ``forward`` when the first are the longer ones."""

    first: list[_Wanted]
    second: list[_Wanted]
    forward: bool


class Matcher:
    """Finds one query's terms in texts. Remembers chunks it has met; use one for all hits of a search.

    Attributes:
        worth: for each clause what matching it counts, as an integer, so that sums are exact.
    """

    def __init__(self, resolved: Resolved, analysis: Analysis, words_of: Callable[[str], Iterable[str]]) -> None:
        """Prepares for a query.

        Args:
            resolved: the query.
            analysis: the texts' own.
            words_of: a stem to all surface words of the texts that have it.
        """
        self.worth = [round(note.value * _WORTH_SCALE) + 1 for note in resolved.notes]
        self._analysis = analysis
        self._single: dict[str, list[int]] = {}
        self._phrases: list[tuple[tuple[str, ...], int]] = []
        self._characters: list[tuple[str, int]] = []
        for number, (clause, note) in enumerate(zip(resolved.plan.clauses, resolved.notes, strict=True)):
            if clause.kind == "must_not":
                continue
            if note.part:
                self._characters.append((note.part, number))
                continue
            for stems, _ in clause.alternatives:
                if len(stems) == 1:
                    self._single.setdefault(stems[0], []).append(number)
                else:
                    self._phrases.append((stems, number))
        wanted = {*self._single, *(stem for stems, _ in self._phrases for stem in stems)}
        self._pairs = sorted(filter(is_unspaced, wanted))
        self._wanted = wanted.difference(self._pairs)
        self._words = [
            _Wanted(word, stem, word.isascii() and word.isalnum()) for stem in self._wanted for word in words_of(stem)
        ]
        self._pair = self._only_pair()
        self._chunks: dict[str, list[tuple[int, int, str, bool]]] = {}

    def spans(self, text: str) -> list[Span]:
        """All places where a clause matches in a text, by start, end, clause. They may overlap."""
        folded = fold_text(text)
        if text.isascii():
            found = self._found_in_ascii(text, folded)
            if not found and not self._characters:
                return []
            if not (self._phrases or self._characters):
                return self._singles(found)
        else:
            found = self._found(text, folded)
        for pair in self._pairs:
            found += [_Found(start, start + len(pair), pair, True) for start in _pair_places(pair, folded.text)]
        single = self._single
        spans = [Span(start, end, clause) for start, end, stem, _ in found for clause in single.get(stem, ())]
        if self._phrases and len(found) > 1:
            parts = sorted({one for one in found if one.part})
            for stems, clause in self._phrases:
                spans += [Span(start, end, clause) for start, end in _phrases(parts, stems, folded.text)]
        for character, clause in self._characters:
            size = len(character)
            spans += [Span(start, start + size, clause) for start in _occurrences(character, folded.text)]
        if folded.positions:
            back = [Span(folded.offset(start), folded.offset(end), clause) for start, end, clause in spans]
            spans = [span for span in back if span.start < span.end]
        return sorted(set(spans)) if len(spans) > 1 else spans

    def _singles(self, found: list[_Found]) -> list[Span]:
        """The places where clauses of single words match."""
        clauses = self._single
        spans = [Span(start, end, clause) for start, end, stem, _ in found for clause in clauses.get(stem, ())]
        return sorted(set(spans)) if len(spans) > 1 else spans

    def _only_pair(self) -> _Pair | None:
        """The words of a phrase of two where nothing else is wanted."""
        if len(self._phrases) != 1 or self._single or self._pairs or len(self._phrases[0][0]) != 2:
            return None
        first, second = ([one for one in self._words if one.stem == stem] for stem in self._phrases[0][0])
        return _Pair(first, second, _shortest(first) >= _shortest(second)) if first and second else None

    def _found_in_ascii(self, text: str, folded: FoldedText) -> list[_Found]:
        """As ``_found``; here most places tell by themselves that a word stands there, and need no analysis."""
        lowered, around = folded.text, f" {text} "
        found: list[_Found] = []
        analysed: set[int] = set()
        if self._pair:
            for start, wanted in _neighbours(lowered, self._pair):
                self._look(text, folded, around, start, wanted, analysed, found)
            return found
        for wanted in self._words:
            word, stem, is_plain = wanted
            start = lowered.find(word)
            while start >= 0:
                end = start + len(word)
                # The plainest case of ``_stands_alone``, and the most frequent one.
                if (
                    is_plain
                    and around[start] in _SEPARATORS
                    and around[end + 1] in _SEPARATORS
                    and around[start + 2 : end + 1] == word[1:]
                ):
                    found.append(_Found(start, end, stem, True))
                    start = lowered.find(word, end)
                    continue
                alone = self._look(text, folded, around, start, wanted, analysed, found)
                start = lowered.find(word, end if alone else start + 1)
        return found

    def _look(
        self,
        text: str,
        folded: FoldedText,
        around: str,
        start: int,
        wanted: _Wanted,
        analysed: set[int],
        found: list[_Found],
    ) -> bool:
        """Finds what is wanted at a place where the letters of a word stand; whether the word stands there alone."""
        word, stem, is_plain = wanted
        end = start + len(word)
        alone = _stands_alone(around, start, end, word) if is_plain else None
        if alone:
            found.append(_Found(start, end, stem, True))
        elif alone is None:
            self._add_chunk(text, folded, start, analysed, found)
        return alone is True

    def _found(self, text: str, folded: FoldedText) -> list[_Found]:
        """Where wanted words of scripts with spaces stand in the folded text."""
        spaced = re.sub(_UNSPACED, _blank, text)
        found: list[_Found] = []
        analysed: set[int] = set()
        for wanted in self._words:
            for start in _occurrences(wanted.word, folded.text):
                self._add_chunk(spaced, folded, start, analysed, found)
        return found

    def _add_chunk(self, text: str, folded: FoldedText, position: int, analysed: set[int], found: list[_Found]) -> None:
        """Finds the wanted words of the chunk around a position of the folded text, once for each chunk."""
        first, last = _chunk_around(text, folded.offset(position))
        if first in analysed:
            return
        analysed.add(first)
        start = folded.position(first)
        chunk = text[first:last]
        if chunk not in self._chunks:
            self._chunks[chunk] = self._aligned(chunk, folded.text[start : folded.position(last)])
        found += [_Found(start + left, start + right, stem, part) for left, right, stem, part in self._chunks[chunk]]

    def _aligned(self, chunk: str, folded: str) -> list[tuple[int, int, str, bool]]:
        """Where the wanted words of a piece of the text stand in its folded form: (start, end, stem, part)."""
        tokens = self._analysis.tokenise(chunk)
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
            stem = self._analysis.stem_of(word)
            if stem in self._wanted:
                aligned.append((start, end, stem, part))
        return aligned


def _neighbours(lowered: str, pair: _Pair) -> Iterator[tuple[int, _Wanted]]:
    """Places where words of a pair may stand one after the other, with nothing but signs between; ASCII.

    The longer words are looked for, which occur less; the others only beside them.
    """
    first, second, forward = pair
    rare, other = (first, second) if forward else (second, first)
    size = len(lowered)
    for one in rare:
        for start in _occurrences(one.word, lowered):
            if forward:
                border = start + len(one.word)
                while border < size and not lowered[border].isalnum():
                    border += 1
                beside = [(border, two) for two in other if lowered.startswith(two.word, border)]
            else:
                border = start
                while border > 0 and not lowered[border - 1].isalnum():
                    border -= 1
                beside = [(border - len(two.word), two) for two in other if lowered.endswith(two.word, 0, border)]
            if beside:
                yield start, one
                yield from beside


def _shortest(row: Iterable[_Wanted]) -> int:
    return min([len(wanted.word) for wanted in row], default=0)


def _stands_alone(around: str, start: int, end: int, word: str) -> bool | None:
    """Whether a place in a text holds a whole word that analysis keeps as it is, between signs that join nothing.

    None where analysis has to say. Words have parts that begin with a capital, and very long ones are cut in pieces.

    Args:
        around: the text, ASCII, with a space at either end.
        start, end: where in the text its lower case is ``word``.
        word: ASCII letters and digits.
    """
    before, after = around[start], around[end + 1]
    if before in _SEPARATORS:
        if after in _SEPARATORS or (after in _JOINERS and around[end + 2] in _SEPARATORS):
            return True if around[start + 2 : end + 1] == word[1:] else None
    elif before.isalnum():
        shortly_before = around[max(0, start - _LONG) : start]
        return None if around[start + 1].isupper() or " " not in shortly_before else False
    if after.isalnum():
        return None if after.isupper() or len(word) >= _LONG else False
    return None


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
    row = list(stems)
    found = [one.stem for one in parts]
    for first in [number for number, stem in enumerate(found) if stem == row[0]]:
        if found[first : first + len(row)] == row and all(
            _joins_nothing(folded[left.end : right.start]) for left, right in pairwise(parts[first : first + len(row)])
        ):
            yield parts[first].start, parts[first + len(row) - 1].end


def _joins_nothing(between: str) -> bool:
    return between == " " or not any(map(str.isalnum, between))
