"""Executes a resolved plan by asking and scoring every candidate entry (csrc/README.md, section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbdb.plan import Clause, EngineHit, Plan, Share
from kbdb.reference.bm25f import bm25f_idf, bm25f_saturation
from kbdb.reference.container import container_place
from kbdb.reference.corpus import LENGTHS, corpus_kbid
from kbdb.reference.occurrences import occurrences_read
from kbdb.reference.terms import Frequencies
from kbdb.reference.varint import corrupt

if TYPE_CHECKING:
    from kbdb.reference.searcher import Searcher

KBID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class _Alternative:
    """An alternative looked up: for each segment, the frequencies in the entries where it occurs."""

    weight: float
    idf: float
    occurrences: list[dict[int, Frequencies]]


@dataclass(frozen=True, slots=True)
class _Clause:
    kind: str
    alternatives: list[_Alternative]

    def occurs(self, segment: int, entry: int) -> bool:
        return any(entry in alternative.occurrences[segment] for alternative in self.alternatives)


def search(searcher: Searcher, plan: Plan, candidates: Sequence[set[int]]) -> list[EngineHit]:
    """All entries that match, best first.

    Args:
        searcher: whose segments to search.
        plan: a checked one.
        candidates: for each segment, the live entries that may be found.
    """
    clauses = [_look_up(searcher, clause) for clause in plan.clauses]
    hits = [
        _hit(searcher, clauses, segment, entry)
        for segment, entries in enumerate(candidates)
        for entry in entries
        if _matches(clauses, segment, entry)
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.kbid, hit.segment))
    return hits


def explain(searcher: Searcher, plan: Plan, segment: int, entry: int) -> tuple[Share, ...]:
    """The shares of the should and must clauses that occur in a live entry, in plan order."""
    return _shares(searcher, [_look_up(searcher, clause) for clause in plan.clauses], segment, entry)


def _look_up(searcher: Searcher, clause: Clause) -> _Clause:
    alternatives = []
    for alternative in clause.alternatives:
        idf = 0.0
        for stem in alternative.stems:
            idf = idf + bm25f_idf(searcher.sections, searcher.df(stem))
        occurrences = [occurrences_read(segment, alternative, clause.field) for segment in searcher.segments]
        alternatives.append(_Alternative(alternative.weight, idf, occurrences))
    return _Clause(clause.kind, alternatives)


def _matches(clauses: list[_Clause], segment: int, entry: int) -> bool:
    positive = [clause for clause in clauses if clause.kind != "must_not"]
    return (
        all(clause.occurs(segment, entry) for clause in clauses if clause.kind == "must")
        and not any(clause.occurs(segment, entry) for clause in clauses if clause.kind == "must_not")
        and (not positive or any(clause.occurs(segment, entry) for clause in positive))
    )


def _hit(searcher: Searcher, clauses: list[_Clause], segment: int, entry: int) -> EngineHit:
    score = 0.0
    matched = 0
    for share in _shares(searcher, clauses, segment, entry):
        score = score + share.value
        matched |= 1 << share.clause
    kbid = corpus_kbid(searcher.segments[segment].corpus, entry)
    return EngineHit(segment, entry, score, matched, kbid_text(kbid))


def _shares(searcher: Searcher, clauses: list[_Clause], segment: int, entry: int) -> tuple[Share, ...]:
    return tuple(
        _best_share(searcher, clause, number, segment, entry)
        for number, clause in enumerate(clauses)
        if clause.kind != "must_not" and clause.occurs(segment, entry)
    )


def _best_share(searcher: Searcher, clause: _Clause, number: int, segment: int, entry: int) -> Share:
    shares = []
    for place, alternative in enumerate(clause.alternatives):
        frequencies = alternative.occurrences[segment].get(entry)
        if frequencies is not None:
            saturation = _saturation(searcher, segment, entry, frequencies)
            value = (alternative.weight * alternative.idf) * saturation
            shares.append(Share(number, place, value, alternative.weight, alternative.idf, saturation, frequencies))
    # max gives the first of equals.
    return max(shares, key=lambda share: share.value)


def _saturation(searcher: Searcher, segment: int, entry: int, frequencies: Frequencies) -> float:
    lengths = searcher.lengths[segment][entry]
    if any(count and not length for count, length in zip(frequencies, lengths, strict=True)):
        corpus = searcher.segments[segment].corpus
        raise corrupt(corpus.path, container_place(corpus, LENGTHS, 0), "a stem occurs in a field of length 0")
    return bm25f_saturation(searcher.params, searcher.averages, lengths, frequencies)


def kbid_text(kbid: bytes) -> str:
    number = int.from_bytes(kbid, "big") << 2
    return "".join(KBID_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
