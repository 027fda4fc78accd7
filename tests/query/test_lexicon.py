"""What is remembered of words from query to query: right, bounded, and gone with its snapshot."""

from __future__ import annotations

import gc
import weakref

import pytest
from query_store import STEMMER, Store, make_store

from kbdb.index.engine import engine
from kbdb.query import lexicon as lexicons
from kbdb.query.lexicon import Analysis, Lexicon
from kbdb.query.synonyms import NO_SYNONYMS


def analysis() -> Analysis:
    return Analysis(engine().tokenise, STEMMER.stems, frozenset({"the"}), NO_SYNONYMS)


def test_a_known_word_is_its_clause(store: Store) -> None:
    lexicon = Lexicon(store.searcher, analysis())
    for _ in range(2):
        word = lexicon.known_word("Tokens,")
        assert word is not None
        assert (word.draft.clause.label, word.stem, word.is_stop_word) == ("tokens", "token", False)
        assert word.draft.note.idf == lexicon.idf(["token"]) > 0
    the = lexicon.known_word("the")
    assert the is not None
    assert the.is_stop_word


@pytest.mark.parametrize("text", ["zzzz", "rate_limit", "数据", "two words", "", "?!"])
def test_what_is_unknown_or_no_plain_word_is_no_known_word(store: Store, text: str) -> None:
    assert Lexicon(store.searcher, analysis()).known_word(text) is None


def test_what_one_snapshot_does_not_know_another_may() -> None:
    shared = analysis()
    assert Lexicon(make_store([]).searcher, shared).known_word("queue") is None
    assert Lexicon(make_store([("a", "queues")]).searcher, shared).known_word("queue") is not None


def test_only_so_many_answers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicons, "KEPT", 8)
    words = [f"w{chr(97 + number)}" for number in range(20)]
    lexicon = Lexicon(make_store([("a", " ".join(words))]).searcher, analysis())
    assert [lexicon.df(word) for word in words] == [1] * 20
    assert [lexicon.known_word(word) is not None for word in words] == [True] * 20
    assert lexicon.df.cache_info().currsize == 8  # type: ignore[attr-defined]


def test_texts_too_long_to_keep_are_read_all_the_same(store: Store) -> None:
    long = "token " * 40
    lexicon = Lexicon(store.searcher, analysis())
    assert len(lexicon.analysis.words(long)) == 40
    assert lexicon.known_word(long) is None


def test_nothing_kept_outlives_the_snapshot(store: Store) -> None:
    lexicon = Lexicon(store.searcher, analysis())
    assert lexicon.known_word("token") is not None
    kept = weakref.ref(lexicon)
    gc.disable()
    try:
        del lexicon
        assert kept() is None
    finally:
        gc.enable()
