"""Finds the words of the store that a query's word stands for when it is not one itself.

Synonyms and near spellings for words the store does not know, completions of a prefix, the pairs that hold a single
CJK character. ``resolve`` turns what is found into the alternatives of one clause.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from kbdb.plan import Alternative
from kbdb.query.synonyms import Synonyms
from kbdb.query.words import Tokenise, Word, is_unspaced, words_of

SYNONYM_WEIGHT = 0.6
"""A synonym counts this much of a direct match: another word for it, seldom exactly the same thing."""

NEAR_WEIGHTS = {1: 0.5, 2: 0.4}
"""A near spelling, by its distance, counts less than a synonym: it may be another word altogether."""

SYNONYM_LIMIT = 8
NEAR_LIMIT = 3
"""At most so many are searched; each further one is less likely meant."""

COMPLETION_LIMIT = 64
"""A prefix stands for so many words at most, the most frequent ones."""

CHARACTER_LIMIT = 4096
"""A single CJK character stands for so many pairs at most: for all of them in stores of real texts."""

_NEAR_CANDIDATES = 16

Origin = Literal["direct", "synonym", "near"]


class Vocabulary(Protocol):
    """What the query layer asks of a ``kbdb.index.api.Searcher``."""

    sections: int

    def df(self, stem: str) -> int: ...
    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]: ...
    def words_containing(self, part: str, limit: int) -> list[tuple[str, int]]: ...
    def words_near(self, word: str, distance: int, limit: int) -> list[tuple[str, int, int]]: ...


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All that resolving a word needs to know: the store's words, the analysis, and the lists; for one query.

    Stems and frequencies are asked for many times over while a query is resolved, so answers are kept.
    """

    searcher: Vocabulary
    tokenise: Tokenise
    stem: Callable[[list[str]], list[str]]
    stop_words: Container[str]
    synonyms: Synonyms
    _stems: dict[str, str] = field(default_factory=dict)
    _frequencies: dict[str, int] = field(default_factory=dict)

    def stem_of(self, word: str) -> str:
        """The stem of one surface word."""
        if word not in self._stems:
            self._stems[word] = self.stem([word])[0]
        return self._stems[word]

    def learn_stems(self, words: Iterable[str]) -> None:
        """Looks up the stems of many words at once."""
        listed = sorted(set(words))
        self._stems.update(zip(listed, self.stem(listed), strict=True))

    def df(self, stem: str) -> int:
        """How many live sections hold a stem."""
        if stem not in self._frequencies:
            self._frequencies[stem] = self.searcher.df(stem)
        return self._frequencies[stem]

    def phrase(self, words: Iterable[Word]) -> tuple[str, ...]:
        """The stems of the words' parts, which stand at consecutive positions."""
        return tuple(self.stem_of(part) for word in words for part in word.parts)

    def knows(self, stems: Iterable[str]) -> bool:
        """Whether each stem is in some live section."""
        return all(self.df(stem) for stem in stems)


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a word stands for.

    Attributes:
        origin: how it was found.
        alternatives: at least one; all of one weight.
        found: for each alternative, the words it searches, as text.
        limit: the most words that were looked at, when there were more; else 0.
    """

    origin: Origin
    alternatives: tuple[Alternative, ...]
    found: tuple[str, ...]
    limit: int = 0


def find_synonyms(text: str, lexicon: Lexicon) -> Expansion | None:
    """The synonyms that the store knows of a word that it does not; None when there are none.

    Args:
        text: the word's surface form: a word, a whole identifier, a run of a script without spaces.
        lexicon: the store's words and the lists.
    """
    found: dict[tuple[str, ...], str] = {}
    for synonym in lexicon.synonyms.of(lexicon.stem_of(text)):
        stems = lexicon.phrase(words_of(synonym, lexicon.tokenise))
        if stems and lexicon.knows(stems):
            found.setdefault(stems, synonym)
    kept = list(found.items())[:SYNONYM_LIMIT]
    if not kept:
        return None
    alternatives = tuple(Alternative(stems, SYNONYM_WEIGHT) for stems, _ in kept)
    return Expansion("synonym", alternatives, tuple(synonym for _, synonym in kept))


def find_near(text: str, lexicon: Lexicon) -> Expansion | None:
    """The most frequent words at the smallest distance from an unknown plain word; None when none is near.

    Near is 1 edit for a word of 4 to 7 letters, up to 2 for a longer one.
    """
    if len(text) < 4 or not _is_word(text):
        return None
    reach = 1 if len(text) < 8 else 2
    candidates = [
        (candidate, distance)
        for candidate, distance, _ in lexicon.searcher.words_near(text, reach, _NEAR_CANDIDATES)
        if _is_word(candidate) and candidate not in lexicon.stop_words
    ]
    if not candidates:
        return None
    smallest = candidates[0][1]
    found = _by_stem((candidate for candidate, distance in candidates if distance == smallest), lexicon)
    kept = list(found.items())[:NEAR_LIMIT]
    alternatives = tuple(Alternative((stem,), NEAR_WEIGHTS[smallest]) for stem, _ in kept)
    return Expansion("near", alternatives, tuple(candidate for _, candidate in kept))


def _is_word(text: str) -> bool:
    """Whether a surface word is of letters and marks alone, in a script with spaces: one that can be misspelt."""
    return not is_unspaced(text) and all(unicodedata.category(char)[0] in "LM" for char in text)


def complete_prefix(prefix: str, lexicon: Lexicon) -> Expansion | None:
    """The words that begin with a folded prefix."""
    return _completions(lexicon.searcher.words_with_prefix(prefix, COMPLETION_LIMIT + 1), COMPLETION_LIMIT, lexicon)


def complete_character(character: str, lexicon: Lexicon) -> Expansion | None:
    """The pairs of characters that hold this one of a script without spaces, and itself."""
    return _completions(lexicon.searcher.words_containing(character, CHARACTER_LIMIT + 1), CHARACTER_LIMIT, lexicon)


def _completions(words: list[tuple[str, int]], limit: int, lexicon: Lexicon) -> Expansion | None:
    if not words:
        return None
    found = _by_stem((word for word, _ in words[:limit]), lexicon)
    alternatives = tuple(Alternative((stem,)) for stem in found)
    return Expansion("direct", alternatives, tuple(found.values()), limit if len(words) > limit else 0)


def _by_stem(words: Iterable[str], lexicon: Lexicon) -> dict[str, str]:
    """Stems of surface words, each with the first word that has it."""
    listed = list(words)
    found: dict[str, str] = {}
    for word, stem in zip(listed, lexicon.stem(listed), strict=True):
        found.setdefault(stem, word)
    return found
