"""Files of vectors and what is nearest in them: the engines agree on bytes, cosines to the last bit, order, errors."""

from __future__ import annotations

import random
import struct
from math import inf, nan

import pytest
from engines import COMPILED, ENGINES, REFERENCE, bitmap, both, everything, kbid, needs_compiled, open_files
from hypothesis import given, settings
from hypothesis import strategies as st
from vectors import (
    LARGEST,
    SMALLEST,
    Vector,
    dimensions,
    joined,
    one_hot,
    packed,
    segment_files,
    vectors_file,
    vectors_of,
)

from kbdb.errors import CorruptError, InvalidArgumentError, StaleIndexError
from kbdb.index.api import EngineModule
from kbdb.index.in_memory import file_in_memory
from kbdb.plan import VectorHit

pytestmark = needs_compiled

SECTIONS = 30
MORE_SECTIONS = segment_files(range(SECTIONS))
FEW_SECTIONS = segment_files(range(SECTIONS - 5, SECTIONS + 10))
WAYS = ["", "portable"]


def all_hits(
    engine: EngineModule, files: list[bytes], query: bytes, limit: int, allowed: list[bytes] | None, live: list[range]
) -> object:
    """What each way of searching finds, which must be the same."""
    found = []
    for prepared in (False, True):
        _, searcher = joined(engine, files, [MORE_SECTIONS, FEW_SECTIONS], live, prepared=prepared)
        found.append(searcher.search(query, limit, allowed))
        found.append(searcher.search(query, limit, allowed, exact=True))
    assert found == [found[0]] * 4
    return found[0], searcher.sections, searcher.missing(), searcher.held()


@st.composite
def searches(draw: st.DrawFn) -> tuple[list[dict[int, Vector]], int, Vector]:
    """Some files' vectors, their dimensions, and a query."""
    size = draw(dimensions)
    sections = st.dictionaries(st.integers(0, SECTIONS + 12), vectors_of(size), max_size=12)
    return draw(st.lists(sections, min_size=1, max_size=3)), size, draw(vectors_of(size))


