"""Corpora of which a fast path may skip most: the same hits, scores and counts to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from typing import cast

import engines
import pytest
from crowds import FILLERS, RATES, WORDS, check_searches, crowd, phrases, plans
from engines import PARAMS, Index, both, entry, live_index, needs_compiled, plan
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdb.index.api import EngineModule
from kbdb.plan import Alternative, Clause, Entry, Params, Plan

pytestmark = needs_compiled

# Both engines build the same files (test_blocks), so the fast one may.
COMPILED = cast(EngineModule, engines.COMPILED)


@pytest.fixture(scope="module")
def one() -> Index:
    """A large segment, all of it live."""
    return live_index(COMPILED, [crowd(Random(11), range(2000))])


@pytest.fixture(scope="module")
def several() -> Index:
    """A large segment with small ones behind it that replace some of its entries, and bring long ones."""
    chance = Random(12)
    parts = [crowd(chance, range(1700))]
    for number, size in enumerate((300, 129, 128, 127, 40, 7, 1, 1)):
        numbers = [
            *chance.sample(range(1700), size // 2),
            *range(2000 + 400 * number, 2000 + 400 * number + size - size // 2),
        ]
        parts.append(crowd(chance, numbers, longest=5000 if number % 2 else 40))
    return live_index(COMPILED, parts)


def where(index: Index, keep: Callable[[int, int, int], bool]) -> Index:
    """The index with only those live that ``keep`` wants: of segment, entry and the length of its body."""
    segments, _ = index.open(COMPILED)
    parts = []
    for place, (segment, (files, live)) in enumerate(zip(segments, index.parts, strict=True)):
        kept = frozenset(number for number in live if keep(place, number, segment.lengths(number)[1]))
        parts.append((files, kept))
    return replace(index, parts=tuple(parts))


def test_searches_of_a_large_segment(one: Index) -> None:
    assert check_searches(one, plans(Random(21), 12), Random(1)) > 6000


def test_phrases_in_a_large_segment(one: Index) -> None:
    assert check_searches(one, phrases(Random(22), 6), Random(2)) > 1000


@pytest.fixture(scope="module")
def swept() -> Index:
    """A segment large enough to be swept, of short entries, so that the reference has not much to read."""
    chance = Random(17)
    words = tuple(RATES)
    entries = [
        entry(
            number, chance.choice(words) if number % 9 == 0 else "", " ".join(chance.choices(words, k=1 + number % 7))
        )
        for number in range(4500)
    ]
    return live_index(COMPILED, [entries, crowd(chance, range(4400, 4600), longest=300)])


def test_searches_that_are_swept(swept: Index) -> None:
    check_searches(swept, plans(Random(25), 8), Random(9))
    check_searches(where(swept, lambda _place, number, _length: number % 90 == 0), plans(Random(26), 4), Random(10))


def test_weights_so_small_that_their_scores_are_hardly_numbers(swept: Index) -> None:
    weights = ((1e-310, 5e-324), (5e-324, 5e-324, 1e-320), (1e-310, 0.0), (1e-310, 1.0), (1e6, 1e-310, 1e-12))
    words = ("quartz", "of", "delta")
    queries = [
        Plan(tuple(Clause(word, (Alternative((word,), weight),)) for word, weight in zip(words, chosen, strict=False)))
        for chosen in weights
    ]
    check_searches(swept, iter(queries), Random(18))


def test_searches_of_several_segments(several: Index) -> None:
    assert check_searches(several, plans(Random(23), 12), Random(3)) > 6000


def test_phrases_in_several_segments(several: Index) -> None:
    assert check_searches(several, phrases(Random(24), 5), Random(4)) > 500


DRIFTS: dict[str, Callable[[int, int, int], bool]] = {
    "only the shortest": lambda _place, _number, length: length < 9,
    "only the longest": lambda _place, _number, length: length > 40,
    "one long among the short": lambda _place, number, length: length < 12 or (number % 400 == 3 and length > 30),
    "the small segments": lambda place, _number, _length: place > 0,
    "few": lambda _place, number, _length: number % 50 == 1,
    "nothing of the first": lambda place, number, _length: place > 0 or number == 5,
    "half": lambda _place, number, _length: number % 2 == 0,
    "empty bodies": lambda _place, _number, length: length == 0,
}


@pytest.mark.parametrize("name", DRIFTS)
def test_what_is_live_is_unlike_its_segments(several: Index, name: str) -> None:
    drifted = where(several, DRIFTS[name])
    seed = list(DRIFTS).index(name)
    check_searches(drifted, plans(Random(30 + seed), 4), Random(seed))
    check_searches(drifted, phrases(Random(40 + seed), 1), Random(seed))


CHOICES = {
    "no length counts": Params(1.2, (0.0,) * 5, (2.0, 1.0, 0.7, 0.9, 0.5)),
    "lengths count in full": Params(1.2, (1.0,) * 5, (2.0, 1.0, 0.7, 0.9, 0.5)),
    "the body does not count": Params(1.2, PARAMS.b, (2.0, 0.0, 0.7, 0.9, 0.5)),
    "only the body counts": Params(0.9, PARAMS.b, (0.0, 1.0, 0.0, 0.0, 0.0)),
    "nothing counts": Params(1.2, PARAMS.b, (0.0,) * 5),
    "almost no saturation": Params(1e6, PARAMS.b, (1.0,) * 5),
    "saturated at once": Params(1e-9, PARAMS.b, (1e6, 1.0, 1e-6, 1.0, 3.0)),
    "the title counts most": Params(1.5, PARAMS.b, (50.0, 1.0, 1.0, 1.0, 1.0)),
}


@pytest.mark.parametrize("name", CHOICES)
def test_other_parameters(name: str) -> None:
    seed = list(CHOICES).index(name)
    chance = Random(50 + seed)
    parts = [crowd(chance, range(400), longest=2000), crowd(chance, range(350, 450), longest=100)]
    index = live_index(COMPILED, parts, CHOICES[name])
    check_searches(index, plans(Random(60 + seed), 6), Random(seed))
    check_searches(index, phrases(Random(70 + seed), 1), Random(seed))


def test_a_saturation_that_was_0_may_be_a_number_under_other_averages() -> None:
    """With the smallest of weights it is 0 for an entry that is long in its segment, not so among what is live."""
    least = Params(1.2, (1.0,) * 5, (5e-324,) * 5)
    alike = [entry(number, "", "one two three four five six") for number in range(400)]
    short = [entry(number, "", "two") for number in range(400, 900)]
    index = live_index(COMPILED, [alike[:200], [*alike[200:], *short]], least)
    queries = [Plan((Clause("one", (Alternative(("one",), 1e6),)),))]
    check_searches(where(index, lambda _place, _number, length: length > 1), iter(queries), Random(19))


def test_equal_scores_at_the_limit_are_ordered_by_kbid_across_segments() -> None:
    """An entry of a later segment with the score of the last hit comes in when its kbid is smaller."""
    alike = [[entry(number, "same", "the same words") for number in range(first, 800, 4)] for first in range(4)]
    longer = [entry(5000 + number, "same", "the same words" + " again" * (number % 3)) for number in range(150)]
    queries = [plan("same"), plan("the", "word"), plan("same", "again"), plan("again", "the", "word", "nowhere")]
    check_searches(live_index(COMPILED, [*alike, longer]), iter(queries), Random(5))
    check_searches(live_index(COMPILED, [longer, *alike]), iter(queries), Random(6))


def test_entries_rise_and_fall_in_score() -> None:
    """Each better than all before it, and the other way round: nothing may be skipped, and nearly everything."""
    for order in (1, -1):
        entries = []
        for number in range(500):
            place = number if order > 0 else 499 - number
            item = entry(
                number, "", "rise " * (1 + number // 9) + "fall " * (number % 3) + "filler " * (250 - number // 2)
            )
            entries.append(replace(item, kbid=place.to_bytes(16, "big")))
        queries = [
            plan("rise"),
            plan("fall"),
            plan("rise", "fall"),
            plan("filler", "rise"),
            plan("rise", "fall", "filler"),
        ]
        check_searches(live_index(COMPILED, [entries]), iter(queries), Random(7))


def test_one_good_entry_among_thousands_of_poor_ones() -> None:
    def entries(first: int, best: int) -> Iterable[Entry]:
        for number in range(first, first + 700):
            poor = "common " + "filler " * (20 + number % 9)
            yield entry(number, "common rare" if number == best else "", "common" if number == best else poor)

    for best in (3, 350, 699):
        index = live_index(COMPILED, [list(entries(0, best)), list(entries(700, best + 700))])
        check_searches(index, iter([plan("common"), plan("common", "rare"), plan("filler", "common")]), Random(best))


def test_more_clauses_than_a_query_has_words() -> None:
    words = [*WORDS, *FILLERS[:40]]
    index = live_index(COMPILED, [crowd(Random(13), range(500)), crowd(Random(14), range(500, 560))])
    many = [Plan(tuple(Clause(word, (Alternative((word,)),)) for word in words[:count])) for count in (12, 30, 60)]
    twice = [plan("the", "the", "of", "the"), Plan((Clause("a", (Alternative(("the",)), Alternative(("the",), 0.5))),))]
    check_searches(index, iter([*many, *twice]), Random(8))


def test_filters_are_asked_of_both() -> None:
    index = live_index(COMPILED, [crowd(Random(15), range(600)), crowd(Random(16), range(600, 640))])

    def answers(engine: EngineModule) -> list[object]:
        segments, over = index.open(engine)
        found: list[object] = []
        for key in ("tag:True", "tag:False", "tag:7", "tag:none"):
            allowed = [segment.filter(key) for segment in segments]
            found += [over.search(query, 10, allowed) for query in plans(Random(80), 6)]
            found += [over.search(query, 10, allowed) for query in phrases(Random(81), 3)]
        return found

    both(answers)


def test_counts_and_words_agree(several: Index) -> None:
    def answers(engine: EngineModule) -> list[object]:
        _, over = several.open(engine)
        return [
            (over.sections, over.totals),
            [(over.df(word), over.word_df(word)) for word in (*WORDS, *FILLERS[::40])],
            (over.words_with_prefix("filler1", 200), over.words_containing("9", 200), over.words_near("alpha", 2, 9)),
            [over.similar(words, 0.3, 20) for words in (["the", "of", "and"], ["the", "same", "alpha", "and", "beta"])],
        ]

    both(answers)


@st.composite
def small_crowds(draw: st.DrawFn) -> Index:
    """A segment whose lists have up to three blocks, and perhaps some more; of the entries, most are live."""
    chance = Random(draw(st.integers(0, 1 << 30)))
    sizes = draw(st.sampled_from([(300,), (260, 30), (130, 130), (128, 1, 5)]))
    first, parts = 0, []
    for size in sizes:
        parts.append(crowd(chance, range(first, first + size), longest=draw(st.sampled_from([10, 300, 3000]))))
        first += size - size // 10
    built = live_index(COMPILED, parts)
    step = draw(st.sampled_from([1, 1, 2, 7]))
    live = (frozenset(number for number in part[1] if number % step == 0) for part in built.parts)
    return replace(built, parts=tuple((part[0], kept) for part, kept in zip(built.parts, live, strict=True)))


@settings(max_examples=12)
@given(small_crowds(), st.integers(0, 1 << 30))
def test_searches_of_any_crowd(index: Index, seed: int) -> None:
    check_searches(index, plans(Random(seed), 3), Random(seed))
    check_searches(index, phrases(Random(seed + 1), 1), Random(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_many_searches_of_large_indexes(seed: int) -> None:
    chance = Random(100 + seed)
    parts = [crowd(chance, range(5000), longest=20_000)]
    parts += [crowd(chance, chance.sample(range(9000), size), longest=800) for size in (700, 200, 60, 20, 5)]
    index = live_index(COMPILED, parts)
    for drifted in (index, *(where(index, keep) for keep in DRIFTS.values())):
        check_searches(drifted, plans(chance, 8), chance)
        check_searches(drifted, phrases(chance, 3), chance)


@pytest.mark.long
@settings(max_examples=60)
@given(small_crowds(), st.integers(0, 1 << 30))
def test_many_searches_of_any_crowd(index: Index, seed: int) -> None:
    check_searches(index, plans(Random(seed), 8), Random(seed))
    check_searches(index, phrases(Random(seed + 1), 4), Random(seed))
