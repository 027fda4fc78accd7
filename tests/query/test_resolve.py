"""Queries turned into plans against a real index."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_store import Store, make_store

from kbdb.plan import MAX_CLAUSES, Plan
from kbdb.query import expand
from kbdb.query.expand import COMPLETION_LIMIT, NEAR_WEIGHTS, SYNONYM_WEIGHT
from kbdb.query.parser import Filter, ParsedQuery, Term, parse_query
from kbdb.query.resolve import NOTHING_TO_SEARCH, resolve
from kbdb.query.resolved import Filters
from kbdb.query.synonyms import NO_SYNONYMS


def shape(plan: Plan) -> list[tuple[str, list[str]]]:
    """Kind and alternatives of each clause, a phrase's stems joined."""
    return [
        (clause.kind, [" ".join(alternative.stems) for alternative in clause.alternatives]) for clause in plan.clauses
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("configuration files", [("should", ["configur"]), ("should", ["file"])]),
        ("the configuration of a file", [("should", ["configur"]), ("should", ["file"])]),
        ("the who", [("should", ["the"]), ("should", ["who"])]),
        ("file files FILE", [("should", ["file"])]),
        ('"the who"', [("must", ["the who"])]),
        ('"rate limit"', [("must", ["rate limit"])]),
        ("rate_limit", [("should", ["rate_limit"]), ("should", ["rate"]), ("should", ["limit"])]),
        ("rateLimit", [("should", ["rate"]), ("should", ["limit"])]),
        ("rate_limit rate", [("should", ["rate_limit"]), ("should", ["rate"]), ("should", ["limit"])]),
        ("title:queues", [("must", ["queue"])]),
        ("title:rate_limit", [("must", ["rate limit"])]),
        ("queue -message", [("should", ["queue"]), ("must_not", ["messag"])]),
        ("-rate_limit", [("must_not", ["rate limit"])]),
        ('-"rate limit"', [("must_not", ["rate limit"])]),
        ("-the", [("must_not", ["the"])]),
        ("config*", [("should", ["configur"])]),
        ("title:config*", [("must", ["configur"])]),
        ("-config*", [("must_not", ["configur"])]),
        ("数据库", [("should", ["数据"]), ("should", ["据库"])]),
        ("数据*", [("should", ["数据"])]),
        ("собака", [("should", ["собак"])]),
    ],
)
def test_plans(store: Store, query: str, expected: list[tuple[str, list[str]]]) -> None:
    assert expected == shape(store.resolve(query).plan)


def test_a_title_clause_looks_at_the_title_only(store: Store) -> None:
    assert store.titles("title:token") == []
    assert store.titles("token") == ["Configuration"]
    assert store.titles('title:"the who"') == ["The who"]


def test_one_cjk_character_finds_the_pairs_that_hold_it(store: Store) -> None:
    assert store.titles("据") == ["数据库索引"]
    assert store.titles("-据") == [title for title in store.titles("-zzzz") if title != "数据库索引"]
    assert store.titles("据库 -食") == ["数据库索引"]


def test_a_frequent_cjk_character_misses_no_section() -> None:
    store = make_store([(f"{number}", f"数{chr(0x4E00 + number)}") for number in range(300)])
    assert len(store.resolve("数").plan.clauses[0].alternatives) == 300
    assert store.searcher.search(store.resolve("数").plan, 1).total == 300
    assert store.resolve("数").warnings == ()
    assert not store.resolve("数").has_choices


def test_a_cjk_character_of_too_many_pairs_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "CHARACTER_LIMIT", 2)
    store = make_store([("a", "数一。数二。数三")])
    (warning,) = store.resolve("数").warnings
    assert warning == "'数' stands for more than 2 words; the most frequent were searched"


def test_a_character_among_others_stands_for_itself(store: Store) -> None:
    assert shape(store.resolve("第3章").plan) == [("should", ["第"]), ("should", ["3"]), ("should", ["章"])]