@given(searches(), st.integers(0, 40), st.integers(0, 3), st.sampled_from(WAYS))
@settings(deadline=None)
def test_searches(drawn: tuple[list[dict[int, Vector]], int, Vector], limit: int, narrowed: int, simd: str) -> None:
    contents, size, query = drawn
    files = [vectors_file(REFERENCE, size, vectors) for vectors in contents]
    sizes = [SECTIONS, 15]
    allowed = None if narrowed == 0 else [bitmap(count, range(0, count, narrowed)) for count in sizes]
    live = [range(SECTIONS), range(3, 15, 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBDB_SIMD", simd)
        both(lambda engine: all_hits(engine, files, packed(query), limit, allowed, live))


@given(st.data(), dimensions)
@settings(deadline=None)
def test_written_and_merged_files(data: st.DataObject, size: int) -> None:
    sections = st.dictionaries(st.integers(0, 20), vectors_of(size), max_size=8)
    contents = data.draw(st.lists(sections, min_size=1, max_size=4))
    files = []
    for vectors in contents:
        written = both(lambda engine, vectors=vectors: vectors_file(engine, size, vectors))
        assert isinstance(written, bytes)
        files.append(written)
    keeps = [
        bitmap(len(vectors), data.draw(st.sets(st.integers(0, max(len(vectors) - 1, 0))))) if vectors else b""
        for vectors in contents
    ]

    def merged(engine: EngineModule) -> bytes:
        parts = [engine.Vectors(file) for file in files]
        return file_in_memory(lambda into: engine.merge_vectors(parts, keeps, into))

    expected: dict[bytes, bytes] = {}
    for file, keep in zip(files, keeps, strict=True):
        part = REFERENCE.Vectors(file)
        kept = [record for record in range(part.records) if keep[record >> 3] >> (record & 7) & 1]
        expected.update((part.kbid(record), part.vector(record)) for record in kept)
    body = b"".join(item + numbers for item, numbers in sorted(expected.items()))
    assert struct.pack("<4sBHI", b"KBVX", 1, size, len(expected)) + body == both(merged)


def everything_read(engine: EngineModule, data: bytes, query: bytes) -> object:
    """All that a file gives."""
    vectors = engine.Vectors(data)
    read = [(vectors.kbid(record), vectors.vector(record)) for record in range(vectors.records)]
    found = [vectors.find(kbid(number)) for number in range(12)]
    vectors.prepare()
    segment = open_files(engine, MORE_SECTIONS)
    searcher = engine.VectorSearcher([vectors], [segment], [everything(segment)])
    return vectors.dimensions, read, found, searcher.search(query, 5), searcher.missing(), searcher.held()


FILE = vectors_file(REFERENCE, 3, {number: [1.0, float(number), -2.0] for number in range(6)})


@given(st.data())
@settings(deadline=None)
def test_damaged_files(data: st.DataObject) -> None:
    changed = bytearray(FILE)
    for _ in range(data.draw(st.integers(0, 3))):
        changed[data.draw(st.integers(0, len(FILE) - 1))] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
    cut = data.draw(st.integers(0, len(FILE)))
    both(lambda engine: everything_read(engine, bytes(changed), packed([1.0, 2.0, 3.0])))
    both(lambda engine: everything_read(engine, bytes(changed[:cut]), packed([1.0, 2.0, 3.0])))


def header(magic: bytes = b"KBVX", version: int = 1, size: int = 1, records: int = 2) -> bytes:
    return struct.pack("<4sBHI", magic, version, size, records)


TWO = kbid(0)[:1] * 16, kbid(0)[:1] * 15 + b"\xff"
RECORDS = b"".join(item + packed([1.0]) for item in sorted(TWO))


@pytest.mark.parametrize(
    ("data", "error"),
    {
        "nothing": (b"", CorruptError),
        "part of a header": (header()[:10], CorruptError),
        "another magic": (header(b"KBVY") + RECORDS, CorruptError),
        "another version": (header(version=2) + RECORDS, StaleIndexError),
        "only a later version's first bytes": (b"KBVX\2", StaleIndexError),
        "no dimensions": (header(size=0) + RECORDS, CorruptError),
        "a byte too few": (header() + RECORDS[:-1], CorruptError),
        "a byte too many": (header() + RECORDS + b"\0", CorruptError),
        "more records than there are": (header(records=3) + RECORDS, CorruptError),
        "more records than can be": (header(records=1 << 31) + RECORDS, CorruptError),
        "a length that wraps": (header(size=65_535, records=0xFFFFFFFF) + RECORDS, CorruptError),
        "falling kbids": (header() + RECORDS[20:] + RECORDS[:20], CorruptError),
        "a kbid twice": (header() + RECORDS[:20] * 2, CorruptError),
        "infinity": (header() + RECORDS[:-4] + packed([inf]), CorruptError),
        "NaN": (header() + RECORDS[:-4] + packed([nan]), CorruptError),
        "a signalling NaN": (header() + RECORDS[:-4] + b"\1\0\x80\x7f", CorruptError),
    }.values(),
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_each_fault_is_found_by_both(data: bytes, error: type[Exception]) -> None:
    assert (error, "") == both(lambda engine: engine.Vectors(data).verify())
    assert (error, "") == both(lambda engine: everything_read(engine, data, packed([1.0])))


def test_opening_reads_no_record() -> None:
    wrong = header() + RECORDS[:20] * 2
    assert both(lambda engine: (engine.Vectors(wrong).dimensions, engine.Vectors(wrong).records)) == (1, 2)


@pytest.mark.parametrize(
    ("size", "kbids", "data"),
    [
        (0, [kbid(1)], b""),
        (65_536, [], b""),
        (-1, [], b""),
        (1, [b"short"], packed([1.0])),
        (1, [kbid(1), kbid(2)], packed([1.0])),
        (2, [kbid(1)], packed([1.0, 2.0, 3.0])),
        (1, [kbid(1), kbid(2), kbid(1)], packed([1.0, 2.0, 1.0])),
        (2, [kbid(1), kbid(2)], packed([1.0, 2.0, nan, 1.0])),
        (2, [kbid(1), kbid(2)], packed([1.0, 2.0, 3.0, -inf])),
    ],
)
def test_vectors_that_are_not_written(size: int, kbids: list[bytes], data: bytes) -> None:
    answer = both(lambda engine: file_in_memory(lambda into: engine.write_vectors(size, kbids, data, into)))
    assert isinstance(answer, tuple)
    assert answer[0] is InvalidArgumentError


def test_arguments_that_are_refused() -> None:
    other = vectors_file(REFERENCE, 2, {1: [1.0, 2.0]})
    full = b"\x3f"

    def merge(engine: EngineModule, files: list[bytes], keeps: list[bytes]) -> bytes:
        parts = [engine.Vectors(file) for file in files]
        return file_in_memory(lambda into: engine.merge_vectors(parts, keeps, into))

    def search(engine: EngineModule, query: bytes, limit: int = 3, allowed: list[bytes] | None = None) -> object:
        return joined(engine, [FILE], [MORE_SECTIONS])[1].search(query, limit, allowed)

    for call in (
        lambda engine: merge(engine, [], []),
        lambda engine: merge(engine, [FILE, other], [full, b"\1"]),
        lambda engine: merge(engine, [FILE], [b"\x7f"]),
        lambda engine: merge(engine, [FILE], []),
        lambda engine: joined(engine, [FILE, other], [MORE_SECTIONS]),
        lambda engine: engine.VectorSearcher([], [], [b""]),
        lambda engine: search(engine, packed([1.0, 2.0])),
        lambda engine: search(engine, b""),
        lambda engine: search(engine, packed([1.0, nan, 2.0])),
        lambda engine: search(engine, packed([1.0, 1.0, inf])),
        lambda engine: search(engine, packed([1.0, 2.0, 3.0]), -1),
        lambda engine: search(engine, packed([1.0, 2.0, 3.0]), 1, [b"\1"]),
        lambda engine: engine.Vectors(FILE).kbid(6),
        lambda engine: engine.Vectors(FILE).vector(-1),
        lambda engine: engine.Vectors(FILE).find(b"short"),
    ):
        answer = both(call)
        assert isinstance(answer, tuple)
        assert answer[0] is InvalidArgumentError, call


def hits_of(engine: EngineModule, vectors: dict[int, Vector], query: Vector, limit: int = 50) -> tuple[VectorHit, ...]:
    file = vectors_file(engine, len(query), vectors)
    return joined(engine, [file], [MORE_SECTIONS], prepared=True)[1].search(packed(query), limit)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.IMPLEMENTATION)
class TestWhatIsFound:
    def test_equal_cosines_come_by_kbid(self, engine: EngineModule) -> None:
        hits = hits_of(engine, {number: [float(number + 1), 0.0] for number in range(20)}, [3.0, 0.0])
        assert [hit.score for hit in hits] == [1.0] * 20
        assert sorted(hit.kbid for hit in hits) == [hit.kbid for hit in hits]

    def test_a_vector_without_length_is_no_hit_but_is_not_missing(self, engine: EngineModule) -> None:
        file = vectors_file(engine, 2, {1: [0.0, -0.0], 2: [1.0, 1.0]})
        segments, searcher = joined(engine, [file], [MORE_SECTIONS])
        assert [segments[0].find(kbid(2))] == [hit.entry for hit in searcher.search(packed([1.0, 0.0]), 9)]
        assert searcher.sections == 2
        assert not searcher.missing()[0][segments[0].find(kbid(1)) >> 3] >> (segments[0].find(kbid(1)) & 7) & 1

    def test_a_query_without_length_finds_nothing(self, engine: EngineModule) -> None:
        assert hits_of(engine, {1: [1.0, 2.0]}, [0.0, 0.0]) == ()

    def test_no_number_is_too_large_or_too_small(self, engine: EngineModule) -> None:
        hits = hits_of(engine, {1: [LARGEST, LARGEST], 2: [SMALLEST, -SMALLEST], 3: [-LARGEST, 0.0]}, [SMALLEST, 0.0])
        assert [round(hit.score, 8) for hit in hits] == [0.70710678, 0.70710678, -1.0]

    def test_the_newest_vector_of_a_section_counts(self, engine: EngineModule) -> None:
        old = vectors_file(engine, 2, {1: [1.0, 0.0], 2: [1.0, 1.0]})
        new = vectors_file(engine, 2, {1: [0.0, 1.0]})
        segments, searcher = joined(engine, [old, new], [MORE_SECTIONS])
        hits = searcher.search(packed([1.0, 0.0]), 9)
        assert [segments[0].find(kbid(2)), segments[0].find(kbid(1))] == [hit.entry for hit in hits]
        assert hits[1].score == 0.0
        assert [1 << engine.Vectors(old).find(kbid(2)), 1] == [held[0] for held in searcher.held()]

    def test_only_live_sections_are_found(self, engine: EngineModule) -> None:
        file = vectors_file(engine, 1, {number: [1.0] for number in range(20)})
        segments, searcher = joined(engine, [file], [MORE_SECTIONS], [[3, 4, 5]])
        wanted = {segments[0].kbid(entry) for entry in (3, 4, 5)} & {kbid(number) for number in range(20)}
        assert wanted == {segments[0].kbid(hit.entry) for hit in searcher.search(packed([1.0]), 9)}

    def test_what_is_missing_is_told_without_a_change_of_what_is_live(self, engine: EngineModule) -> None:
        # Python has one object only for all bytes objects of a length of 1 and the same value.
        live = bytes([3])
        segments = [open_files(engine, segment_files([1, 2]))]
        searcher = engine.VectorSearcher([engine.Vectors(vectors_file(engine, 1, {1: [1.0]}))], segments, [live])
        assert searcher.missing() == [bytes([1 << segments[0].find(kbid(2))])]
        assert list(live) == [3]

    def test_there_may_be_no_vectors(self, engine: EngineModule) -> None:
        assert joined(engine, [], [MORE_SECTIONS])[1].search(packed([1.0]), 9) == ()
        assert joined(engine, [vectors_file(engine, 1, {})], [MORE_SECTIONS])[1].search(packed([1.0]), 9) == ()


@pytest.mark.parametrize("simd", WAYS)
@pytest.mark.parametrize("size", [1, 3, 64, 100, 384])
def test_many_vectors(size: int, simd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for blocks of sketches; in crowds, with doubles, against the reference."""
    monkeypatch.setenv("KBDB_SIMD", simd)
    chance = random.Random(size)
    centres = [[chance.gauss(0, 1) for _ in range(size)] for _ in range(5)]
    vectors: dict[int, Vector] = {}
    for number in range(300):
        centre = chance.choice(centres)
        vectors[number] = [mean + chance.gauss(0, 0.3) for mean in centre]
        if number % 9 == 0 and number:
            vectors[number] = vectors[number - 1]
    file = vectors_file(REFERENCE, size, vectors)
    segment = segment_files(range(300))
    queries = [*centres, one_hot(size, size - 1), vectors[17]]
    for limit in (1, 10, 100):
        for query in queries:
            for step in (1, 3):
                allowed = [bitmap(300, range(0, 300, step))]
                _, expected = joined(REFERENCE, [file], [segment])
                assert COMPILED is not None
                _, found = joined(COMPILED, [file], [segment], prepared=True)
                assert expected.search(packed(query), limit, allowed) == found.search(packed(query), limit, allowed)
