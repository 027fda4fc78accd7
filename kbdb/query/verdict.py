"""Says how well a hit answers a query: ``match``, ``verdict`` and the terms it matched.

Reads the matched clauses of a hit with what ``resolve`` noted of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from kbdb.plan import EngineHit, Share
from kbdb.query.resolved import Origin, QueryWord, Resolved
from kbdb.query.words import joined

Match = Literal["all", "most", "any", "synonym", "near", "none"]
Verdict = Literal["answered", "weak", "unanswered"]

ANSWERED_FROM = 0.5
"""A best hit that covers less of the query's idf than this is weak."""


def match_of(resolved: Resolved, best: EngineHit | None) -> Match:
    """How the best hit fits the query's words.

    ``all``: every word itself. ``most``: at least half of them, where half of an identifier's parts or of a run's pairs
    will do. ``any``: fewer. ``synonym``, ``near``: none itself, only what stands for one. ``none``: no hit, or nothing
    asked but what a hit must not have.

    Args:
        resolved: the query.
        best: the first hit of all, whatever page is shown; None when there is none.
    """
    if best is None or resolved.only_excludes or (resolved.words and not best.matched):
        return "none"
    if not resolved.words or _has_all(resolved, best):
        return "all"
    shares = [_direct_share(resolved, word, best.matched) for word in resolved.words]
    if all(share == 1.0 for share in shares):
        return "all"
    if 2 * sum(share >= 0.5 for share in shares) >= len(shares):
        return "most"
    if any(shares):
        return "any"
    origins = {origin for word in resolved.words for origin in _origins(resolved, word, best.matched)}
    if "near" in origins:
        return "near"
    return "synonym" if "synonym" in origins else "any"


def verdict_of(resolved: Resolved, best: EngineHit | None) -> Verdict:
    """Whether the best hit answers: covers at least half of the query's idf. A query that only excludes asks nothing.

    A word that the store does not know weighs its idf at df 0; a synonym or near spelling covers it by its weight.

    Args:
        resolved: the query.
        best: as for ``match_of``.
    """
    if best is None or resolved.only_excludes:
        return "unanswered"
    if _has_all(resolved, best):
        return "answered"
    asked = 0.0
    covered = 0.0
    for word in resolved.words:
        weight = sum(resolved.notes[part].idf for part in word.parts)
        asked += weight
        covered += weight * _covered(resolved, word, best.matched)
    return "weak" if covered < ANSWERED_FROM * asked else "answered"


def verdict_by_cosine(best: float | None, floors: tuple[float, float] | None) -> Verdict:
    """Whether the nearest section is near enough to answer.

    Args:
        best: its cosine, or None where there is none.
        floors: what a model's cosines answer from, and from where on they are weak; None where nobody has measured:
            then no cosine says that a question is answered, or that it is not.
    """
    if best is None:
        return "unanswered"
    if floors is None:
        return "weak"
    answered, weak = floors
    return "answered" if best >= answered else "weak" if best >= weak else "unanswered"


def verdict_of_both(words: Verdict, meaning: Verdict | None) -> Verdict:
    """Whether a hybrid search is answered: where one of both says so; else meaning decides, for some word or other of a
    question stands in nearly every store.

    Args:
        words: by ``verdict_of``.
        meaning: by ``verdict_by_cosine``; None where no section has a vector.
    """
    return "answered" if "answered" in (words, meaning) else meaning or words


def matched_terms(resolved: Resolved, matched: int, shares: Sequence[Share] = ()) -> tuple[str, ...]:
    """The query's words that a hit matched, in the order typed; for a word that was expanded, the word found.

    Args:
        resolved: the query.
        matched: the hit's bits.
        shares: of the engine's explain for the hit; without them the first alternative of a clause is named
            (needed when ``resolved.has_choices``).
    """
    chosen = {share.clause: share.alternative for share in shares}
    terms: dict[str, None] = {}
    for word in resolved.words:
        terms.update(dict.fromkeys(_terms_of(resolved, word, matched, chosen)))
    return tuple(terms)


def _terms_of(resolved: Resolved, word: QueryWord, matched: int, chosen: dict[int, int]) -> Iterable[str]:
    if word.whole is not None and _has(matched, word.whole):
        return [_found(resolved, word.whole, chosen)]
    parts = [part for part in word.parts if _has(matched, part)]
    if len(word.parts) > 1 and len(parts) == len(word.parts) and not _origins(resolved, word, matched) - {"direct"}:
        return [word.text]
    return _join_neighbours(resolved, parts, chosen)


def _join_neighbours(resolved: Resolved, parts: list[int], chosen: dict[int, int]) -> list[str]:
    """The words of some clauses; pairs of characters that overlap become one text again."""
    terms: list[str] = []
    last = -2
    for part in parts:
        text = _found(resolved, part, chosen)
        longer = joined((terms[-1], text)) if terms and part == last + 1 else ""
        if longer and len(longer) < len(terms[-1]) + len(text):
            terms[-1] = longer
        else:
            terms.append(text)
        last = part
    return terms


def _found(resolved: Resolved, clause: int, chosen: dict[int, int]) -> str:
    note = resolved.notes[clause]
    return note.part or note.found[chosen.get(clause, 0)]


def _direct_share(resolved: Resolved, word: QueryWord, matched: int) -> float:
    """How much of a word a hit has as it was typed: 1.0 for all of it."""
    if word.whole is not None and _has(matched, word.whole) and resolved.notes[word.whole].origin == "direct":
        return 1.0
    direct = sum(_has(matched, part) and resolved.notes[part].origin == "direct" for part in word.parts)
    return direct / len(word.parts)


def _origins(resolved: Resolved, word: QueryWord, matched: int) -> set[Origin]:
    clauses = word.parts if word.whole is None else (word.whole, *word.parts)
    return {resolved.notes[clause].origin for clause in clauses if _has(matched, clause)}


def _covered(resolved: Resolved, word: QueryWord, matched: int) -> float:
    """How much of a word's weight a hit covers, from 0.0 to 1.0."""
    notes = [resolved.notes[part] for part in word.parts]
    asked = sum(note.idf for note in notes)
    found = sum(note.value for part, note in zip(word.parts, notes, strict=True) if _has(matched, part))
    by_parts = found / asked if asked else 1.0
    if word.whole is None or not _has(matched, word.whole):
        return by_parts
    whole = resolved.notes[word.whole]
    return max(by_parts, whole.value / whole.idf)


def _has_all(resolved: Resolved, best: EngineHit) -> bool:
    """Whether a hit has every clause of the query, and each searches the query's own words."""
    if best.matched != (1 << len(resolved.notes)) - 1:
        return False
    return all(note.origin == "direct" for note in resolved.notes)


def _has(matched: int, clause: int) -> bool:
    return bool(matched >> clause & 1)
