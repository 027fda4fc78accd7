"""An open vectors.idx, read whole (csrc/README.md, section 10)."""

from __future__ import annotations

import struct
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

from kbdb.checks import MAX_RECORDS, check_kbid, check_record_number
from kbdb.errors import StaleIndexError
from kbdb.reference.varint import corrupt
from kbdb.reference.vectors_format import HEADER, KBID_BYTES, MAGIC, VERSION, vectors_file_bytes, vectors_record_bytes

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Vectors:
    """An open vectors.idx; making one looks at its header and length. The first use of a record checks them all.

    Attributes:
        dimensions: of each vector.
        records: how many vectors, numbered in kbid order.
        name: the folder it is in, for errors.
        memory_bytes: held beside the file.
    """

    def __init__(self, data: ReadableBuffer, *, name: str = "") -> None:
        """Opens a file.

        Args:
            data: its bytes, kept alive by the object.
            name: path of its folder.

        Raises:
            CorruptError, StaleIndexError.
        """
        self.name = name
        self.path = f"{name}/vectors.idx" if name else "vectors.idx"
        self.memory_bytes = 0
        self._data = memoryview(data).cast("B")
        self._found: list[tuple[bytes, tuple[float, ...]]] | None = None
        self.dimensions, self.records = vectors_open(self._data, self.path)

    @property
    def all(self) -> list[tuple[bytes, tuple[float, ...]]]:
        """The kbid and the numbers of each record, found right; read once."""
        if self._found is None:
            self._found = vectors_check(self._data, self.dimensions, self.path)
        return self._found

    def verify(self) -> None:
        """Checks every record: kbids ascend, and all numbers are finite. CorruptError when not."""
        assert self.all is not None

    def prepare(self) -> None:
        """Sketches every vector, in an engine that has sketches. Answers stay the same."""
        assert self.all is not None

    def kbid(self, record: int) -> bytes:
        """The 16 bytes of a record's kbid."""
        check_record_number(record, self.records)
        return self.all[record][0]

    def find(self, kbid: bytes) -> int:
        """The record of this kbid, -1 when there is none."""
        check_kbid(kbid)
        kbids = [other for other, _ in self.all]
        return kbids.index(kbid) if kbid in kbids else -1

    def vector(self, record: int) -> bytes:
        """The numbers of a record, as little-endian f32."""
        check_record_number(record, self.records)
        assert self.all is not None
        start = vectors_file_bytes(self.dimensions, record) + KBID_BYTES
        return bytes(self._data[start : start + 4 * self.dimensions])


def vectors_open(data: memoryview, path: str) -> tuple[int, int]:
    """Checks header and length; dimensions and number of records."""
    if len(data) < 5:
        raise corrupt(path, len(data), "the file ends inside its header")
    if bytes(data[:4]) != MAGIC:
        raise corrupt(path, 0, f"the file does not begin with {MAGIC.decode()}")
    if data[4] != VERSION:
        raise StaleIndexError(f"{path}: made in another format version", "the index can be made anew: kbdb rebuild")
    if len(data) < HEADER.size:
        raise corrupt(path, len(data), "the file ends inside its header")
    _, _, dimensions, records = HEADER.unpack_from(data)
    if dimensions == 0:
        raise corrupt(path, 5, "vectors without dimensions")
    if records > MAX_RECORDS:
        raise corrupt(path, 7, f"{records} records are more than a file holds")
    if vectors_file_bytes(dimensions, records) != len(data):
        expected = vectors_file_bytes(dimensions, records)
        raise corrupt(path, len(data), f"the file has {len(data)} bytes instead of {expected}")
    return dimensions, records


def vectors_check(data: memoryview, dimensions: int, path: str) -> list[tuple[bytes, tuple[float, ...]]]:
    """Every record, its kbid and numbers, after checking that kbids ascend and all numbers are finite."""
    record = struct.Struct(f"<{KBID_BYTES}s{dimensions}f")
    found = [(kbid, numbers) for kbid, *numbers in record.iter_unpack(data[HEADER.size :])]
    for place, ((left, _), (right, _)) in enumerate(pairwise(found), 1):
        if left >= right:
            offset = HEADER.size + place * vectors_record_bytes(dimensions)
            raise corrupt(path, offset, "the kbids do not ascend")
    for place, (_, numbers) in enumerate(found):
        if not all(map(isfinite, numbers)):
            offset = HEADER.size + place * vectors_record_bytes(dimensions) + KBID_BYTES
            raise corrupt(path, offset, "a vector holds what is no finite number")
    return [(kbid, tuple(numbers)) for kbid, numbers in found]
