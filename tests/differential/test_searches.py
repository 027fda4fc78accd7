"""Both searchers find, score, explain and count the same, to the last bit."""

from __future__ import annotations

from dataclasses import replace

from engines import (
    REFERENCE,
    STEMS,
    WORDS,
    Index,
    bitmap,
    both,
    corpora,
    entry,
    live_index,
    needs_compiled,
    params,
    plan,
    plans,
    toy_stem,
)
from hypothesis import given
from hypothesis import strategies as st

from kbdb.index.api import EngineModule
from kbdb.plan import EngineResult, Entry, Plan

pytestmark = needs_compiled


@st.composite
def indexes(draw: st.DrawFn) -> Index:
    """One to three segments; of the entries that count, some are live."""
    built = live_index(REFERENCE, draw(st.lists(corpora, min_size=1, max_size=3)), draw(params))
    keep = draw(st.sampled_from([lambda n: n >= 0, lambda n: n % 2 == 0, lambda n: n % 3 > 0, lambda n: n < 0]))
    return replace(built, parts=tuple((files, frozenset(filter(keep, live))) for files, live in built.parts))


@given(indexes(), plans, st.integers(0, 12), st.none() | st.integers(1, 3))
def test_hits_scores_totals_and_shares(index: Index, query: Plan, limit: int, narrowed: int | None) -> None:
    def answer(engine: EngineModule) -> tuple[EngineResult, object]:
        segments, over = index.open(engine)
        allowed = None
        if narrowed is not None:
            allowed = [bitmap(segment.sections, range(0, segment.sections, narrowed)) for segment in segments]
        shares = [
            over.explain(query, place, number)
            for place, segment in enumerate(segments)
            for number in range(segment.sections)
        ]
        return over.search(query, limit, allowed), (shares, over.rank(query, limit), over.sections, over.totals)

    both(answer)


@given(indexes(), plans)
def test_shares_added_in_order_are_the_score(index: Index, query: Plan) -> None:
    def check(engine: EngineModule) -> None:
        _, over = index.open(engine)
        for hit in over.search(query, 100).hits:
            shares = over.explain(query, hit.segment, hit.entry)
            score = 0.0
            for share in shares:
                assert (share.weight * share.idf) * share.saturation == share.value
                score = score + share.value
            assert score == hit.score
            assert hit.matched == sum(1 << share.clause for share in shares)

    both(check)


@given(indexes(), st.sampled_from(WORDS) | st.text(max_size=4), st.integers(1, 4), st.integers(0, 30))
def test_words(index: Index, word: str, distance: int, limit: int) -> None:
    def answer(engine: EngineModule) -> list[object]:
        _, over = index.open(engine)
        return [
            over.df(toy_stem([word])[0]),
            over.word_df(word),
            over.words_of(toy_stem([word])[0]),
            over.words_with_prefix(word[:2], limit),
            over.words_containing(word[:1], limit),
            over.words_near(word, distance, limit),
        ]

    both(answer)


@given(indexes())
def test_document_frequencies(index: Index) -> None:
    def answer(engine: EngineModule) -> list[object]:
        _, over = index.open(engine)
        words = [(word, over.word_df(word)) for word, _ in over.words_with_prefix("", 10**6)]
        assert words == over.words_with_prefix("", 10**6)
        return [[over.df(stem) for stem in STEMS], words]

    both(answer)


@given(
    indexes(), st.lists(st.sampled_from(STEMS), max_size=8), st.sampled_from([0.01, 0.25, 0.5, 1.0]), st.integers(0, 20)
)
def test_similar(index: Index, stems: list[str], threshold: float, limit: int) -> None:
    both(lambda engine: index.open(engine)[1].similar(stems, threshold, limit))


@given(indexes(), st.sampled_from([0.01, 0.25, 0.5, 1.0]), st.integers(0, 20))
def test_similar_to_entries(index: Index, threshold: float, limit: int) -> None:
    def answer(engine: EngineModule) -> list[object]:
        segments, over = index.open(engine)
        numbers = [range(segment.sections) for segment in segments]
        found = [over.similar_to(place, entries, threshold, limit) for place, entries in enumerate(numbers)]
        assert [hits[1::2] for hits in found] == [
            over.similar_to(place, entries[1::2], threshold, limit) for place, entries in enumerate(numbers)
        ]
        return list(found)

    both(answer)


def test_the_same_kbid_live_in_two_segments_is_ordered_by_segment() -> None:
    index = Index(tuple((live_index(REFERENCE, [[entry(1, "same")]]).parts[0]) for _ in range(3)))
    found = both(lambda engine: index.open(engine)[1].search(plan("same"), 5))
    assert isinstance(found, EngineResult)
    assert [hit.segment for hit in found.hits] == [0, 1, 2]


def crowd(count: int) -> list[Entry]:
    """Enough entries, of very different lengths and frequencies, that a fast path must choose among them."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon"]
    made = []
    for i in range(count):
        repeats = [(i * (j + 3) * 7919 >> 3) % 5 if i % (j + 2) == 0 else 0 for j in range(5)]
        body = " ".join(word for word, often in zip(words, repeats, strict=True) for _ in range(often))
        made.append(entry(i, words[i % 5] if i % 11 == 0 else "title", body + " filler" * (i * i % 97)))
    return made


def test_a_crowd_is_ranked_the_same_at_every_limit() -> None:
    files = live_index(REFERENCE, [crowd(2500), crowd(300)])

    def answer(engine: EngineModule) -> list[object]:
        _, over = files.open(engine)
        queries = ["alpha", "alpha beta title", "gamma delta epsilon filler nowhere", "filler"]
        limits = (0, 1, 2, 10, 100, 1000, 5000)
        return [over.search(plan(*query.split()), limit) for query in queries for limit in limits]

    both(answer)
