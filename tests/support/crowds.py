"""Corpora in which lists have several blocks, plans for them, and what the fast engine must answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from engines import COMPILED, REFERENCE, Index, bitmap, entry

from kbdb.plan import FIELDS, TOTAL_LIMIT, Alternative, Clause, EngineHit, EngineResult, Entry, Plan

RATES = {
    **{"the": 0.97, "of": 0.85, "and": 0.7, "to": 0.5},
    **{"alpha": 0.35, "beta": 0.2, "gamma": 0.12, "delta": 0.06},
    **{"quartz": 0.02, "onyx": 0.01, "opal": 0.004, "jade": 0.002},
}
"""In how many of the entries a word stands; the first are as frequent as stop words."""

COLLOCATIONS = (
    ("of", "the"),
    ("out", "of", "the"),
    ("new", "york", "city", "hall"),
    ("alpha", "and", "onyx"),
    ("the", "quartz", "of", "the"),
    ("to", "the", "opal"),
    ("and", "and", "and"),
)
"""Words that stand together in some entries; phrases ask for them, and for parts of them."""

WORDS = (*RATES, "out", "new", "york", "city", "hall", "nowhere")
FILLERS = tuple(f"filler{number}" for number in range(400))


def crowd(chance: Random, numbers: Sequence[int], longest: int = 5000) -> list[Entry]:
    """One entry for each number, with bodies of nothing to ``longest`` words, some of them alike."""
    made = []
    for place, number in enumerate(numbers):
        if place % 19 == 7:
            made.append(entry(number, "alike", "the same alpha and beta of the others"))
            continue
        title = " ".join(chance.choices(WORDS, k=chance.choice((0, 1, 2, 4))))
        others = [" ".join(chance.choices(WORDS, k=chance.choice((0, 0, 0, 0, 1, 3)))) for _ in range(3)]
        filters = [f"tag:{place % 10 < 9}", f"tag:{place % 100}"]
        made.append(entry(number, title, _body(chance, _length(chance, longest)), *others, filters=filters))
    return made


def _length(chance: Random, longest: int) -> int:
    """Most bodies are short, of about every hundredth the length has a code above 64, of a few one above 200."""
    if chance.random() < 0.001:
        return longest
    return chance.choice((0, 2, 5, 12, 30)) if chance.random() < 0.98 else chance.randrange(64, max(65, longest // 10))


def _body(chance: Random, length: int) -> str:
    parts = [[word] * _often(chance) for word, rate in RATES.items() if chance.random() < rate]
    parts += [[filler] for filler in chance.choices(FILLERS, k=length)]
    words = [word for part in parts for word in part]
    chance.shuffle(words)
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        at = chance.randint(0, len(words))
        words[at:at] = chance.choice(COLLOCATIONS)
    return " ".join(words)


def _often(chance: Random) -> int:
    """Frequencies with a code of their own, and higher ones."""
    return chance.choice((1, 1, 1, 1, 2, 2, 3, 4, 9)) if chance.random() < 0.99 else 300


def plans(chance: Random, count: int) -> Iterator[Plan]:
    """Queries of 1 to 12 words: every other of words that all may match, as people ask, the others of all there is."""
    for number in range(count):
        size = chance.choice((1, 1, 2, 2, 3, 3, 4, 6, 8, 12))
        # Every third asks for frequent words only, every third for any, every third for any with a rare one.
        pool = tuple(RATES)[:5] if number % 3 == 0 else WORDS
        clauses = [_word(chance, pool) if number % 2 else _clause(chance, pool) for _ in range(size)]
        if number % 3 == 2:
            clauses.append(_word(chance, ("onyx", "opal", "jade")))
        yield Plan(tuple(clauses))


def phrases(chance: Random, count: int) -> Iterator[Plan]:
    """Queries of one or two phrases of 2 to 4 words, alone or with other words."""
    for _ in range(count):
        clauses = [
            Clause("phrase", (Alternative(_phrase(chance)),), _kind(chance)) for _ in range(chance.choice((1, 1, 2)))
        ]
        clauses += [_clause(chance, WORDS) for _ in range(chance.choice((0, 0, 1, 3)))]
        yield Plan(tuple(clauses))


def _word(chance: Random, pool: Sequence[str]) -> Clause:
    return Clause("word", (Alternative((chance.choice(pool),), chance.choice((1.0, 1.0, 1.0, 2.0, 0.1, 0.0))),))


def _clause(chance: Random, pool: Sequence[str]) -> Clause:
    weights = (1.0, 1.0, 1.0, 0.5, 0.1, 0.0)
    stems = [(chance.choice(pool),) for _ in range(chance.choice((1, 1, 1, 1, 2, 3)))]
    found = [Alternative(stem, chance.choice(weights) if place else 1.0) for place, stem in enumerate(stems)]
    if chance.random() < 0.1:
        found.append(Alternative(_phrase(chance), chance.choice(weights)))
    field = chance.randrange(len(FIELDS)) if chance.random() < 0.1 else None
    return Clause("word", tuple(found), _kind(chance), field)


def _kind(chance: Random) -> str:
    return chance.choice(("should",) * 10 + ("must", "must", "must_not"))


def _phrase(chance: Random) -> tuple[str, ...]:
    words = chance.choice(COLLOCATIONS)
    if chance.random() < 0.3:
        return tuple(chance.choices(tuple(RATES), k=chance.choice((2, 2, 3, 4))))
    first = chance.randint(0, len(words) - 2)
    return words[first : chance.randint(first + 2, len(words))]


def check_searches(index: Index, queries: Iterator[Plan], chance: Random) -> int:
    """The compiled engine answers at every limit and with every filter what the reference's whole ranking says.

    Returns:
        How many hits there were in all.
    """
    assert COMPILED is not None
    segments, slow = index.open(REFERENCE)
    _, fast = index.open(COMPILED)
    found = 0
    for query in queries:
        ranking = slow.search(query, 1 << 30).hits
        found += len(ranking)
        for allowed in (None, *_filters(chance, [segment.sections for segment in segments])):
            hits = ranking if allowed is None else tuple(hit for hit in ranking if _has(allowed, hit))
            for limit in (0, 1, 10, 100, len(hits) + 1):
                total = min(len(hits), TOTAL_LIMIT)
                expected = EngineResult(hits[:limit], total, len(hits) <= TOTAL_LIMIT)
                assert expected == fast.search(query, limit, allowed), (query, limit)
        for hit in chance.sample(ranking, min(len(ranking), 2)):
            assert slow.explain(query, hit.segment, hit.entry) == fast.explain(query, hit.segment, hit.entry), query
    return found


def _filters(chance: Random, sizes: Sequence[int]) -> Iterator[list[bytes]]:
    """That allow most entries, few, one segment only, a run of neighbours, and one entry."""
    for rate in (0.9, 0.02):
        yield [bitmap(size, [number for number in range(size) if chance.random() < rate]) for size in sizes]
    only = chance.randrange(len(sizes))
    yield [bitmap(size, range(size) if place == only else ()) for place, size in enumerate(sizes)]
    yield [bitmap(size, range(size // 3, size // 2)) for size in sizes]
    yield [bitmap(size, [chance.randrange(size)] if place == only else ()) for place, size in enumerate(sizes)]


def _has(allowed: Sequence[bytes], hit: EngineHit) -> bool:
    return bool(allowed[hit.segment][hit.entry >> 3] >> (hit.entry & 7) & 1)