def test_unknown_words_are_tried_as_synonyms(store: Store) -> None:
    resolved = store.resolve("k8s")
    assert shape(resolved.plan) == [("should", ["kubernet"])]
    assert resolved.plan.clauses[0].alternatives[0].weight == SYNONYM_WEIGHT
    assert resolved.warnings == ("'k8s': no live section has it; searched 'kubernetes' (synonym)",)


def test_synonyms_of_several_words_are_phrases() -> None:
    store = make_store([("a", "Open the command line."), ("b", "a line, a command")])
    assert shape(store.resolve("cli").plan) == [("should", ["command line"])]
    assert store.titles("cli") == ["a"]


def test_known_words_are_not_expanded(store: Store) -> None:
    resolved = store.resolve("database config")
    assert shape(resolved.plan)[0] == ("should", ["databas"])
    assert all("database" not in warning.split(":")[0] for warning in resolved.warnings)


def test_unknown_words_without_synonyms_are_tried_as_near_spellings(store: Store) -> None:
    resolved = store.resolve("kuberxetes")
    assert shape(resolved.plan) == [("should", ["kubernet"])]
    assert resolved.plan.clauses[0].alternatives[0].weight == NEAR_WEIGHTS[1]
    assert resolved.warnings == ("'kuberxetes': no live section has it; searched 'kubernetes' (near spelling)",)


@pytest.mark.parametrize("query", ["tke", "fle", "quxue1", "tokex_x", "据据据", "xoken"])
def test_short_words_numbers_identifiers_and_cjk_have_no_near_spellings(store: Store, query: str) -> None:
    assert "near" not in {note.origin for note in store.resolve(query).notes}


def test_the_nearest_spellings_alone_are_searched() -> None:
    store = make_store([("a", "connection"), ("b", "connecting"), ("c", "confection confection")], NO_SYNONYMS)
    resolved = store.resolve("conbection")
    assert {"connection", "confection"} == set(resolved.notes[0].found)


def test_a_word_said_twice_weighs_twice(store: Store) -> None:
    resolved = store.resolve('token configuration tokens k8s kubernetes -queue -queue "rate limit" "rate limit"')
    weights = {clause.label: clause.alternatives[0].weight for clause in resolved.plan.clauses}
    assert weights == {"token": 2.0, "configuration": 1.0, "kubernetes": 1.0, "queue": 1.0, "rate limit": 1.0}


def test_an_unknown_word_says_so_and_finds_nothing(store: Store) -> None:
    assert store.titles("zzzz") == []
    assert store.resolve("zzzz").warnings == ("'zzzz': no live section has it",)
    assert store.resolve("zz*").warnings == ("'zz*': no live section has it",)
    assert store.resolve("zz_zz yyyy").warnings == ("'zz_zz', 'yyyy': no live section has them",)
    assert store.resolve(" ".join(f"zzz{letter}" for letter in "abcdefghijk")).warnings[0].count("'zzz") == 8
    assert store.titles("zz*") == []
    assert store.titles("zz_zz") == []
    assert store.titles("龘") == []


def test_excluded_words_are_never_expanded(store: Store) -> None:
    assert shape(store.resolve("-k8s").plan) == [("must_not", ["k8s"])]


def test_an_expansion_does_not_repeat_a_word_of_the_query(store: Store) -> None:
    assert shape(store.resolve("k8s kubernetes").plan) == [("should", ["kubernet"])]
    assert shape(store.resolve("kubernetes kuberxetes").plan) == [("should", ["kubernet"])]


def test_words_and_phrases_that_analysis_leaves_nothing_of_ask_nothing(store: Store) -> None:
    for query in ("", "?!", '"..."', "-", "*", "\U0001f389"):
        assert store.resolve(query).asks_nothing
        assert store.resolve(query).warnings == (NOTHING_TO_SEARCH,)
    assert not store.resolve("tag:x").asks_nothing
    assert not store.resolve("-token").asks_nothing
    assert store.resolve("-token").warnings == ()


