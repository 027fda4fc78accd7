"""Indexes a collection with the engine, asks its questions through the query layer, and judges the answers.

What kbdb does for its users is done by the same functions here: analysis, stemming, building, parsing, resolving,
searching. Only the store is left out: each document is one section whose title and body are the collection's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from bench.quality.collection import Document, Group, Query
from bench.quality.metrics import RECIPROCAL_DEPTH, Scores, scores_of
from kbdb.config import parse
from kbdb.index.api import Searcher
from kbdb.index.engine import engine, stemmer
from kbdb.index.segments import SegmentList
from kbdb.index.snapshot import Snapshot
from kbdb.languages import stop_words
from kbdb.plan import Clause, Entry, Params, Plan
from kbdb.query.lexicon import Analysis, Lexicon
from kbdb.query.parser import parse_query
from kbdb.query.resolve import resolve
from kbdb.query.resolved import Resolved
from kbdb.query.synonyms import BUILT_IN, NO_SYNONYMS, make_synonyms

DEFAULTS = parse(b"")
"""kbdb's settings where worker.toml says nothing."""

PARAMS = DEFAULTS.search.params()


@dataclass(frozen=True, slots=True)
class Habits:
    """Habits of the query layer, to be measured by leaving them out; kbdb has them all.

    Attributes:
        stop_words: stop words are dropped from queries that have other words.
        synonyms: unknown words are tried as synonyms.
        near: unknown words are tried as near spellings.
        whole_weight: what an identifier found whole weighs, beside its parts.
    """

    stop_words: bool = True
    synonyms: bool = True
    near: bool = True
    whole_weight: float = 1.0


ALL_HABITS = Habits()


class Experiment:
    """A collection, indexed, with its questions resolved; ``scores`` asks them with any parameters."""

    def __init__(self, groups: Sequence[Group], habits: Habits = ALL_HABITS) -> None:
        language = DEFAULTS.analysis.language
        self._habits = habits
        self._stem = stemmer(language)
        dropped: Collection[str] = stop_words(language) if habits.stop_words else frozenset()
        synonyms = make_synonyms((BUILT_IN,), self._stem) if habits.synonyms else NO_SYNONYMS
        self._analysis = Analysis(engine().tokenise, self._stem, dropped, synonyms)
        self._indexes = [self._index(group) for group in groups]

    def scores(self, params: Params = PARAMS) -> list[Scores]:
        """How well each question is answered, always in the same order."""
        return [scores_of(ranking, query.grades) for query, ranking in self.answers(params)]

    def answers(self, params: Params = PARAMS) -> list[tuple[Query, list[str]]]:
        """Each question with the ids of the documents found, best first, deep enough for every measure."""
        return [answer for index in self._indexes for answer in index.answers(params)]

    def _index(self, group: Group) -> _Index:
        entries = [_entry(document) for document in group.documents]
        segments = SegmentList(engine(), 0, PARAMS, self._stem).added(entries)
        snapshot = Snapshot(0, segments, tuple(slot.current for slot in segments.slots), PARAMS)
        questions = [(query, self._resolve(query.text, snapshot.searcher)) for query in group.queries]
        ids = {entry.kbid: document.id for entry, document in zip(entries, group.documents, strict=True)}
        return _Index(snapshot, ids, questions)

    def _resolve(self, query: str, searcher: Searcher) -> Resolved:
        vocabulary = searcher if self._habits.near else _NoNearWords(searcher)
        resolved = resolve(parse_query(query), Lexicon(vocabulary, self._analysis))
        return _with_whole_weight(resolved, self._habits.whole_weight)


@dataclass(frozen=True, slots=True)
class _Index:
    """A group's index, the names of its documents, and its questions as plans."""

    snapshot: Snapshot
    ids: dict[bytes, str]
    questions: list[tuple[Query, Resolved]]

    def answers(self, params: Params) -> list[tuple[Query, list[str]]]:
        """Each question with the ids of the documents found, best first, deep enough for every measure."""
        snapshot = self.snapshot
        if params != snapshot.params:
            # A segment is searched with the parameters it was built with.
            segments = replace(snapshot.segments, params=params).merged(0)
            snapshot = replace(snapshot, segments=segments, params=params)
        return [(query, self._ranking(snapshot, query, resolved)) for query, resolved in self.questions]

    def _ranking(self, snapshot: Snapshot, query: Query, resolved: Resolved) -> list[str]:
        if resolved.asks_nothing:
            return []
        filters = resolved.filters
        allowed = snapshot.allowed([*((key,) for key in filters.all_of), *filters.any_of], filters.none_of)
        taken_out = sum(grade < 0 for grade in query.grades.values())
        hits = snapshot.searcher.search(resolved.plan, RECIPROCAL_DEPTH + taken_out, allowed).hits
        return [self.ids[snapshot.slots[hit.segment].segment.kbid(hit.entry)] for hit in hits]


class _NoNearWords:
    """A searcher that knows no near spellings."""

    def __init__(self, searcher: Searcher) -> None:
        self.sections = searcher.sections
        self.df = searcher.df
        self.words_of = searcher.words_of
        self.words_with_prefix = searcher.words_with_prefix
        self.words_containing = searcher.words_containing

    def words_near(self, word: str, distance: int, limit: int) -> list[tuple[str, int, int]]:  # noqa: ARG002
        return []


def _with_whole_weight(resolved: Resolved, weight: float) -> Resolved:
    """The plan with the clauses of whole identifiers, whose parts have clauses too, weighing so much."""
    parts = {part for word in resolved.words for part in word.parts}
    wholes = {word.whole for word in resolved.words} - parts
    clauses = tuple(
        _weighing(clause, weight) if number in wholes else clause for number, clause in enumerate(resolved.plan.clauses)
    )
    return resolved._replace(plan=Plan(clauses))


def _weighing(clause: Clause, weight: float) -> Clause:
    return clause._replace(alternatives=tuple(one._replace(weight=one.weight * weight) for one in clause.alternatives))


def kbid_of(document: str) -> bytes:
    """The kbid that a document of this id goes by here."""
    return sha256(document.encode()).digest()[:16]


def _entry(document: Document) -> Entry:
    """The document as one section; equal documents stay apart, since each is judged by its own id."""
    return Entry(
        kbid=kbid_of(document.id),
        fields=(document.title, document.text, "", "", document.heading),
        filters=(),
        references=(),
        stored=b"",
        listed=True,
    )
