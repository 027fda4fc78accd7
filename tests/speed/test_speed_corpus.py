"""The benchmark's corpus and query sets are what bench/README.md says, and never change."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

import kbdb
from bench.speed.corpus import TAGS, CorpusSection, read_lines, section, sections, write_lines, write_markdown
from bench.speed.queries import COUNT, SETS, as_written, queries
from bench.speed.vocabulary import SIZE, words

SAMPLE = 300
FIRST_HUNDRED = "002d1573954b4d69fd7d38abd79371301103b8527b0c4bc0bf9e03f3848870e6"
QUERY_SETS = "3df84243b921f17de44af886d8c4adfe188e2b51752703fe71943525c1697f22"


@pytest.fixture(scope="module")
def corpus() -> list[CorpusSection]:
    return list(sections(SAMPLE))


def test_the_workload_is_the_one_that_was_always_measured(corpus: list[CorpusSection], tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", corpus[:100])
    assert sha256((tmp_path / "corpus.jsonl").read_bytes()).hexdigest() == FIRST_HUNDRED
    assert sha256(json.dumps(queries()).encode()).hexdigest() == QUERY_SETS


def test_a_section_follows_from_seed_and_number_alone(corpus: list[CorpusSection]) -> None:
    assert section(250) == corpus[250]
    assert list(sections(5)) == corpus[:5]
    assert section(250, seed=43) != corpus[250]


def test_the_vocabulary_has_its_size_and_no_word_twice() -> None:
    assert len(words()) == len(set(words())) == SIZE


def test_sections_have_the_shape_that_is_promised(corpus: list[CorpusSection]) -> None:
    for one in corpus:
        body = one.body.split("\n\nSee $(link:")[0]
        assert 3 <= len(one.title.split()) <= 8
        assert 100 <= len(body.split()) <= 500
        assert 1 <= len(set(one.tags)) == len(one.tags) <= 3
        assert set(one.tags) <= set(TAGS)
    assert len({one.id for one in corpus}) == SAMPLE


def test_one_section_in_twenty_refers_to_an_earlier_one(corpus: list[CorpusSection]) -> None:
    numbers = {one.id: number for number, one in enumerate(corpus)}
    referring = [(number, one) for number, one in enumerate(corpus) if one.reference]
    assert 0.02 < len(referring) / SAMPLE < 0.09
    for number, one in referring:
        assert numbers[one.reference] < number
        assert one.body.endswith(f"See $(link:{one.reference}).")


def test_the_frequency_of_words_falls_with_their_rank(corpus: list[CorpusSection]) -> None:
    counts = Counter(word.strip(".").lower() for one in corpus for word in one.body.split())
    first, tenth, hundredth = (counts[words()[rank]] for rank in (0, 9, 99))
    assert first / tenth == pytest.approx(10, rel=0.15)
    assert first / hundredth == pytest.approx(100, rel=0.3)


def test_json_lines_give_the_corpus_back(corpus: list[CorpusSection], tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", corpus)
    assert list(read_lines(tmp_path / "corpus.jsonl")) == corpus


def test_kbdb_learns_one_section_for_each_of_the_corpus(corpus: list[CorpusSection], tmp_path: Path) -> None:
    some = corpus[:45]
    assert write_markdown(tmp_path / "docs", some) == 3
    with kbdb.open(tmp_path, create=True) as base:
        base.learn(tmp_path / "docs")
        learned = base.list("sections", limit=100)
        assert sorted(item.title for item in learned.items) == sorted(one.title for one in some)
        best = base.search(some[44].title, content=True).hits[0]
    assert best.content == f"## {some[44].title}\n\n{some[44].body}"
    assert best.tags == tuple(sorted(some[40].tags))


def test_each_query_set_has_its_queries_and_only_words_of_the_first_thousand_sections() -> None:
    present = {word.strip(".").lower() for one in sections(1000) for word in one.body.split()}
    sets = queries()
    assert tuple(sets) == SETS
    for name, lengths in zip(SETS, ({1}, {1}, {2, 3}, {5, 6, 7, 8}, {2}), strict=True):
        assert len(sets[name]) == COUNT
        assert {len(query.split()) for query in sets[name]} == lengths
        assert {word for query in sets[name] for word in query.split()} <= present


def test_phrases_are_asked_in_quotation_marks() -> None:
    assert as_written("phrase2", "two words") == '"two words"'
    assert as_written("mixed23", "two words") == "two words"
