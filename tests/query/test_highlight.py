"""Terms found again in the text as it is."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_store import Store, make_store

from kbdb.query.highlight import Matcher


@pytest.fixture(scope="module")
def wide() -> Store:
    return make_store(
        [
            ("a", "running foo_bar straße naïve ﬁne カﾞ データベース 数据库 ไทย ภาษา can't run поиск"),
            ("b", "e\u0301te\u0301 ｶﾞｲﾄﾞ co\u00adoperate İstanbul"),
        ]
    )


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("run", "She RUNS, running; the rerun.", ["RUNS", "running"]),
        ("foo", "foo_bar fooBar football", ["foo", "foo"]),
        ("bar", "rebar fooBar bar.", ["Bar", "bar"]),
        ("foo_bar", "see foo_bar", ["foo", "bar", "foo_bar"]),
        ('"foo bar"', "foo, then bar; foo_bar foo bar", ["foo_bar", "foo bar"]),
        ('"数据库"', "数据 数据库", ["数据库"]),
        ("数据库", "中数据库数据", ["数据", "据库", "数据"]),
        ("据", "中数据库", ["据"]),
        ("strasse", "Die STRAẞE, die Straße", ["STRAẞE", "Straße"]),
        ("naive", "naive", []),
        ("naïve", "NAI\u0308VE", ["NAI\u0308VE"]),
        ("fine", "ﬁne", ["ﬁne"]),
        ("été", "E\u0301te\u0301 été", ["E\u0301te\u0301", "été"]),
        ("ガイド", "半角ｶﾞｲﾄﾞ", ["ｶﾞｲ", "ｲﾄﾞ"]),
        ("cooperate", "co\u00adoperate", ["co\u00adoperate"]),
        ("can't", "I can\u2019t", ["can\u2019t"]),
        ("поиск", "ПОИСКА", ["ПОИСКА"]),
        ("ไทย", "ภาษาไทย", ["ไท", "ทย"]),
        ("-run", "run", []),
        ("zzzz", "zzz", []),
    ],
)
def test_spans(wide: Store, query: str, text: str, marked: list[str]) -> None:
    assert sorted(marked) == sorted(text[span.start : span.end] for span in wide.matcher(query).spans(text))


def test_expansions_are_marked(store: Store) -> None:
    spans = store.matcher("k8s kuberxetes").spans("Kubernetes")
    assert {(span.start, span.end) for span in spans} == {(0, 10)}


TEXT_PIECES = [
    "ガイド",
    "ｶﾞｲﾄﾞ",
    "Running",
    "fooBar",
    "foo.bar-run",
    "数据库",
    "数",
    "第数章",
    "STRASSE",
    "straße",
    "été",
    "E\u0301TE\u0301",
]
SEPARATORS = [" ", "\n", "，", "…", ", ", "中", "ﬁ ", "İ ", "\u00ad "]


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["run foo_bar", '"foo bar" 数', "strasse été naïve", "数据库 ガイド", "can't ไทย поиск"]),
    st.lists(st.sampled_from([*TEXT_PIECES, *SEPARATORS]) | st.text(max_size=3)),
)
def test_spans_lie_in_any_text(wide: Store, query: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    for span in wide.matcher(query).spans(text):
        assert 0 <= span.start <= span.end <= len(text)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*TEXT_PIECES, "ไทย", "can\u2019t", "ПОИСКА"]), st.sampled_from(SEPARATORS))))
def test_a_clause_has_spans_just_where_the_analysis_finds_its_stem(wide: Store, pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + separator for piece, separator in pieces)
    resolved = wide.resolve("run foo_bar 数据库 strasse été ガイド ไทย can't поиск")
    stems = wide.stems_in(text)
    expected = {
        number for number, clause in enumerate(resolved.plan.clauses) if stems & set(clause.alternatives[0].stems)
    }
    matcher = wide.matcher("run foo_bar 数据库 strasse été ガイド ไทย can't поиск")
    assert expected == {span.clause for span in matcher.spans(text)}


ASCII_PIECES = ["run", "Running", "RUNS", "rerun", "runner", "fooBar", "foo_bar", "foo", "bar2", "utf8Decode"]
ASCII_PIECES += ["HTTPServer", "run's", "'run'", "_run_", "run.", "a", "A", "x" * 150, "x" * 144 + "run"]
ASCII_SEPARATORS = [" ", "\n", ", ", ".", "-", "_", "/", ":", "::", "'", "(", "**", ""]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ASCII_PIECES), st.sampled_from(ASCII_SEPARATORS)), max_size=8))
def test_in_ascii_text_a_stem_has_a_span_for_each_of_its_words(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + separator for piece, separator in pieces)
    known = make_store([("a", text), ("b", "run foo bar a decode server http utf8")])
    resolved = known.resolve("run foo bar decode server http utf8")
    lexicon = known.lexicon
    spans = Matcher(resolved, lexicon.analysis, lexicon.words_of).spans(text)
    assert spans == known.matcher("run foo bar decode server http utf8").spans(text)
    expected = Counter(lexicon.analysis.stem_of(word) for _, word in known.engine.tokenise(text))
    found = Counter(resolved.plan.clauses[span.clause].alternatives[0].stems[0] for span in spans)
    assert found == {stem: count for stem, count in expected.items() if stem in found}
    assert found.keys() == expected.keys() & {clause.alternatives[0].stems[0] for clause in resolved.plan.clauses}


PHRASE_PIECES = [*ASCII_PIECES, "run foo", "runFoo", "run_foo bar", "foo -- bar", "fooRunning", "bar"]


@settings(deadline=None)
@given(
    st.sampled_from(["foo bar", "run foo", "run run", "bar foo_bar", "utf8 decode", "a run"]),
    st.lists(st.tuples(st.sampled_from(PHRASE_PIECES), st.sampled_from(ASCII_SEPARATORS)), max_size=12),
)
def test_a_phrase_alone_stands_where_it_stands_beside_others(phrase: str, pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + separator for piece, separator in pieces)
    known = make_store([("a", text), ("b", "run foo bar a run run decode server http utf8 decode foo_bar bar foo_bar")])
    alone = known.matcher(f'"{phrase}"').spans(text)
    beside = known.matcher(f'"{phrase}" "server http"').spans(text)
    assert alone == [span for span in beside if span.clause == 0]
