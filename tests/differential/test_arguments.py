"""Arguments that no engine takes: both refuse them with the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf, nan

import pytest
from engines import (
    FINGERPRINT,
    PARAMS,
    REFERENCE,
    bitmap,
    both,
    build,
    entry,
    everything,
    merged,
    needs_compiled,
    open_files,
    toy_stem,
)

from kbdb.errors import InvalidArgumentError
from kbdb.index.api import Builder, EngineModule, Searcher, Segment
from kbdb.index.in_memory import in_memory
from kbdb.plan import MAX_CLAUSES, Alternative, Clause, Entry, Params, Plan

pytestmark = needs_compiled

FILES = build(REFERENCE, [entry(i, "some words here") for i in range(3)])
WORD = Clause("word", (Alternative(("word",)),))


def refused(call: Callable[[EngineModule], object]) -> None:
    answer = both(call)
    assert isinstance(answer, tuple)
    assert answer[0] is InvalidArgumentError
    assert answer[1]


@pytest.mark.parametrize("fingerprint", [-1, 1 << 64])
def test_fingerprints(fingerprint: int) -> None:
    refused(lambda engine: engine.Builder(fingerprint, PARAMS))
    refused(
        lambda engine: engine.Segment(
            FILES.terms, FILES.positions, FILES.corpus, FILES.references, fingerprint=fingerprint
        )
    )


@pytest.mark.parametrize(
    "wrong",
    [
        replace(entry(9), kbid=b"short"),
        replace(entry(9), fields=("a", "b")),  # type: ignore[arg-type]
        replace(entry(9), fields=("a", "b", "\ud800", "d", "e")),
        replace(entry(9), filters=("b", "a")),
        replace(entry(9), filters=("a", "a")),
        replace(entry(9), filters=("",)),
        replace(entry(9), references=("\ud800",)),
    ],
)
def test_a_wrong_entry_is_refused_and_leaves_no_trace(wrong: Entry) -> None:
    refused(lambda engine: engine.Builder(FINGERPRINT, PARAMS).add(wrong))

    def after(engine: EngineModule) -> object:
        builder = engine.Builder(FINGERPRINT, PARAMS)
        with pytest.raises(InvalidArgumentError):
            builder.add(wrong)
        builder.add(entry(1, "right"))
        return builder.finish(toy_stem)

    assert build(REFERENCE, [entry(1, "right")]) == both(after)


def test_a_kbid_added_before_is_refused_and_leaves_no_trace() -> None:
    def twice(engine: EngineModule) -> object:
        builder = engine.Builder(FINGERPRINT, PARAMS)
        builder.add(entry(1, "first"))
        builder.add(entry(1, "second"))
        return None

    def merged_twice(engine: EngineModule) -> object:
        parts = [open_files(engine, FILES), open_files(engine, build(engine, [entry(2, "first")]))]
        return merged(engine, [(part, None) for part in parts])

    def after(engine: EngineModule) -> object:
        builder = engine.Builder(FINGERPRINT, PARAMS)
        builder.add(entry(2, "first"))
        with pytest.raises(InvalidArgumentError):
            builder.add(entry(2, "second"))
        return builder.finish(toy_stem)

    refused(twice)
    refused(merged_twice)
    assert build(REFERENCE, [entry(2, "first")]) == both(after)


@pytest.mark.parametrize(
    "stem",
    [
        lambda words: words[1:],
        lambda words: [*words, "more"],
        lambda words: ["" for _ in words],
        lambda words: ["\ud800" for _ in words],
    ],
)
def test_wrong_stems(stem: Callable[[list[str]], list[str]]) -> None:
    def call(engine: EngineModule) -> object:
        builder = engine.Builder(FINGERPRINT, PARAMS)
        builder.add(entry(1, "some words"))
        return builder.finish(stem)

    refused(call)


def test_a_builder_that_made_its_segment_takes_nothing_more() -> None:
    def spent(engine: EngineModule) -> Builder:
        builder = engine.Builder(FINGERPRINT, PARAMS)
        builder.add(entry(1, "one"))
        builder.finish(toy_stem)
        return builder

    refused(lambda engine: spent(engine).add(entry(2, "two")))
    refused(lambda engine: spent(engine).remove(entry(2).kbid))
    refused(lambda engine: spent(engine).finish(toy_stem))


OF_SEGMENT: list[Callable[[Segment], object]] = [
    lambda segment: segment.kbid(3),
    lambda segment: segment.kbid(-1),
    lambda segment: segment.stored(3),
    lambda segment: segment.lengths(1 << 40),
    lambda segment: segment.distinct(-1),
    lambda segment: segment.find(b"short"),
    lambda segment: segment.filter("\ud800"),
    lambda segment: segment.filter_keys("\ud800"),
    lambda segment: segment.filter_keys("", "\ud800"),
    lambda segment: segment.filter_keys("", limit=-1),
    lambda segment: segment.references("\ud800"),
    lambda segment: segment.reference_keys("\ud800"),
]


@pytest.mark.parametrize("call", OF_SEGMENT)
def test_segments(call: Callable[[Segment], object]) -> None:
    refused(lambda engine: call(open_files(engine, FILES)))


def merge(engine: EngineModule, keeps: list[bytes], removed: Iterable[bytes] = ()) -> object:
    parts = [open_files(engine, FILES)]
    return in_memory(lambda into: engine.merge(parts, keeps, removed, fingerprint=1, params=PARAMS, into=into))


@pytest.mark.parametrize("keep", [b"", b"\7\0", b"\x0f"], ids=["short", "long", "past"])
def test_bitmaps(keep: bytes) -> None:
    refused(lambda engine: merge(engine, [keep]))
    refused(lambda engine: merge(engine, []))
    refused(lambda engine: merge(engine, [b"\7"], [b"short"]))
    refused(lambda engine: engine.Builder(1, PARAMS).remove(b"short"))
    refused(lambda engine: engine.Searcher([open_files(engine, FILES)], [keep], PARAMS))
    refused(lambda engine: engine.Searcher([open_files(engine, FILES)], [], PARAMS))
    refused(lambda engine: over(engine).search(Plan((WORD,)), 1, [keep]))
    refused(lambda engine: over(engine).search(Plan((WORD,)), 1, [b"\7", b"\7"]))


@pytest.mark.parametrize(
    "wrong",
    [
        replace(PARAMS, k1=0.0),
        replace(PARAMS, k1=nan),
        replace(PARAMS, b=(0.5, 0.5, 0.5, 0.5, 1.5)),
        replace(PARAMS, weights=(1.0, -0.5, 1.0, 1.0, 1.0)),
        replace(PARAMS, weights=(1.0, inf, 1.0, 1.0, 1.0)),
        replace(PARAMS, weights=(1.0,)),  # type: ignore[arg-type]
    ],
)
def test_params(wrong: Params) -> None:
    refused(lambda engine: over(engine, wrong))
    refused(lambda engine: engine.Builder(FINGERPRINT, wrong))
    refused(lambda engine: engine.Builder(-1, wrong))


def over(engine: EngineModule, params: Params = PARAMS) -> Searcher:
    segment = open_files(engine, FILES)
    return engine.Searcher([segment], [everything(segment)], params)


@pytest.mark.parametrize(
    "clauses",
    [
        (WORD,) * (MAX_CLAUSES + 1),
        (WORD._replace(kind="may"),),  # type: ignore[arg-type]
        (WORD._replace(field=5),),
        (WORD._replace(field=-1),),
        (WORD._replace(alternatives=()),),
        (Clause("", (Alternative(()),)),),
        (Clause("", (Alternative(("a", "")),)),),
        (Clause("", (Alternative(("\ud800",)),)),),
        (WORD, Clause("", (Alternative(("a",), -1.0),))),
        (Clause("", (Alternative(("a",), nan),)),),
        (Clause("", (Alternative(("a",), inf),)),),
    ],
    ids=range(11),
)
def test_plans(clauses: tuple[Clause, ...]) -> None:
    refused(lambda engine: over(engine).search(Plan(clauses), 1))
    refused(lambda engine: over(engine).rank(Plan(clauses), 1))
    refused(lambda engine: over(engine).explain(Plan(clauses), 0, 0))


OF_SEARCHER: list[Callable[[Searcher], object]] = [
    lambda searcher: searcher.search(Plan((WORD,)), -1),
    lambda searcher: searcher.rank(Plan((WORD,)), -1),
    lambda searcher: searcher.explain(Plan((WORD,)), 1, 0),
    lambda searcher: searcher.explain(Plan((WORD,)), 0, 3),
    lambda searcher: searcher.df("\ud800"),
    lambda searcher: searcher.word_df("\ud800"),
    lambda searcher: searcher.words_of("\ud800"),
    lambda searcher: searcher.words_with_prefix("\ud800", 1),
    lambda searcher: searcher.words_with_prefix("\ud800", -1),
    lambda searcher: searcher.words_containing("a", -1),
    lambda searcher: searcher.words_near("a", 0, 1),
    lambda searcher: searcher.words_near("\ud800", 9, -1),
    lambda searcher: searcher.words_near("a", 9, -1),
    lambda searcher: searcher.similar(["\ud800"], 0.5, 1),
    lambda searcher: searcher.similar([], 0.0, 1),
    lambda searcher: searcher.similar([], nan, 1),
    lambda searcher: searcher.similar([], 0.5, -1),
    lambda searcher: searcher.similar_to(1, [], 0.5, 1),
    lambda searcher: searcher.similar_to(0, [0, 3], 0.5, 1),
    lambda searcher: searcher.similar_to(0, [], 0.0, 1),
    lambda searcher: searcher.similar_to(0, [], 0.5, -1),
]


@pytest.mark.parametrize("call", OF_SEARCHER, ids=range(len(OF_SEARCHER)))
def test_searchers(call: Callable[[Searcher], object]) -> None:
    refused(lambda engine: call(over(engine)))


@pytest.mark.parametrize(("sections", "df"), [(1, 2), (-1, -1), (1 << 32, 0)])
def test_idf(sections: int, df: int) -> None:
    refused(lambda engine: engine.idf(sections, df))


def test_a_plan_may_have_as_many_clauses_as_a_mask_has_bits() -> None:
    plan = Plan(tuple(Clause("", (Alternative(("some",), i / 64),)) for i in range(MAX_CLAUSES)))
    found = both(lambda engine: over(engine).search(plan, 1, [bitmap(3, [1])]))
    assert [hit.matched for hit in found.hits] == [2**64 - 1]  # type: ignore[union-attr]
