"""What tests of vectors share: files of them, segments to join them with, strategies."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from engines import REFERENCE, bitmap, build, entry, kbid, open_files
from hypothesis import strategies as st

from kbdb.index.api import EngineModule, Segment, VectorSearcher
from kbdb.index.in_memory import file_in_memory
from kbdb.plan import SegmentFiles

LARGEST: float = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
SMALLEST: float = struct.unpack("<f", b"\x01\0\0\0")[0]

Vector = Sequence[float]


def packed(vector: Vector) -> bytes:
    """The numbers as little-endian f32."""
    return struct.pack(f"<{len(vector)}f", *vector)


def vectors_file(engine: EngineModule, dimensions: int, vectors: dict[int, Vector]) -> bytes:
    """A file with the vectors of these sections, by their numbers."""
    kbids = [kbid(number) for number in vectors]
    data = b"".join(map(packed, vectors.values()))
    return file_in_memory(lambda into: engine.write_vectors(dimensions, kbids, data, into))


def segment_files(numbers: Iterable[int]) -> SegmentFiles:
    """A segment of these sections, which hold hardly anything."""
    return build(REFERENCE, [entry(number, "word") for number in numbers])


def joined(
    engine: EngineModule,
    files: Iterable[bytes],
    segments: Iterable[SegmentFiles],
    live: Sequence[Sequence[int]] | None = None,
    *,
    prepared: bool = False,
) -> tuple[list[Segment], VectorSearcher]:
    """Open segments, and a searcher of vectors over them; all entries live, or those of these numbers."""
    vectors = [engine.Vectors(data) for data in files]
    if prepared:
        for item in vectors:
            item.prepare()
    opened = [open_files(engine, item) for item in segments]
    numbers = live if live is not None else [range(segment.sections) for segment in opened]
    bits = [bitmap(segment.sections, some) for segment, some in zip(opened, numbers, strict=True)]
    return opened, engine.VectorSearcher(vectors, opened, bits)


dimensions = st.sampled_from([1, 2, 7, 8, 9, 31, 64, 65, 130]) | st.integers(1, 400)

numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
"""Any, denormals and the largest among them."""

tame = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, LARGEST, -LARGEST, SMALLEST])
"""Few, so that vectors are often alike."""


def vectors_of(size: int) -> st.SearchStrategy[list[float]]:
    """Vectors of so many dimensions: of anything, of few numbers, all 0."""
    short = st.lists(numbers, min_size=min(size, 12), max_size=min(size, 12))
    few = st.lists(tame, min_size=min(size, 12), max_size=min(size, 12))
    repeated = (short | few).map(lambda some: (some * (size // len(some) + 1))[:size])
    return repeated | st.just([0.0] * size) | st.integers(0, size - 1).map(lambda at: one_hot(size, at))


def one_hot(size: int, at: int) -> list[float]:
    """A vector along one axis."""
    return [float(number == at) for number in range(size)]
