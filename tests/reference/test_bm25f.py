"""Scores against numbers worked out by hand and against another implementation of BM25."""

import math

import bm25s  # type: ignore[import-untyped]
import pytest
from engines import (
    FINGERPRINT,
    REFERENCE,
    bitmap,
    build,
    each_engine,
    entry,
    everything,
    kbid,
    merged,
    open_files,
    plan,
    searcher,
    toy_stem,
)

from kbdb.index.api import EngineModule
from kbdb.plan import Alternative, Clause, Params, Plan, SegmentFiles
from kbdb.reference.bm25f import bm25f_impact
from kbdb.reference.container import TERMS, container_open
from kbdb.reference.terms import postings_blocks, terms_find

HAND_PARAMS = Params(k1=1.0, b=(0.5, 0.5, 0.0, 0.0, 0.0), weights=(2.0, 1.0, 1.0, 1.0, 1.0))
HAND_ENTRIES = [entry(1, "fox", "fox fox hen hen"), entry(2, "hen pen", "fox den"), entry(3, "cow")]
"""Titles have 1, 2 and 1 words, 4/3 on average; bodies 4, 2 and 0, 2 on average. Two of three hold fox."""


def scores(engine: EngineModule, query: Plan) -> dict[bytes, float]:
    segment = open_files(engine, build(engine, HAND_ENTRIES, params=HAND_PARAMS))
    found = engine.Searcher([segment], [everything(segment)], HAND_PARAMS).search(query, 10)
    return {segment.kbid(hit.entry): hit.score for hit in found.hits}


@each_engine
def test_two_fields_by_hand(engine: EngineModule) -> None:
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    assert math.log(1.6) == pytest.approx(idf)
    # Section 1: title norm 0.5 + 0.5 * 1/(4/3) = 7/8, body norm 0.5 + 0.5 * 4/2 = 3/2; x = 2/(7/8) + 2/(3/2) = 76/21.
    # Section 2: body norm 1, x = 1.
    expected = {kbid(1): math.log(1.6) * 76 / 97, kbid(2): math.log(1.6) * 1 / 2}
    assert pytest.approx(expected, rel=1e-14) == scores(engine, plan("fox"))


@each_engine
def test_clauses_add_up_and_the_best_alternative_counts(engine: EngineModule) -> None:
    query = Plan(
        (
            Clause("fox", (Alternative(("fox",)),)),
            Clause("pen", (Alternative(("den",), 0.25), Alternative(("pen",), 0.5), Alternative(("nowhere",)))),
        )
    )
    # pen: idf log(1 + 2.5/1.5), title norm 0.5 + 0.5 * 2/(4/3) = 5/4, x = 2/(5/4) = 8/5.
    pen = 0.5 * math.log(1 + 2.5 / 1.5) * (8 / 13)
    assert pytest.approx(math.log(1.6) / 2 + pen, rel=1e-14) == scores(engine, query)[kbid(2)]


@each_engine
def test_a_phrase_weighs_as_much_as_its_stems(engine: EngineModule) -> None:
    query = Plan((Clause("fox hen", (Alternative(("fox", "hen")),)),))
    # Both occur in two of three. Once in the body of section 1: norm 3/2, x = 2/3.
    assert pytest.approx({kbid(1): 2 * math.log(1.6) * 2 / 5}, rel=1e-14) == scores(engine, query)


@each_engine
def test_a_field_clause_counts_only_its_field(engine: EngineModule) -> None:
    query = Plan((Clause("fox", (Alternative(("fox",)),), field=0),))
    # x = 2/(7/8) = 16/7; the idf stays that of all fields.
    assert pytest.approx({kbid(1): math.log(1.6) * 16 / 23}, rel=1e-14) == scores(engine, query)


@each_engine
def test_what_is_not_live_does_not_count(engine: EngineModule) -> None:
    segment = open_files(engine, build(engine, HAND_ENTRIES, params=HAND_PARAMS))
    live = [number for number in range(3) if segment.kbid(number) != kbid(3)]
    of_two = engine.Searcher([segment], [bitmap(3, live)], HAND_PARAMS)
    assert (of_two.sections, of_two.totals) == (2, (3, 6, 0, 0, 0))
    # idf log(1 + 0.5/2.5); section 2's body norm is 0.5 + 0.5 * 2/3 = 5/6, x = 6/5.
    hits = of_two.search(plan("fox"), 10).hits
    assert pytest.approx(math.log(1.2) * 6 / 11, rel=1e-14) == hits[1].score


