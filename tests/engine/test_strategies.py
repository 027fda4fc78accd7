"""Whatever way a search goes, it finds what adding up everything finds.

A whole ranking is always added up (its limit lets no entry be skipped), and the differential tests compare that with
the reference; the best few of many thousands come from a sweep of bounds or from the blocks of the largest impacts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from crowds import COLLOCATIONS, FILLERS, WORDS, crowd
from engines import COMPILED, PARAMS, bitmap, build, needs_compiled, open_files

from kbdb.index.api import Searcher, Segment
from kbdb.plan import TOTAL_LIMIT, Alternative, Clause, Plan

pytestmark = needs_compiled

EVERYTHING = 1 << 30
SIZES = (26_000, 5_000, 90)

Live = Callable[[int, int], bool]


@pytest.fixture(scope="module")
def segments() -> list[Segment]:
    assert COMPILED is not None
    chance = Random(31)
    starts = [sum(SIZES[:place]) for place in range(len(SIZES))]
    numbers = [range(start, start + size) for start, size in zip(starts, SIZES, strict=True)]
    return [open_files(COMPILED, build(COMPILED, crowd(chance, part, longest=900))) for part in numbers]


def searcher(segments: list[Segment], live: Live) -> Searcher:
    assert COMPILED is not None
    bitmaps = [
        bitmap(
            segment.sections, [number for number in range(segment.sections) if live(number, segment.lengths(number)[1])]
        )
        for segment in segments
    ]
    return COMPILED.Searcher(segments, bitmaps, PARAMS)


def stems(chance: Random) -> Iterator[Plan]:
    """Queries of 1 to 12 stems, of all frequencies, any of which may match."""
    for size in (1, 1, 2, 2, 3, 3, 5, 8, 12, 1, 2, 4):
        words = dict.fromkeys([*chance.choices(WORDS, k=size), *chance.choices(FILLERS, k=size // 3)])
        weights = [chance.choice((1.0, 1.0, 1.0, 3.0, 0.01)) for _ in words]
        yield Plan(
            tuple(Clause(word, (Alternative((word,), weight),)) for word, weight in zip(words, weights, strict=True))
        )


def phrases(chance: Random) -> Iterator[Plan]:
    """Phrases that stand in many entries, in few and in none."""
    for words in COLLOCATIONS:
        start = chance.randrange(len(words) - 1)
        for row in (words, words[start : start + 2]):
            field = chance.choice((None, None, 1, 0))
            yield Plan((Clause(" ".join(row), (Alternative(row, chance.choice((1.0, 0.5))),), "must", field),))


LIVE: dict[str, Live] = {
    "all": lambda _number, _length: True,
    "all but some": lambda number, _length: number % 37 != 5,
    "only long ones": lambda _number, length: length > 40,
    "only short ones": lambda _number, length: length < 6,
    "a few": lambda number, _length: number % 400 == 9,
    "a stretch": lambda number, _length: 4000 < number < 13_000,
}


@pytest.mark.parametrize("simd", ["", "portable"])
@pytest.mark.parametrize("name", LIVE)
def test_the_best_few_are_the_first_of_all(
    segments: list[Segment], name: str, simd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBDB_SIMD", simd)
    asked = searcher(segments, LIVE[name])
    chance = Random(f"{name} {simd}")
    filters = [
        None,
        [bitmap(size, [number for number in range(size) if chance.random() < 0.3]) for size in SIZES],
        [bitmap(size, range(size // 2, min(size, size // 2 + 50))) for size in SIZES],
    ]
    found = 0
    for plan in (*stems(chance), *phrases(chance)):
        for allowed in filters:
            whole = asked.search(plan, EVERYTHING, allowed)
            assert whole.total == min(len(whole.hits), TOTAL_LIMIT)
            for limit in (1, 10, 100):
                some = asked.search(plan, limit, allowed)
                assert whole.hits[:limit] == some.hits, (plan, limit)
                assert (whole.total, whole.total_is_exact) == (some.total, some.total_is_exact), (plan, limit)
                if allowed is None:
                    assert asked.rank(plan, limit) == [(hit.kbid, hit.score) for hit in some.hits], (plan, limit)
            found += len(whole.hits)
    assert found > 0
