"""Vectors of the compiled engine alone: the file stays mapped, threads share it, a sink may refuse, memory is told."""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import cast

import pytest
from engines import COMPILED, needs_compiled
from vectors import joined, packed, segment_files, vectors_file

from kbdb.index.api import EngineModule

pytestmark = needs_compiled

ENGINE = cast(EngineModule, COMPILED)
SIZE = 24
COUNT = 3000


@pytest.fixture(scope="module")
def file() -> bytes:
    chance = Random(8)
    centres = [[chance.gauss(0, 1) for _ in range(SIZE)] for _ in range(20)]
    crowd = {number: [mean + chance.gauss(0, 0.4) for mean in chance.choice(centres)] for number in range(COUNT)}
    return vectors_file(ENGINE, SIZE, crowd)


def query(number: int) -> bytes:
    chance = Random(number)
    return packed([chance.gauss(0, 1) for _ in range(SIZE)])


def test_a_mapped_file_is_used_where_it_lies(file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "vectors.idx"
    path.write_bytes(file)
    with path.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    vectors = ENGINE.Vectors(mapped)
    vectors.verify()
    assert 0 < vectors.memory_bytes < len(file) / 3
    with pytest.raises(BufferError):
        mapped.close()
    del vectors
    mapped.close()


def test_threads_search_while_sketches_are_made(file: bytes) -> None:
    segment = segment_files(range(COUNT))
    _, expected = joined(ENGINE, [file], [segment])
    answers = [expected.search(query(number), 10) for number in range(40)]
    for _ in range(5):
        vectors = ENGINE.Vectors(file)
        opened, _ = joined(ENGINE, [], [segment])
        live = [bytes([0xFF]) * (COUNT // 8)]
        with ThreadPoolExecutor(8) as pool:
            searchers = [pool.submit(ENGINE.VectorSearcher, [vectors], opened, live) for _ in range(8)]
            prepared = [pool.submit(vectors.prepare) for _ in range(3)]
            found = [
                pool.submit(searcher.result().search, query(number), 10)
                for searcher in searchers
                for number in range(40)
            ]
            assert [made.result() for made in prepared] == [None] * 3
            assert answers * 8 == [hits.result() for hits in found]


def test_what_a_sink_raises_ends_the_writing(file: bytes) -> None:
    def refuse(_offset: int, _data: bytes) -> None:
        raise OSError("full")

    vectors = ENGINE.Vectors(file)
    with pytest.raises(OSError, match="full"):
        ENGINE.merge_vectors([vectors], [b"\xff" * (COUNT // 8)], refuse)
    with pytest.raises(OSError, match="full"):
        ENGINE.write_vectors(1, [b"k" * 16], packed([1.0]), refuse)


def test_large_files_come_in_pieces() -> None:
    pieces: list[tuple[int, int]] = []
    kbids = [number.to_bytes(16, "big") for number in range(700)]
    ENGINE.write_vectors(1000, kbids, bytes(700 * 4000), lambda offset, data: pieces.append((offset, len(data))))
    assert len(pieces) > 1
    assert max(size for _, size in pieces) < 1_100_000
    assert [offset for offset, _ in pieces] == [sum(size for _, size in pieces[:i]) for i in range(len(pieces))]


def test_an_array_of_numbers_is_a_query(file: bytes) -> None:
    numpy = pytest.importorskip("numpy")
    _, searcher = joined(ENGINE, [file], [segment_files(range(COUNT))])
    array = numpy.frombuffer(query(3), dtype="<f4")
    assert searcher.search(query(3), 5) == searcher.search(array, 5)


def test_sketches_take_memory_and_change_no_answer(file: bytes) -> None:
    vectors = ENGINE.Vectors(file)
    before = vectors.memory_bytes
    vectors.prepare()
    vectors.prepare()
    assert vectors.memory_bytes > before + COUNT * SIZE
