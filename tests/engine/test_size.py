"""The compiled engine where generated corpora are too small to reach, against the reference: pages of tables,
long bodies, frequent stems, many blocks of entries, sets of stems with bitmaps.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import cast

import pytest
from engines import (
    COMPILED,
    PARAMS,
    REFERENCE,
    bitmap,
    build,
    entry,
    needs_compiled,
    open_files,
)

from kbdb.index.api import EngineModule, Searcher, Segment
from kbdb.plan import Alternative, Clause, Entry, Plan, SegmentFiles

pytestmark = needs_compiled

ENGINE = cast(EngineModule, COMPILED)
VOCABULARY = [f"w{number}" for number in range(3000)]


def text(chance: random.Random, length: int) -> str:
    """Words of which few are frequent and most are rare."""
    return " ".join(VOCABULARY[min(int(chance.paretovariate(0.4)) - 1, 2999)] for _ in range(length))


def entries() -> Iterator[Entry]:
    """Some hundreds of sections, one with a very long body, every seventh almost like the one before."""
    chance = random.Random(5)
    body = ""
    for number in range(420):
        length = 6000 if number == 11 else chance.randrange(60)
        body = f"{body} w{number}" if number % 7 == 6 else text(chance, length)
        filters = [f"tag:{number % 3}", f"doc:{number}"]
        yield entry(number, text(chance, 3), body, text(chance, number % 5), filters=filters, stored=b"x" * number)


@pytest.fixture(scope="module")
def files() -> SegmentFiles:
    """Built by the compiled engine, after a look that the reference makes the same."""
    made = build(ENGINE, entries())
    assert made == build(REFERENCE, entries())
    return made


@pytest.fixture(scope="module", params=["all", "most", "few"])
def pair(
    request: pytest.FixtureRequest, files: SegmentFiles
) -> tuple[tuple[Segment, Searcher], tuple[Segment, Searcher]]:
    """The two engines' segments and searchers, with all, most or few entries live."""
    step = {"all": 1, "most": 1, "few": 9}[request.param]
    first = 1 if request.param == "most" else 0
    live = bitmap(420, range(first, 420, step))
    opened = []
    for engine in (ENGINE, REFERENCE):
        segment = open_files(engine, files)
        opened.append((segment, engine.Searcher([segment], [live], PARAMS)))
    return opened[0], opened[1]


Pair = tuple[tuple[Segment, Searcher], tuple[Segment, Searcher]]


def test_verification_finds_nothing(pair: Pair) -> None:
    for segment, _ in pair:
        segment.verify()


def test_searches_agree(pair: Pair) -> None:
    (_, compiled), (_, reference) = pair
    chance = random.Random(6)
    for size in (1, 1, 2, 3, 6):
        for _ in range(6):
            stems = [VOCABULARY[min(int(chance.paretovariate(0.4)) - 1, 2999)] for _ in range(size)]
            phrase = Clause("p", (Alternative((stems[0], stems[-1])), Alternative((stems[0],), 0.25)))
            plan = Plan((*(Clause(stem, (Alternative((stem,)),)) for stem in stems), phrase))
            assert compiled.search(plan, 30) == reference.search(plan, 30)
            assert compiled.explain(plan, 0, 11) == reference.explain(plan, 0, 11)


def test_conditions_agree(pair: Pair) -> None:
    (segment, compiled), (_, reference) = pair
    allowed = [segment.filter("tag:1")]
    for kinds in (("must", "should"), ("must", "must_not"), ("must_not",), ("must_not", "must_not"), ()):
        clauses = [Clause("c", (Alternative((f"w{place}",)),), kind) for place, kind in enumerate(kinds)]
        plan = Plan(tuple(clauses))
        for limit in (0, 5, 1000):
            assert compiled.search(plan, limit, allowed) == reference.search(plan, limit, allowed)


def test_near_duplicates_agree(pair: Pair) -> None:
    (segment, compiled), (_, reference) = pair
    found = 0
    for item in list(entries())[::5]:
        stems = sorted({word for field in item.fields[:2] for _, word in ENGINE.tokenise(field)})
        for threshold in (0.2, 0.85, 1.0):
            similar = compiled.similar(stems, threshold, 50)
            assert similar == compiled.similar(stems, threshold, 50)
            assert similar == reference.similar(stems, threshold, 50)
            found += len(similar)
    assert found > 100
    assert segment.sections == 420


def test_words_agree(pair: Pair) -> None:
    (_, compiled), (_, reference) = pair
    assert compiled.words_with_prefix("w1", 40) == reference.words_with_prefix("w1", 40)
    assert compiled.words_containing("99", 40) == reference.words_containing("99", 40)
    assert compiled.words_near("w123", 1, 40) == reference.words_near("w123", 1, 40)
    for number in range(0, 3000, 100):
        assert compiled.word_df(f"w{number}") == reference.word_df(f"w{number}")