@pytest.mark.parametrize(("sections", "df", "expected"), [(0, 0, 2.0), (3, 2, 1.6), (1, 1, 4 / 3)])
@each_engine
def test_idf(engine: EngineModule, sections: int, df: int, expected: float) -> None:
    assert pytest.approx(math.log(expected), rel=1e-15) == engine.idf(sections, df)


SENTENCES = [
    "a cat is a feline and likes to purr",
    "a dog is the human's best friend and loves to play",
    "a bird is a beautiful animal that can fly",
    "a fish is a creature that lives in water and swims",
    "cat cat cat dog",
    "the fly and the fish play in the water the water",
]


@each_engine
@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (2.0, 0.0), (1.2, 1.0)])
def test_one_field_is_bm25_as_in_bm25s(engine: EngineModule, k1: float, b: float) -> None:
    corpus = [[word for _, word in REFERENCE.tokenise(sentence)] for sentence in SENTENCES]
    # The method lucene leaves out the constant factor k1 + 1, as kbdb does.
    other = bm25s.BM25(method="lucene", k1=k1, b=b)
    other.index(corpus, show_progress=False)
    one_field = Params(k1, (0.0, b, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0))
    texts = [entry(i, "", text) for i, text in enumerate(SENTENCES)]
    segment = open_files(engine, build(engine, texts, params=one_field))
    ours = engine.Searcher([segment], [everything(segment)], one_field)
    words = sorted({word for sentence in corpus for word in sentence})
    stems = dict(zip(words, toy_stem(words), strict=True))
    assert len(words) == len(set(stems.values()))
    for query in (["cat"], ["dog", "play"], ["water", "fish", "fly", "the"]):
        found = {segment.kbid(hit.entry): hit.score for hit in ours.search(plan(*(stems[w] for w in query)), 10).hits}
        expected = {kbid(i): score for i, score in enumerate(other.get_scores(query)) if score > 0}
        assert pytest.approx(expected, rel=1e-5) == found


@each_engine
def test_equal_scores_stand_in_kbid_order(engine: EngineModule) -> None:
    found = searcher(engine, [entry(i, "same") for i in range(20)]).search(plan("same"), 20)
    assert list(range(20)) == [hit.entry for hit in found.hits]
    assert len({hit.score for hit in found.hits}) == 1


@each_engine
@pytest.mark.parametrize(
    ("stem", "impact"),
    # In 255ths: fox 76/97 (199.8) in section 1; hen 8/13 (156.9) in section 2; den 1/2; pen 8/13; cow 16/23 (177.4).
    [("fox", 200), ("hen", 157), ("den", 128), ("pen", 157), ("cow", 178)],
)
def test_impacts_by_hand(engine: EngineModule, stem: str, impact: int) -> None:
    assert [impact] == impacts(build(engine, HAND_ENTRIES, params=HAND_PARAMS), stem)


@each_engine
def test_impacts_after_a_merge_are_those_of_a_build(engine: EngineModule) -> None:
    parts = [
        open_files(engine, build(engine, part, params=HAND_PARAMS)) for part in (HAND_ENTRIES[:1], HAND_ENTRIES[1:])
    ]
    whole = merged(engine, [(part, None) for part in parts], params=HAND_PARAMS)
    assert build(engine, HAND_ENTRIES, params=HAND_PARAMS) == whole


@pytest.mark.parametrize(("saturation", "impact"), [(0.0, 0), (1e-9, 1), (0.5, 128), (200 / 255, 200), (1.0, 255)])
def test_an_impact_is_rounded_up(saturation: float, impact: int) -> None:
    assert impact == bm25f_impact(saturation)


def impacts(files: SegmentFiles, stem: str) -> list[int]:
    terms = container_open(TERMS, memoryview(files.terms), FINGERPRINT, "terms.idx")
    record = terms_find(terms, stem)
    assert record is not None
    return [block.impact for block in postings_blocks(terms, record)]
