"""kbdb.index.vector_list: whatever way vectors came in and were written, the newest of each section is found."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from engines import bitmap, kbid, open_files
from hypothesis import given, settings
from hypothesis import strategies as st
from vectors import packed, segment_files

from kbdb.index.engine import engine
from kbdb.index.in_memory import file_in_memory
from kbdb.index.vector_list import VectorList

DIMENSIONS = 3


def vector(seed: int) -> bytes:
    return packed([float(seed), float(seed * seed % 11), 1.0])


def added(files: VectorList, vectors: dict[int, int]) -> VectorList:
    """The list with a vector of each of these sections, by the seeds of its numbers."""
    return files.added([kbid(number) for number in vectors], b"".join(map(vector, vectors.values())))


def written(files: VectorList, *, soon: bool = False) -> VectorList:
    """The list as if it had been written to disk."""
    first = files.write_from(soon=soon)
    if not sum(part.records for part in files.parts[first:]):
        return replace(files, parts=files.parts[:first])
    merged = engine().Vectors(file_in_memory(partial(files.write, first)))
    return files.with_merged(first, merged, max(files.folders, default=0) + 1)


@pytest.fixture
def empty() -> VectorList:
    return VectorList(engine(), DIMENSIONS)


steps = st.lists(
    st.one_of(
        st.dictionaries(st.integers(0, 30), st.integers(0, 99), min_size=1, max_size=8),
        st.sets(st.integers(0, 30), min_size=1, max_size=5),
        st.sampled_from(["write", "write soon"]),
    ),
    max_size=12,
)


@given(steps)
@settings(max_examples=60)
def test_it_holds_what_was_added_last_and_not_removed_since(taken: list[dict[int, int] | set[int] | str]) -> None:
    files, expected = VectorList(engine(), DIMENSIONS), dict[int, int]()
    for step in taken:
        if isinstance(step, dict):
            files = added(files, step)
            expected |= step
        elif isinstance(step, set):
            files = files.without([kbid(number) for number in step])
            expected = {number: seed for number, seed in expected.items() if number not in step}
        else:
            files = written(files, soon=step == "write soon")
            assert files.is_written
    last = written(files)
    merged = file_in_memory(partial(last.write, 0)) if last.parts else b""
    held = {number: data for number in range(31) if (data := found(merged, number))}
    assert {number: vector(seed) for number, seed in expected.items()} == held


def found(data: bytes, number: int) -> bytes | None:
    """The vector of a section in a file."""
    if not data:
        return None
    vectors = engine().Vectors(data)
    record = vectors.find(kbid(number))
    return vectors.vector(record) if record >= 0 else None


def test_the_newest_vector_of_a_section_counts_before_anything_is_merged(empty: VectorList) -> None:
    files = added(written(added(empty, {1: 10, 2: 20})), {2: 21})
    assert files.vector(kbid(1)) == vector(10)
    assert files.vector(kbid(2)) == vector(21)
    assert files.vector(kbid(3)) is None


def test_what_is_new_is_one_part_in_memory(empty: VectorList) -> None:
    files = added(added(added(empty, {1: 1}), {2: 2}), {3: 3})
    assert (len(files.parts), files.in_memory, files.records, files.is_written) == (1, 3, 3, False)


def test_a_list_stays_what_it_was_when_another_is_made_of_it(empty: VectorList) -> None:
    first = added(empty, {1: 1})
    added(first, {1: 2})
    first.without([kbid(1)])
    assert first.vector(kbid(1)) == vector(1)
    assert first.records == 1


def test_each_file_holds_more_than_twice_as_many_as_the_next(empty: VectorList) -> None:
    files = empty
    for number in range(200):
        files = written(added(files, {number: number}))
        sizes = [part.records for part in files.parts]
        assert all(size > 2 * after for size, after in pairwise(sizes))
    assert sum(part.records for part in files.parts) == 200


def test_removed_vectors_leave_the_file_they_were_in(empty: VectorList) -> None:
    files = written(added(empty, {1: 1, 2: 2}))
    assert files.is_written
    less = files.without([kbid(1)])
    assert not less.is_written
    again = written(less)
    assert [part.vectors.records for part in again.parts] == [1]
    assert written(again.without([kbid(2)])).parts == ()


def test_a_searcher_finds_the_newest_vectors_of_what_is_live(empty: VectorList) -> None:
    files = added(written(added(empty, {1: 1, 2: 5, 3: 1})), {1: 7})
    segment = open_files(engine(), segment_files([1, 2, 3, 4]))
    numbers = {segment.find(kbid(number)): number for number in (1, 2, 3, 4)}
    live = bitmap(4, [segment.find(kbid(number)) for number in (1, 2, 4)])
    searcher = files.searcher([segment], [live])
    hits = searcher.search(vector(7), 10)
    assert [numbers[hit.entry] for hit in hits] == [1, 2]
    (missing,) = searcher.missing()
    assert missing == bitmap(4, [segment.find(kbid(4))])
