"""Which searches the event loop answers itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kbdb.daemon.pace import MAX_CHARACTERS, MAX_HITS, MAX_WORDS, QUICK_CPU_MS, QUICK_ENGINE_MS, QUICK_MS, Pace
from kbdb.daemon.requests import List, Search
from kbdb.model.search import PagedSearchResult
from kbdb.query.parser import parse_query

ANSWER = PagedSearchResult(
    query="",
    search_mode="lexical",
    retrieval_method="lexical",
    match="none",
    verdict="unanswered",
    generation=0,
    total=0,
    total_is_exact=True,
    hidden=0,
    offset=0,
    limit=10,
    engine_ms=0.0,
    elapsed_ms=0.0,
    warnings=(),
    unreadable=(),
    hits=(),
)


def note(pace: Pace, count: int, *, cpu_ms: float = 0.5, elapsed_ms: float = 0.6, engine_ms: float = 0.03) -> None:
    for _ in range(count):
        pace.note(replace(ANSWER, elapsed_ms=elapsed_ms, engine_ms=engine_ms), cpu_ms / 1000)


@pytest.fixture
def quick() -> Pace:
    pace = Pace()
    note(pace, 100)
    return pace


def test_no_search_is_quick_before_some_were() -> None:
    pace = Pace()
    assert not pace.is_quick(Search(query="gate"))
    note(pace, 100)
    assert pace.is_quick(Search(query="gate"))


@pytest.mark.parametrize(
    "asked",
    [
        {"content": True},
        {"explain": True},
        {"query": "gat*"},
        {"query": "gat\uff0a"},
        {"query": '"the gate"'},
        {"query": "\u201cthe gate\u201d"},
        {"query": "gate " * (MAX_WORDS + 1)},
        {"query": "gate-" * (MAX_WORDS + 1)},
        {"query": "gate_" * (MAX_WORDS + 1)},
        {"query": "Gate" * (MAX_WORDS + 1)},
        {"query": "\u9580" * (MAX_WORDS + 1)},
        {"query": "a" * (MAX_CHARACTERS + 1)},
        {"limit": MAX_HITS + 1},
        {"offset": MAX_HITS - 9, "limit": 10},
    ],
)
def test_a_search_that_asks_for_much_is_not_quick(quick: Pace, asked: dict[str, Any]) -> None:
    assert not quick.is_quick(Search(**{"query": "gate"} | asked))


def test_no_phrase_and_no_prefix_is_quick_whatever_its_marks(quick: Pace) -> None:
    marked = [
        query
        for mark in map(chr, range(0x21, 0x10000))
        for query in (f"{mark}the gate{mark}", f"gat{mark}")
        if any(term.kind != "text" for term in parse_query(query).terms)
    ]
    assert len(marked) > 4
    assert [query for query in marked if quick.is_quick(Search(query=query))] == []


@pytest.mark.parametrize(
    "query",
    ["", "how do we ship the gate to customers", "HTTPServer v1.2", "Größe des Tores", "城門 鑰匙", "-gate tag:x"],
)
def test_a_search_like_most_is_quick(quick: Pace, query: str) -> None:
    assert quick.is_quick(Search(query=query))


def test_nothing_but_a_search_is_quick(quick: Pace) -> None:
    assert not quick.is_quick(List())


@pytest.mark.parametrize(
    "took",
    [
        {"cpu_ms": 2 * QUICK_CPU_MS, "elapsed_ms": 2 * QUICK_CPU_MS},
        {"elapsed_ms": 2 * QUICK_MS},
        {"engine_ms": 2 * QUICK_ENGINE_MS},
    ],
)
def test_where_searches_take_long_none_is_quick_until_they_do_no_more(quick: Pace, took: dict[str, float]) -> None:
    note(quick, 100, **took)
    assert not quick.is_quick(Search(query="gate"))
    note(quick, 100)
    assert quick.is_quick(Search(query="gate"))


def test_one_search_that_chance_held_up_changes_nothing(quick: Pace) -> None:
    note(quick, 1, cpu_ms=5 * QUICK_CPU_MS, elapsed_ms=5 * QUICK_MS)
    assert quick.is_quick(Search(query="gate"))


def test_nothing_is_quick_where_a_file_may_hang() -> None:
    pace = Pace(may_hang=True)
    note(pace, 100)
    assert not pace.is_quick(Search(query="gate"))


@pytest.mark.parametrize(
    ("default", "asked", "is_quick"),
    [
        ("lexical", None, True),
        ("lexical", "vector", False),
        ("lexical", "hybrid", False),
        ("hybrid", None, False),
        ("hybrid", "lexical", True),
    ],
)
def test_a_search_that_asks_a_provider_never_holds_up_the_event_loop(
    default: str, asked: str | None, *, is_quick: bool
) -> None:
    pace = Pace(mode=default)
    note(pace, 100)
    assert pace.is_quick(Search(query="gate", mode=asked)) is is_quick


def test_what_searches_by_meaning_take_says_nothing_of_those_by_words(quick: Pace) -> None:
    for _ in range(100):
        quick.note(replace(ANSWER, search_mode="hybrid", elapsed_ms=900.0), 0.5)
    assert quick.is_quick(Search(query="gate"))
