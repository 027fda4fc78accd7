"""Changes bytes of a segment and puts every checksum right again, to reach the checks behind the checksums."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from zlib import crc32

from engines import FINGERPRINT, NAMES

from kbdb.plan import SegmentFiles
from kbdb.reference.container import CORPUS, POSITIONS, REFERENCES, TERMS, container_open, container_write

KINDS = {"terms": TERMS, "positions": POSITIONS, "corpus": CORPUS, "references": REFERENCES}


def resealed(files: SegmentFiles, changes: Iterable[tuple[str, int, int]]) -> SegmentFiles:
    """The files with some bytes changed.

    Args:
        files: of a segment.
        changes: (file, which of the bytes in its regions, counted round and round, value to xor it with).
    """
    regions = {name: _regions(files, name) for name in NAMES}
    for name, at, value in changes:
        places = [(region, i) for region in regions[name] for i in range(len(region))]
        region, place = places[at % len(places)]
        region[place] ^= value
    return _sealed(files, regions)


def replaced(files: SegmentFiles, name: str, region: int, old: bytes, new: bytes) -> SegmentFiles:
    """The files with ``old``, which stands once in a region of one of them, made ``new``, of the same length."""
    regions = {other: _regions(files, other) for other in NAMES}
    held = regions[name][region]
    assert held.count(old) == 1
    assert len(old) == len(new)
    regions[name][region] = held.replace(old, new)
    return _sealed(files, regions)


def _sealed(files: SegmentFiles, regions: dict[str, list[bytearray]]) -> SegmentFiles:
    terms, positions, corpus, references = (regions[name] for name in NAMES)
    _seal_stems(terms[5], len(terms[3]) // 4, (terms[6], positions[0]))
    _seal(corpus[4], corpus[5], "<QIII", (0, 1, 3))
    _seal(references[2], references[3], "<QIII", (0, 1, 3))
    entries = len(_regions(files, "corpus")[0]) // 16
    kbids_crc = crc32(corpus[0])
    written = {
        name: container_write(KINDS[name], FINGERPRINT, entries, kbids_crc, [bytes(region) for region in regions[name]])
        for name in NAMES
    }
    return SegmentFiles(**written)


def _regions(files: SegmentFiles, name: str) -> list[bytearray]:
    data = memoryview(getattr(files, name))
    container = container_open(KINDS[name], data, FINGERPRINT, name)
    return [bytearray(data[offset : offset + length]) for offset, length in container.regions]


def _seal(records: bytearray, lists: bytearray, layout: str, places: tuple[int, int, int]) -> None:
    offset, length, crc = places
    size = struct.calcsize(layout)
    for start in range(0, len(records), size):
        row = list(struct.unpack_from(layout, records, start))
        row[crc] = crc32(lists[row[offset] : row[offset] + row[length]])
        struct.pack_into(layout, records, start, *row)


def _seal_stems(records: bytearray, rows: int, lists: tuple[bytearray, bytearray]) -> None:
    """Each list of a stem ends where that of the next record begins."""
    size = len(records) // rows
    for start in range(0, size * (rows - 1), size):
        for number, held in enumerate(lists):
            places = (start + 5 * number, start + size + 5 * number)
            offset, end = (int.from_bytes(records[place : place + 5], "little") for place in places)
            crc = start + 10 + 4 * number
            records[crc : crc + 4] = crc32(held[offset:end]).to_bytes(4, "little")
