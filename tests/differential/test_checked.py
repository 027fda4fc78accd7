"""The engine that runs both in lock-step answers like each, and tells when they differ."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, cast

import pytest
from engines import (
    FINGERPRINT,
    HAS_COMPILED,
    PARAMS,
    REFERENCE,
    build,
    entry,
    everything,
    kbid,
    merged,
    needs_compiled,
    open_files,
    plan,
)
from vectors import joined, vectors_file

from kbdb.errors import CorruptError, InvalidArgumentError, TomlError
from kbdb.index.api import EngineModule
from kbdb.index.in_memory import file_in_memory
from kbdb.plan import Share

pytestmark = needs_compiled

CHECKED: Any = import_module("kbdb.index.checked") if HAS_COMPILED else None
ENTRIES = [
    entry(1, "cats", "the cat", filters=["tag:a"], references=["doc:x"], stored=b"one"),
    entry(2, "", "dogs, cats", listed=False),
]


def test_it_answers_like_the_reference() -> None:
    engine = cast(EngineModule, CHECKED)
    files = build(engine, ENTRIES, [kbid(5)])
    assert build(REFERENCE, ENTRIES, [kbid(5)]) == files
    segments = [open_files(one, files) for one in (REFERENCE, engine)]
    searchers = [
        one.Searcher([segment], [everything(segment)], PARAMS)
        for one, segment in zip((REFERENCE, engine), segments, strict=True)
    ]
    questions: list[Callable[[Any, Any], object]] = [
        lambda s, _: (s.sections, s.kbid(0), s.find(kbid(2)), s.stored(0), s.lengths(1), s.distinct(1), s.verify()),
        lambda s, _: (s.listed(), s.removed(), s.filter_keys(""), s.filter("tag:a"), s.reference_keys("")),
        lambda s, _: s.references("doc:x"),
        lambda _, over: (over.sections, over.totals, over.df("cat"), over.word_df("cats"), over.words_of("cat")),
        lambda _, over: (over.words_with_prefix("c", 9), over.words_containing("a", 9), over.words_near("cat", 1, 9)),
        lambda _, over: (over.search(plan("cat"), 9), over.rank(plan("cat"), 9), over.similar(["cat"], 0.1, 9)),
        lambda _, over: over.similar_to(0, range(2), 0.1, 9),
        lambda _, over: [over.explain(plan("cat"), 0, number) for number in range(2)],
    ]
    for question in questions:
        expected, found = (question(*pair) for pair in zip(segments, searchers, strict=True))
        assert expected == found
    assert searchers[1].memory_bytes > 0
    assert (REFERENCE.tokenise("a b-c"), REFERENCE.idf(3, 2)) == (engine.tokenise("a b-c"), engine.idf(3, 2))
    assert REFERENCE.scan_toml(b'a = "b"\n') == engine.scan_toml(b'a = "b"\n')
    assert ("checked", REFERENCE.ANALYSIS_VERSION) == (engine.IMPLEMENTATION, engine.ANALYSIS_VERSION)


def test_it_searches_vectors() -> None:
    engine = cast(EngineModule, CHECKED)
    old = vectors_file(engine, 2, {1: [1.0, 0.5], 2: [-1.0, 0.0]})
    new = vectors_file(engine, 2, {1: [0.0, 1.0]})
    files = [build(REFERENCE, ENTRIES)]
    answers = []
    for one in (REFERENCE, engine):
        vectors = one.Vectors(old)
        vectors.verify()
        parts = [one.Vectors(old), one.Vectors(new)]
        merge = partial(one.merge_vectors, parts, [b"\3", b"\1"])
        _, searcher = joined(one, [old, new], files, prepared=True)
        answers.append(
            [
                *(vectors.dimensions, vectors.records, vectors.kbid(0), vectors.find(kbid(2)), vectors.vector(1)),
                *(file_in_memory(merge), searcher.sections, searcher.missing(), searcher.held()),
                *(searcher.search(b"\0\0\x80?" * 2, 9), searcher.search(b"\0\0\x80?" * 2, 9, [b"\1"], exact=True)),
            ]
        )
    assert answers[0] == answers[1]
    assert engine.Vectors(old).memory_bytes > 0


def test_it_merges() -> None:
    engine = cast(EngineModule, CHECKED)
    parts = [open_files(engine, build(engine, [item])) for item in ENTRIES]
    assert build(REFERENCE, ENTRIES, [kbid(5)]) == merged(engine, [(part, None) for part in parts], [kbid(5)])


def test_it_raises_what_both_raise() -> None:
    engine = cast(EngineModule, CHECKED)
    files = build(engine, ENTRIES)
    with pytest.raises(CorruptError):
        engine.Segment(b"", files.positions, files.corpus, files.references, fingerprint=FINGERPRINT)
    with pytest.raises(InvalidArgumentError):
        engine.idf(1, 2)
    with pytest.raises(TomlError):
        engine.scan_toml(b"nonsense")


def test_it_tells_of_a_different_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKED.REFERENCE, "tokenise", lambda _: [])
    with pytest.raises(AssertionError, match="tokenise"):
        CHECKED.tokenise("word")


def test_it_tells_of_an_error_that_only_one_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_text: str) -> list[Share]:
        raise InvalidArgumentError("no")

    monkeypatch.setattr(CHECKED.REFERENCE, "tokenise", refuse)
    with pytest.raises(AssertionError, match="no error"):
        CHECKED.tokenise("word")


def test_it_tells_of_different_words_for_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_sections: int, _df: int) -> float:
        raise InvalidArgumentError("otherwise")

    monkeypatch.setattr(CHECKED.REFERENCE, "idf", refuse)
    with pytest.raises(AssertionError, match="otherwise"):
        CHECKED.idf(1, 2)
