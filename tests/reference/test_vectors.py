"""vectors.idx by hand-made bytes, cosines by hand and by exact arithmetic (csrc/README.md, section 10)."""

from __future__ import annotations

import json
from fractions import Fraction
from math import sqrt
from pathlib import Path
from random import Random

import pytest
from engines import each_engine, kbid
from vectors import joined, packed, segment_files, vectors_file

from kbdb.index.api import EngineModule
from kbdb.index.in_memory import file_in_memory
from kbdb.reference.dot import cosine, dot

FILE = bytes.fromhex(
    "4b425658 01 0200 02000000"
    "000102030405060708090a0b0c0d0e0f 0000803f 000000c0"
    "ff0102030405060708090a0b0c0d0e0f cdcccc3d 01000000"
)
"""(1, -2) and (0.1, the smallest number)."""

FIRST, SECOND = bytes(range(16)), b"\xff" + bytes(range(1, 16))


@each_engine
def test_a_file_is_written_as_the_format_says(engine: EngineModule) -> None:
    smallest = b"\1\0\0\0"
    data = packed([0.1]) + smallest + packed([1.0, -2.0])
    assert file_in_memory(lambda into: engine.write_vectors(2, [SECOND, FIRST], data, into)) == FILE


@each_engine
def test_a_file_is_read_as_the_format_says(engine: EngineModule) -> None:
    vectors = engine.Vectors(FILE, name="a folder")
    assert (vectors.dimensions, vectors.records) == (2, 2)
    assert [vectors.kbid(0), vectors.kbid(1)] == [FIRST, SECOND]
    assert [vectors.find(FIRST), vectors.find(SECOND), vectors.find(b"\7" * 16)] == [0, 1, -1]
    assert vectors.vector(0) == packed([1.0, -2.0])
    vectors.verify()


@each_engine
def test_cosines_by_hand(engine: EngineModule) -> None:
    vectors = {1: [3.0, 4.0], 2: [-5.0, 0.0], 3: [0.0, 0.25], 4: [8.0, 6.0]}
    segments, searcher = joined(engine, [vectors_file(engine, 2, vectors)], [segment_files(range(6))])
    hits = searcher.search(packed([6.0, 8.0]), 10)
    assert [(segments[0].kbid(hit.entry), hit.score) for hit in hits] == [
        (kbid(1), 1.0),
        (kbid(4), 0.96),
        (kbid(3), 0.8),
        (kbid(2), -0.6),
    ]


def test_sums_are_added_up_in_the_stated_order() -> None:
    # In any other order the small ones are lost, or the large ones leave something.
    left = [2.0**60, 1.0, 1.0, 1.0, -(2.0**60), 1.0, 1.0, 1.0, 2.0**60, 0.0, 0.0, 0.0, -(2.0**60)]
    assert dot(left, [1.0] * 13) == 6.0
    assert dot([2.0**60, 1.0, 0.0, 0.0, 0.0, 0.0, -(2.0**60)], [1.0] * 7) == 1.0
    assert dot([2.0**60, -(2.0**60), 1.0], [1.0] * 3) == 0.0


def test_cosines_are_those_of_exact_arithmetic() -> None:
    chance = Random(3)
    for size in (1, 7, 8, 100, 385):
        left, right = ([Fraction(chance.randrange(-(2**24), 2**24), 2**24) for _ in range(size)] for _ in range(2))
        product = sum(a * b for a, b in zip(left, right, strict=True))
        lengths = [sqrt(sum(a * a for a in vector)) for vector in (left, right)]
        found = cosine(dot([*map(float, left)], [*map(float, right)]), *lengths)
        assert found == pytest.approx(float(product) / (lengths[0] * lengths[1]), abs=1e-13)


@each_engine
def test_cosines_of_a_model_are_those_it_publishes(engine: EngineModule, shared_data: Path) -> None:
    lines = (shared_data / "minilm-reference" / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    vectors = {number: json.loads(line)["vector"] for number, line in enumerate(lines)}
    segments, searcher = joined(engine, [vectors_file(engine, 384, vectors)], [segment_files(vectors)], prepared=True)
    hits = searcher.search(packed(vectors[0]), len(vectors))
    scores = {segments[0].kbid(hit.entry): round(hit.score, 3) for hit in hits}
    assert [scores[kbid(number)] for number in range(4)] == [1.0, 0.695, 0.943, 0.257]
    assert len(hits) == sum(any(vector) for vector in vectors.values())
    assert hits == searcher.search(packed(vectors[0]), len(vectors), exact=True)
