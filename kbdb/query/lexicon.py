"""What resolving a query needs to know: how text is analysed, and what words one snapshot of a store has.

Answers are kept, since words come again from query to query. An ``Analysis`` lasts as long as its database is open, a
``Lexicon`` as long as its snapshot, so that nothing kept can grow old.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, Protocol

from kbdb.plan import Alternative, Clause
from kbdb.query.resolved import ClauseNote, Kind
from kbdb.query.synonyms import Synonyms
from kbdb.query.words import Tokenise, Word, is_single, text_of, words_of

KEPT = 4096
"""Answers kept of each kind, those that were asked for last: a few MB in all."""

KEPT_LENGTH = 80
"""The words of longer texts are not kept: such texts seldom come again."""


class Vocabulary(Protocol):
    """What the query layer asks of a ``kbdb.index.api.Searcher``."""

    sections: int

    def df(self, stem: str) -> int: ...
    def words_of(self, stem: str) -> list[str]: ...
    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]: ...
    def words_containing(self, part: str, limit: int) -> list[tuple[str, int]]: ...
    def words_near(self, word: str, distance: int, limit: int) -> list[tuple[str, int, int]]: ...


class Draft(NamedTuple):
    """A clause, and what the query layer remembers of it."""

    clause: Clause
    note: ClauseNote


class KnownWord(NamedTuple):
    """A plain word that the store knows, as a query searches it that says it once and freely.

    Attributes:
        draft: its clause.
        stem: of the word.
        is_stop_word: whether it is dropped beside other words.
    """

    draft: Draft
    stem: str
    is_stop_word: bool


class KnownPhrase(NamedTuple):
    """A phrase of words that the store knows, as a query searches it that says nothing else.

    Attributes:
        draft: its clause.
        text: the surface forms of its words.
    """

    draft: Draft
    text: str


class Analysis:
    """How texts become words and stems, and the lists of words with a part of their own.

    Attributes:
        tokenise: the engine's analysis.
        stem_of: a surface word to its stem, as at indexing.
        stop_words: folded surface words that are dropped when a query has others.
        synonyms: tried for words the store does not know.
    """

    def __init__(
        self,
        tokenise: Tokenise,
        stem: Callable[[list[str]], list[str]],
        stop_words: Container[str],
        synonyms: Synonyms,
    ) -> None:
        """``stem`` takes distinct surface words to their stems."""
        self.tokenise = tokenise
        self.stems = stem
        self.stop_words = stop_words
        self.synonyms = synonyms
        self.stem_of: Callable[[str], str] = lru_cache(KEPT)(lambda word: stem([word])[0])
        self._words: Callable[[str], tuple[Word, ...]] = lru_cache(KEPT)(partial(_words, tokenise))

    def words(self, text: str) -> tuple[Word, ...]:
        """The words of a piece of query text, in order."""
        return self._words(text) if len(text) <= KEPT_LENGTH else _words(self.tokenise, text)


class Lexicon:
    """The words of one snapshot.

    Attributes:
        searcher: of the snapshot.
        analysis: of the database.
        df: a stem to how many live sections hold it.
        words_of: a stem to its surface words.
    """

    def __init__(self, searcher: Vocabulary, analysis: Analysis) -> None:
        self.searcher = searcher
        self.analysis = analysis
        # What is kept refers to the searcher and never to this object: no cycle keeps a snapshot's files open.
        self.df: Callable[[str], int] = lru_cache(KEPT)(searcher.df)
        self.words_of: Callable[[str], Sequence[str]] = lru_cache(KEPT)(searcher.words_of)
        self._known = lru_cache(KEPT)(partial(_known_word, searcher.sections, self.df, analysis))
        self._known_phrases = lru_cache(KEPT)(partial(_known_phrase, searcher.sections, self.df, analysis))

    def known_word(self, text: str) -> KnownWord | None:
        """The plain word that a piece of query text consists of; None when it is anything else or unknown here."""
        return self._known(text) if len(text) <= KEPT_LENGTH else None

    def known_phrase(self, text: str) -> KnownPhrase | None:
        """The phrase that a quoted piece of query text says; None when it is anything else or has unknown words."""
        return self._known_phrases(text) if len(text) <= KEPT_LENGTH else None

    def phrase(self, words: Iterable[Word]) -> tuple[str, ...]:
        """The stems of the words' parts, which stand at consecutive positions."""
        return _phrase(words, self.analysis)

    def knows(self, stems: Iterable[str]) -> bool:
        """Whether each stem is in some live section."""
        return all(map(self.df, stems))

    def idf(self, stems: Iterable[str]) -> float:
        """What these stems tell together."""
        return _idf_of(stems, self.searcher.sections, self.df)

    def draft(self, label: str, stems: tuple[str, ...], kind: Kind, field: int | None, found: str) -> Draft:
        """A clause for stems as they are: one, or several that must stand in a row.

        Args:
            label: the query's own words.
            stems: at least one.
            kind, field: of the clause.
            found: the words searched, as text.
        """
        return _draft(label, stems, kind, field, found, self.idf(stems))


def idf(sections: int, df: int) -> float:
    """The engine's idf (csrc/README.md section 9)."""
    return math.log(1.0 + (sections - df + 0.5) / (df + 0.5))


def _words(tokenise: Tokenise, text: str) -> tuple[Word, ...]:
    return tuple(words_of(text, tokenise))


def _known_word(sections: int, df: Callable[[str], int], analysis: Analysis, text: str) -> KnownWord | None:
    words = _words(analysis.tokenise, text)
    if len(words) != 1 or words[0].kind != "plain":
        return None
    surface = words[0].text
    stem = analysis.stem_of(surface)
    found = df(stem)
    if not found:
        return None
    draft = _draft(surface, (stem,), "should", None, surface, idf(sections, found))
    return KnownWord(draft, stem, surface in analysis.stop_words)


def _known_phrase(sections: int, df: Callable[[str], int], analysis: Analysis, text: str) -> KnownPhrase | None:
    words = _words(analysis.tokenise, text)
    if not words or (len(words) == 1 and is_single(words[0])):
        return None
    stems = _phrase(words, analysis)
    if not all(map(df, stems)):
        return None
    found = text_of(words)
    return KnownPhrase(_draft(text, stems, "must", None, found, _idf_of(stems, sections, df)), found)


def _phrase(words: Iterable[Word], analysis: Analysis) -> tuple[str, ...]:
    return tuple([analysis.stem_of(part) for word in words for part in word.parts])


def _idf_of(stems: Iterable[str], sections: int, df: Callable[[str], int]) -> float:
    total = 0.0
    for stem in stems:
        total = total + idf(sections, df(stem))
    return total


def _draft(label: str, stems: tuple[str, ...], kind: Kind, field: int | None, found: str, idf: float) -> Draft:
    clause = Clause(label, (Alternative(stems),), kind, field)
    return Draft(clause, ClauseNote("direct", idf, idf, (found,)))
