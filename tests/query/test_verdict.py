"""How well hits answer: match, verdict and matched terms, on a real index."""

from __future__ import annotations

import pytest
from query_store import Store, make_store

from kbdb.query.verdict import Verdict, verdict_by_cosine, verdict_of_both


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("authentication token", "all"),
        ("authentication of the tokens", "all"),
        ("authentication zzzz", "most"),
        ("token zzzz yyyy", "any"),
        ("zzzz", "none"),
        ("k8s", "synonym"),
        ("kuberxetes", "near"),
        ("k8s kuberxetes", "near"),
        ("k8s deploy", "most"),
        ("rate_limit", "all"),
        ("foo_bar", "all"),
        ("foo_zzzz", "most"),
        ("foo_zzzz_yyyy", "any"),
        ("数据库索引", "all"),
        ("数据库龘龘", "most"),
        ("数据龘龘龘龘", "any"),
        ("据", "all"),
        ("conf*", "all"),
        ('"rate limit"', "all"),
        ("-token", "none"),
        ("-token tag:x", "all"),
        ("-token -tag:x", "none"),
        ("-token kubernetes", "all"),
        ('"token authentication"', "none"),
    ],
)
def test_match(store: Store, query: str, match: str) -> None:
    assert match == store.match(query)


def test_an_identifier_written_another_way_still_matches_all(store: Store) -> None:
    assert store.match("rateLimit") == "all"
    assert store.match("foo-bar") == "all"


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("authentication token", "answered"),
        ("zzzz", "unanswered"),
        ("token zzzz", "weak"),
        ("token authentication zzzz", "answered"),
        ("k8s", "answered"),
        ("kubernetxx", "weak"),
        ("-token", "unanswered"),
        ("-token kubernetes", "answered"),
    ],
)
def test_verdict(store: Store, query: str, verdict: str) -> None:
    assert verdict == store.verdict(query)


def test_a_frequent_word_is_a_weak_answer_to_a_rare_one() -> None:
    store = make_store([(f"title {n}", "common words") for n in range(20)] + [("rare", "unusual thing")])
    assert store.verdict("common") == "answered"
    assert store.verdict("common zzzz") == "weak"


def test_without_hits_there_is_neither(store: Store) -> None:
    assert store.match("zzzz") == "none"
    assert store.verdict("zzzz") == "unanswered"


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Tokens authentication", ("tokens", "authentication")),
        ("token zzzz", ("token",)),
        ("k8s", ("kubernetes",)),
        ("kuberxetes", ("kubernetes",)),
        ("conf*", ("configuration",)),
        ("foo_bar", ("foo_bar",)),
        ("foo_zzzz", ("foo",)),
        ("数据库", ("数据库",)),
        ("提高龘性能", ("提高", "性能")),
        ("据", ("据",)),
        ('"Rate limit"', ("rate limit",)),
        ("-token kubernetes", ("kubernetes",)),
    ],
)
def test_matched_terms(store: Store, query: str, terms: tuple[str, ...]) -> None:
    assert terms == store.terms(query)


def test_the_alternative_that_matched_is_named() -> None:
    store = make_store([("a", "stopping"), ("b", "stored"), ("c", "stored store"), ("d", "storage")])
    assert store.terms("stopp*") == ("stopping",)
    resolved = store.resolve("sto*")
    assert resolved.has_choices
    assert store.terms("sto*")[0] in {"stopping", "stored", "store", "storage"}
    assert not store.resolve("stored").has_choices


@pytest.mark.parametrize(
    ("words", "meaning", "both"),
    [
        ("answered", "unanswered", "answered"),
        ("weak", "answered", "answered"),
        ("weak", "unanswered", "unanswered"),
        ("unanswered", "weak", "weak"),
        ("weak", None, "weak"),
        ("unanswered", None, "unanswered"),
    ],
)
def test_meaning_decides_where_no_leg_answers(words: Verdict, meaning: Verdict | None, both: Verdict) -> None:
    assert verdict_of_both(words, meaning) == both


@pytest.mark.parametrize(
    ("best", "floors", "verdict"),
    [
        (0.5, (0.5, 0.3), "answered"),
        (0.49, (0.5, 0.3), "weak"),
        (0.3, (0.5, 0.3), "weak"),
        (0.29, (0.5, 0.3), "unanswered"),
        (0.99, None, "weak"),
        (None, None, "unanswered"),
        (None, (0.5, 0.3), "unanswered"),
    ],
)
def test_a_cosine_is_judged_by_what_was_measured_of_its_model(
    best: float | None, floors: tuple[float, float] | None, verdict: Verdict
) -> None:
    assert verdict_by_cosine(best, floors) == verdict
