"""What only the compiled engine can get wrong: buffers, threads, memory, and arguments of the wrong kind."""

from __future__ import annotations

import gc
import mmap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
from engines import (
    COMPILED,
    FINGERPRINT,
    NAMES,
    PARAMS,
    build,
    entry,
    everything,
    needs_compiled,
    open_files,
    plan,
    toy_stem,
)

from kbdb.errors import InvalidArgumentError
from kbdb.index.api import EngineModule
from kbdb.plan import Alternative, Clause, Plan, SegmentFiles

pytestmark = needs_compiled

ENGINE = cast(EngineModule, COMPILED)


def files(count: int = 40) -> SegmentFiles:
    return build(ENGINE, [entry(i, f"title {i}", "the cat sat " * (i % 7 + 1) + f"word{i}") for i in range(count)])


def test_a_segment_reads_mapped_files_and_keeps_them_alive(tmp_path: Path) -> None:
    made = files()
    maps = []
    for name in NAMES:
        (tmp_path / name).write_bytes(getattr(made, name))
        with (tmp_path / name).open("rb") as opened:
            maps.append(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    segment = ENGINE.Segment(*maps, fingerprint=FINGERPRINT)
    with pytest.raises(BufferError):
        maps[0].close()
    del maps
    gc.collect()
    segment.verify()
    assert segment.sections == 40


def test_a_failed_opening_lets_its_buffers_go() -> None:
    made = files(1)
    buffer = bytearray(made.terms[:-1])
    with pytest.raises(Exception, match="the file is not as long as it says"):
        ENGINE.Segment(buffer, made.positions, made.corpus, made.references, fingerprint=FINGERPRINT)
    buffer.clear()


def test_a_searcher_keeps_its_segments_alive() -> None:
    segment = open_files(ENGINE, files())
    searcher = ENGINE.Searcher([segment], [everything(segment)], PARAMS)
    before = searcher.search(plan("cat"), 5)
    del segment
    gc.collect()
    assert searcher.search(plan("cat"), 5) == before


def test_many_threads_get_the_answers_one_gets() -> None:
    segment = open_files(ENGINE, files(300))
    plans = [plan("cat"), plan("the", "word7"), Plan((Clause("p", (Alternative(("the", "cat", "sat")),)),)), plan()]
    alone = [ENGINE.Searcher([segment], [everything(segment)], PARAMS).search(item, 7) for item in plans]
    fresh = open_files(ENGINE, files(300))
    searcher = ENGINE.Searcher([fresh], [everything(fresh)], PARAMS)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: searcher.search(plans[i % 4], 7), range(400)))
    assert answers == [alone[i % 4] for i in range(400)]


def test_a_builder_refuses_a_second_thread() -> None:
    builder = ENGINE.Builder(FINGERPRINT, PARAMS)
    builder.add(entry(1, "one"))
    inside, done = threading.Event(), threading.Event()

    def slow_stem(words: list[str]) -> list[str]:
        inside.set()
        done.wait()
        return words

    with ThreadPoolExecutor(1) as pool:
        finishing = pool.submit(builder.finish, slow_stem)
        inside.wait()
        with pytest.raises(InvalidArgumentError, match="another thread"):
            builder.add(entry(2, "two"))
        done.set()
        assert open_files(ENGINE, finishing.result()).sections == 1


def test_a_builder_goes_on_after_a_refused_entry() -> None:
    builder = ENGINE.Builder(FINGERPRINT, PARAMS)
    builder.add(entry(1, "one", "naïve words"))
    with pytest.raises(InvalidArgumentError, match="was added before"):
        builder.add(entry(1, "again"))
    with pytest.raises(InvalidArgumentError, match="lone surrogate"):
        builder.add(entry(2, "bad \ud800"))
    builder.add(entry(3, "three"))
    assert builder.finish(toy_stem) == build(ENGINE, [entry(1, "one", "naïve words"), entry(3, "three")])


def test_a_stemmer_that_fails_leaves_the_builder_usable() -> None:
    builder = ENGINE.Builder(FINGERPRINT, PARAMS)
    builder.add(entry(1, "cats"))

    def broken(words: list[str]) -> list[str]:
        raise RuntimeError(f"no stems today for {words}")

    with pytest.raises(RuntimeError, match="no stems today for"):
        builder.finish(broken)
    with pytest.raises(InvalidArgumentError, match="2 stems for 1 words"):
        builder.finish(lambda words: [*words, "more"])
    assert builder.finish(toy_stem) == build(ENGINE, [entry(1, "cats")])


def test_memory_is_given_back() -> None:
    made = files(5)
    segment = open_files(ENGINE, made)
    searcher = ENGINE.Searcher([segment], [everything(segment)], PARAMS)
    assert searcher.memory_bytes > 0

    class Buffer(bytearray):
        pass

    buffer = Buffer(made.terms)
    gone = weakref.ref(buffer)
    held = ENGINE.Segment(buffer, made.positions, made.corpus, made.references, fingerprint=FINGERPRINT)
    del buffer
    assert gone() is not None
    del held
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("wrong", [None, 3, "text", object()])
def test_values_of_a_wrong_kind_raise(wrong: object) -> None:
    made = files(1)
    segment = open_files(ENGINE, made)
    with pytest.raises(TypeError):
        ENGINE.Segment(wrong, made.positions, made.corpus, made.references, fingerprint=FINGERPRINT)
    with pytest.raises((TypeError, AttributeError)):
        ENGINE.Searcher([wrong], [b"\x01"], PARAMS)
    with pytest.raises((TypeError, AttributeError)):
        ENGINE.Searcher([segment], [everything(segment)], PARAMS).search(wrong, 1)
    with pytest.raises((TypeError, AttributeError)):
        ENGINE.Builder(FINGERPRINT, wrong)
    with pytest.raises((TypeError, AttributeError)):
        ENGINE.Builder(FINGERPRINT, PARAMS).add(wrong)
    with pytest.raises((TypeError, AttributeError)):
        ENGINE.merge([wrong], [b""], (), fingerprint=FINGERPRINT, params=PARAMS, into=wrong)
    with pytest.raises(TypeError):
        ENGINE.merge([segment], [everything(segment)], (), fingerprint=FINGERPRINT, params=PARAMS, into=wrong)


def test_a_limit_larger_than_any_number_in_c_is_all_there_is() -> None:
    segment = open_files(ENGINE, files())
    searcher = ENGINE.Searcher([segment], [everything(segment)], PARAMS)
    assert len(searcher.search(plan("cat"), 1 << 80).hits) == 40
    assert len(searcher.similar(["cat"], 0.01, 1 << 80)) == 40
    assert searcher.words_with_prefix("word", 1 << 80) == searcher.words_with_prefix("word", 40)


def test_many_different_words_do_not_fill_the_memory() -> None:
    segment = open_files(ENGINE, files(3))
    searcher = ENGINE.Searcher([segment], [everything(segment)], PARAMS)
    for number in range((1 << 16) + 10):
        searcher.df(f"nowhere{number}")
    assert searcher.memory_bytes < 4_000_000
    assert searcher.df("cat") == 3