def test_filters_become_keys(store: Store) -> None:
    query = "tag:x tag:y tag:x type:text/plain type:markdown doc:a doc:b -tag:z"
    expected = Filters(
        all_of=("tag:x", "tag:y"),
        any_of=(("type:text/plain", "type:markdown", "type:text/markdown"), ("doc:a", "doc:b")),
        none_of=("tag:z",),
    )
    assert expected == store.resolve(query).filters


def test_of_too_many_terms_the_most_telling_stay(store: Store) -> None:
    many = "*".join(f"unknown{number}x" for number in range(100))  # one run, so not yet a pasted passage
    resolved = store.resolve(f'{many} token "rate limit" -message configuration')
    assert len(resolved.plan.clauses) == MAX_CLAUSES
    assert ("must", ["rate limit"]) in shape(resolved.plan)
    assert ("must_not", ["messag"]) in shape(resolved.plan)
    assert ("should", ["token"]) in shape(resolved.plan)
    assert any("different terms" in warning for warning in resolved.warnings)
    assert all(part < MAX_CLAUSES for word in resolved.words for part in word.parts)


def test_a_prefix_of_many_words_is_capped() -> None:
    store = make_store([("many", " ".join(f"pre{chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(100)))])
    resolved = store.resolve("pre*")
    assert len(resolved.plan.clauses[0].alternatives) == COMPLETION_LIMIT
    assert resolved.warnings == ("'pre*' stands for more than 64 words; the most frequent were searched",)


def test_an_empty_store_answers() -> None:
    store = make_store([])
    for query in ("word", "pre*", "数", '"a b"', "k8s"):
        assert store.titles(query) == []


WORDS = [
    "the",
    "token",
    "k8s",
    "kuberxetes",
    "rate_limit",
    "fooBar.bazQux",
    "数据库",
    "数",
    "設定を",
    "собаки",
    "a/b/c",
]
SYNTAX = ["-", "title:", "tag:x", '"', "conf*", '"rate limit"', "zzzz", "don't"]
pieces = st.sampled_from(WORDS + SYNTAX) | st.text(max_size=6)


@settings(deadline=None, max_examples=60)
@given(st.lists(pieces, max_size=12))
def test_every_query_resolves_to_a_plan_the_engine_takes(store: Store, query: list[str]) -> None:
    resolved = store.resolve(" ".join(query))
    assert len(resolved.notes) == len(resolved.plan.clauses)
    for note, clause in zip(resolved.notes, resolved.plan.clauses, strict=True):
        assert len(note.found) == len(clause.alternatives)
    for hit in store.searcher.search(resolved.plan, 3).hits:
        assert hit.entry >= 0


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from([*WORDS, "tokens", "configuration", "file", "who", "queue?"]) | pieces, max_size=6))
def test_a_filter_beside_words_changes_nothing_of_their_plan(store: Store, query: list[str]) -> None:
    parsed = parse_query(" ".join(query))._replace(filters=())
    alone = resolve(parsed, store.lexicon)
    beside = resolve(parsed._replace(filters=(Filter("tag", "x"),)), store.lexicon)
    assert (alone.plan, alone.notes, alone.words) == (beside.plan, beside.notes, beside.words)
    assert [one for one in alone.warnings if one != NOTHING_TO_SEARCH] == list(beside.warnings)


@pytest.mark.parametrize(
    "text", ["rate limit", "the token", "token", "a/b/c", "数据库", "数", "rate zzzz", "the", " . "]
)
def test_a_filter_beside_a_phrase_changes_nothing_of_its_plan(store: Store, text: str) -> None:
    parsed = ParsedQuery((Term(text, "phrase"),), (), ())
    alone = resolve(parsed, store.lexicon)
    beside = resolve(parsed._replace(filters=(Filter("tag", "x"),)), store.lexicon)
    assert (alone.plan, alone.notes, alone.words) == (beside.plan, beside.notes, beside.words)
    assert [one for one in alone.warnings if one != NOTHING_TO_SEARCH] == list(beside.warnings)
