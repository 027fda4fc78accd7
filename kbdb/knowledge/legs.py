"""The legs of a search: sections ranked by words, by meaning, or by both, fused by their ranks.

A leg by meaning that cannot answer is left out, and the answer says why; the leg by words is always there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple

from kbdb.embed.scripts import serves
from kbdb.errors import ConfigError, KbdbError
from kbdb.index import bitmaps
from kbdb.index.api import VectorSearcher
from kbdb.knowledge.core import Core
from kbdb.knowledge.embed_sections import stale_because, without_vector
from kbdb.knowledge.view import View
from kbdb.model.search import LegRank
from kbdb.plan import TOTAL_LIMIT, EngineHit, EngineResult, Plan, VectorHit
from kbdb.query.parser import ParsedQuery
from kbdb.query.resolved import Resolved
from kbdb.query.rrf import RRF_DEPTH, fuse
from kbdb.query.verdict import Verdict, verdict_by_cosine, verdict_of, verdict_of_both

REBUILD = "run: kbdb rebuild"
NOTHING = EngineResult((), 0, True)

LOOKED_AT_FACTOR = 4
"""How many more of the nearest are looked at, where too few of them have the words that are required."""


class Question(NamedTuple):
    """What is asked of the legs.

    Attributes:
        parsed: the query's text, read.
        resolved: what its words mean in the store.
        allowed: bitmaps of the sections that filters leave, or None.
        offset: where the page begins.
        limit: how many hits are on it.
    """

    parsed: ParsedQuery
    resolved: Resolved
    allowed: Sequence[bytes] | None
    offset: int
    limit: int

    @property
    def depth(self) -> int:
        """How many hits are wanted from the first on."""
        return self.offset + self.limit


@dataclass(frozen=True, slots=True)
class Ranking:
    """Sections in the order of an answer.

    Attributes:
        page: what is shown; ``score`` is the one that ranks.
        best: the first of all, or None.
        total: how many were found, ``total_is_exact`` whether that is all.
        method: the mode that was used.
        verdict: whether the best answers the question.
        engine_ms: time spent in the engine.
        warnings: what was left out.
        stale: whether vectors of another model kept the leg by meaning from answering.
        ranks: where each leg has a hit, by kbid; empty where one leg alone ranks.
    """

    page: Sequence[EngineHit]
    best: EngineHit | None
    total: int
    total_is_exact: bool
    method: str
    verdict: Verdict
    engine_ms: float
    warnings: tuple[str, ...] = ()
    stale: bool = False
    ranks: Mapping[str, tuple[LegRank, ...]] | None = None


def by_words(snapshot: View, asked: Question) -> Ranking:
    """Ranked by BM25F.

    Raises:
        CorruptError: the index is damaged where the query touches it.
    """
    started = perf_counter()
    found = words_leg(snapshot, asked, asked.depth)
    engine_ms = (perf_counter() - started) * 1000
    best = found.hits[0] if found.hits else None
    verdict = verdict_of(asked.resolved, best)
    page = found.hits[asked.offset :]
    return Ranking(page, best, found.total, found.total_is_exact, "lexical", verdict, engine_ms)


def by_meaning(core: Core, snapshot: View, asked: Question) -> Ranking:
    """Ranked by cosine; by words where that is not possible (errors as ``by_words``)."""
    leg = _MeaningLeg.of(core, snapshot, asked, asked.depth)
    if not leg.answers:
        return leg.left_out_of(by_words(snapshot, asked))
    started = perf_counter()
    shown = _with_words(snapshot, asked.resolved, [*leg.hits[:1], *leg.hits[asked.offset :]])
    engine_ms = leg.engine_ms + (perf_counter() - started) * 1000
    best = shown[0] if shown else None
    near = leg.near
    return Ranking(shown[1:], best, near.total, near.total_is_exact, "vector", leg.verdict, engine_ms, leg.warnings)


def by_both(core: Core, snapshot: View, asked: Question) -> Ranking:
    """Both rankings fused; by words alone where the other is not possible (errors as ``by_words``)."""
    leg = _MeaningLeg.of(core, snapshot, asked, RRF_DEPTH)
    if not leg.answers:
        return leg.left_out_of(by_words(snapshot, asked))
    started = perf_counter()
    words = words_leg(snapshot, asked, RRF_DEPTH)
    fused = fuse([[hit.kbid for hit in words.hits], [hit.kbid for hit in leg.hits]], core.embedding.rrf_k)
    shown = [*fused[:1], *fused[asked.offset : asked.depth]]
    wanted = {kbid for kbid, _ in shown}.difference(hit.kbid for hit in words.hits)
    by_meaning_alone = [hit for hit in leg.hits if hit.kbid in wanted]
    known = {hit.kbid: hit for hit in (*words.hits, *_with_words(snapshot, asked.resolved, by_meaning_alone))}
    engine_ms = leg.engine_ms + (perf_counter() - started) * 1000
    hits = [known[kbid]._replace(score=score) for kbid, score in shown]
    by_words_alone = verdict_of(asked.resolved, words.hits[0] if words.hits else None)
    is_whole = len(leg.hits) < RRF_DEPTH and len(words.hits) == words.total
    return Ranking(
        page=hits[1:],
        best=hits[0] if hits else None,
        total=len(fused),
        total_is_exact=is_whole,
        method="hybrid",
        verdict=verdict_of_both(by_words_alone, leg.verdict if leg.hits else None),
        engine_ms=engine_ms,
        warnings=leg.warnings,
        ranks=_ranks(words.hits, leg.hits),
    )


def words_leg(snapshot: View, asked: Question, depth: int) -> EngineResult:
    """What the words find, down to a depth."""
    if asked.resolved.asks_nothing:
        return NOTHING
    return snapshot.searcher.search(asked.resolved.plan, depth, asked.allowed)


class Nearest(NamedTuple):
    """Sections by falling cosine, and how many have a vector and pass what is asked of them besides: all of them where
    ``total_is_exact``, else at least so many."""

    hits: Sequence[VectorHit]
    total: int
    total_is_exact: bool


NOWHERE_NEAR = Nearest((), 0, True)


@dataclass(frozen=True, slots=True)
class _MeaningLeg:
    """What meaning finds, or why it was not asked.

    Attributes:
        near: the nearest sections.
        verdict: whether the nearest is near enough.
    """

    answers: bool
    warnings: tuple[str, ...] = ()
    stale: bool = False
    near: Nearest = NOWHERE_NEAR
    verdict: Verdict = "unanswered"
    engine_ms: float = 0.0

    @property
    def hits(self) -> Sequence[VectorHit]:
        """The nearest sections, best first."""
        return self.near.hits

    @classmethod
    def of(cls, core: Core, snapshot: View, asked: Question, depth: int) -> _MeaningLeg:
        """Asks for the sections whose vectors are nearest to that of the question.

        Raises:
            ConfigError: the provider's settings contradict each other.
        """
        embedding = core.embedding
        text = _question_of(asked.parsed)
        if not any(map(str.isalnum, text)):
            return cls(False, ("there are no words to search by meaning",))
        try:
            if not embedding.serves(core.indexer.vectors):
                return cls(False, (f"{stale_because(core)}; {REBUILD}",), stale=True)
            if not serves(embedding.provider.scripts(), text):
                model = embedding.provider.model_name()
                return cls(False, (f"{model} does not know the script of the query",))
            searcher = snapshot.vector_searcher
            if searcher is None:
                return cls(False, (embedding.trouble or "no section has a vector yet",))
            question = embedding.of_query(text)
            started = perf_counter()
            near = _nearest(snapshot, searcher, question, asked, depth)
            engine_ms = (perf_counter() - started) * 1000
            verdict = verdict_by_cosine(near.hits[0].score if near.hits else None, embedding.provider.floors())
            return cls(True, still_waiting(core, snapshot), False, near, verdict, engine_ms)
        except ConfigError:
            raise
        except KbdbError as error:
            return cls(False, (error.in_a_line,))

    def left_out_of(self, ranking: Ranking) -> Ranking:
        """What words alone found, with a word on why meaning was not asked."""
        told = tuple(f"searched by words alone: {warning}" for warning in self.warnings)
        return replace(ranking, warnings=told, stale=self.stale)


def _question_of(parsed: ParsedQuery) -> str:
    """What a model gets to read: the query without its syntax and without what must not be there."""
    return " ".join(term.text for term in parsed.terms if not term.excluded)


def _nearest(snapshot: View, searcher: VectorSearcher, question: bytes, asked: Question, depth: int) -> Nearest:
    """The sections nearest to a question of those that filters leave, with what it requires and nothing it excludes.

    Where few sections do, they are found by their words first; else those that are near are looked at for words.
    """
    allowed = asked.allowed
    clauses = tuple(clause for clause in asked.resolved.plan.clauses if clause.kind != "should")
    if clauses:
        passing = snapshot.searcher.search(Plan(clauses), 0, allowed)
        if not passing.total_is_exact:
            hits = _near_and_passing(snapshot, searcher, question, Plan(clauses), allowed, depth)
            return Nearest(
                hits, max(len(hits), passing.total - sum(map(bitmaps.count, snapshot.without_vector))), False
            )
        allowed = _bits(snapshot, snapshot.searcher.search(Plan(clauses), passing.total, allowed).hits)
    total = _total(snapshot, allowed)
    return Nearest(searcher.search(question, depth, allowed), min(total, TOTAL_LIMIT), total <= TOTAL_LIMIT)


def _near_and_passing(
    snapshot: View, searcher: VectorSearcher, question: bytes, plan: Plan, allowed: Sequence[bytes] | None, depth: int
) -> Sequence[VectorHit]:
    """The first ``depth`` of the nearest sections that a plan finds: more and more are looked at until so many are."""
    looked = depth
    while True:
        near = searcher.search(question, looked, allowed)
        found = {hit.kbid for hit in snapshot.searcher.search(plan, len(near), _bits(snapshot, near)).hits}
        passing = [hit for hit in near if hit.kbid in found]
        if len(passing) >= depth or len(near) < looked:
            return passing[:depth]
        looked *= LOOKED_AT_FACTOR


def _bits(snapshot: View, hits: Iterable[EngineHit | VectorHit]) -> list[bytes]:
    """For each segment, the entries of these hits."""
    found: list[list[int]] = [[] for _ in snapshot.slots]
    for hit in hits:
        found[hit.segment].append(hit.entry)
    return [bitmaps.having(slot.segment.sections, some) for slot, some in zip(snapshot.slots, found, strict=True)]


def _total(snapshot: View, allowed: Sequence[bytes] | None) -> int:
    total = 0
    for place, (live, missing) in enumerate(zip(snapshot.live, snapshot.without_vector, strict=True)):
        bits = bitmaps.without(live, missing)
        total += bitmaps.count(bits if allowed is None else bitmaps.both(bits, allowed[place]))
    return total


def still_waiting(core: Core, snapshot: View) -> tuple[str, ...]:
    """Tells that some sections cannot be found by meaning yet."""
    missing = without_vector(core, snapshot)
    if not missing:
        return ()
    are = "1 section has" if missing == 1 else f"{missing:,} sections have"
    because = f": {core.embedding.trouble}" if core.embedding.trouble else ""
    return (f"{are} no vector yet, and can be found by words alone{because}",)


def _with_words(snapshot: View, resolved: Resolved, hits: Sequence[VectorHit]) -> list[EngineHit]:
    """Hits of the leg by meaning, each with the words of the query that it has all the same."""
    matched: dict[str, int] = {}
    if hits and resolved.plan.clauses:
        having = snapshot.searcher.search(resolved.plan, len(hits), _bits(snapshot, hits)).hits
        matched = {hit.kbid: hit.matched for hit in having}
    return [EngineHit(hit.segment, hit.entry, hit.score, matched.get(hit.kbid, 0), hit.kbid) for hit in hits]


def _ranks(words: Sequence[EngineHit], meaning: Sequence[VectorHit]) -> dict[str, tuple[LegRank, ...]]:
    """Where each leg has its hits."""
    found = {hit.kbid: (LegRank("lexical", rank, hit.score),) for rank, hit in enumerate(words, 1)}
    ranks: dict[str, tuple[LegRank, ...]] = dict(found)
    for rank, hit in enumerate(meaning, 1):
        ranks[hit.kbid] = (*found.get(hit.kbid, ()), LegRank("vector", rank, hit.score))
    return ranks
