"""Finds the words of the store that a query's word stands for when it is not one itself.

Synonyms and near spellings for words the store does not know, completions of a prefix, the pairs that hold a single
CJK character. ``resolve`` turns what is found into the alternatives of one clause.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from kbdb.plan import Alternative
from kbdb.query.lexicon import Lexicon
from kbdb.query.resolved import Origin
from kbdb.query.words import is_unspaced

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
    for synonym in lexicon.analysis.synonyms.of(lexicon.analysis.stem_of(text)):
        stems = lexicon.phrase(lexicon.analysis.words(synonym))
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
        if _is_word(candidate) and candidate not in lexicon.analysis.stop_words
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
    for word, stem in zip(listed, lexicon.analysis.stems(listed), strict=True):
        found.setdefault(stem, word)
    return found
