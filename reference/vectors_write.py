"""Writes vectors.idx, new or of several (csrc/README.md, section 10)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from kbdb.checks import check_bitmaps, check_finite, check_parts, check_vectors
from kbdb.reference.vectors_format import HEADER, MAGIC, VERSION
from kbdb.reference.vectors_read import Vectors

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

IntoFile = Callable[[int, bytes], None]


def vectors_write(dimensions: int, kbids: Iterable[bytes], vectors: ReadableBuffer, into: IntoFile) -> None:
    """Writes a file of vectors.

    Args:
        dimensions: 1 to 65,535.
        kbids: 16 bytes each, distinct, in any order.
        vectors: little-endian f32, finite, those of the kbids in turn.
        into: called with an offset and bytes that belong there. What it raises ends the writing.

    Raises:
        InvalidArgumentError.
    """
    kbids, data = list(kbids), bytes(memoryview(vectors).cast("B"))
    order = check_vectors(dimensions, kbids, len(data))
    for number, numbers in enumerate(struct.iter_unpack(f"<{dimensions}f", data)):
        check_finite(all(map(isfinite, numbers)), f"vector {number}")
    size = 4 * dimensions
    records = [(kbids[number], data[size * number : size * (number + 1)]) for number in order]
    into(0, _file(dimensions, records))


def vectors_merge(parts: Sequence[Vectors], keeps: Sequence[bytes], into: IntoFile) -> None:
    """Makes one file of several.

    Args:
        parts: open files of the same dimensions, oldest first; at least one. Of records with one kbid the last counts.
        keeps: for each part the bitmap of those of its records that are wanted.
        into: called with an offset and bytes that belong there. What it raises ends the writing.

    Raises:
        CorruptError, InvalidArgumentError.
    """
    check_parts([part.dimensions for part in parts], merging=True)
    check_bitmaps(keeps, [part.records for part in parts], "keep")
    kept: dict[bytes, bytes] = {}
    for part, keep in zip(parts, keeps, strict=True):
        part.verify()
        for record in range(part.records):
            if keep[record >> 3] >> (record & 7) & 1:
                kept[part.kbid(record)] = part.vector(record)
    into(0, _file(parts[0].dimensions, sorted(kept.items())))


def _file(dimensions: int, records: Sequence[tuple[bytes, bytes]]) -> bytes:
    header = HEADER.pack(MAGIC, VERSION, dimensions, len(records))
    return header + b"".join(kbid + numbers for kbid, numbers in records)
