"""corpus.dat: the entries of a segment, what is stored with them, their filters, and what was removed.

csrc/README.md, section 6; references.idx is keyed lists only, from its region ``TARGETS`` on.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from kbdb.plan import FIELDS
from kbdb.reference.bits import bits_pack, bits_size
from kbdb.reference.container import (
    Container,
    container_length,
    container_place,
    lists_get,
    table_bytes,
    table_rows,
)
from kbdb.reference.keyed import keyed_open, keyed_verify, keyed_write
from kbdb.reference.varint import corrupt

KBIDS, RECORDS, FILTERS, STORED, REMOVED, CODES, LENGTHS, TOTALS, LISTED = 0, 1, 2, 6, 7, 8, 9, 10, 11
TARGETS = 0
KBID_BYTES = 16
RECORD = struct.Struct("<QIII")
LENGTH = struct.Struct("<I")
TOTAL = struct.Struct("<QQQQQ")

Lengths = tuple[int, int, int, int, int]
"""Distinct positions in each of ``FIELDS``."""


class EntryRecord(NamedTuple):
    """An entry: where its stored bytes are, its distinct stems."""

    stored_offset: int
    stored_length: int
    stored_crc: int
    distinct: int


class CorpusEntry(NamedTuple):
    """An entry, for the writer."""

    kbid: bytes
    stored: bytes
    listed: bool
    distinct: int
    lengths: Lengths


def corpus_length_code(length: int) -> int:
    """The byte that stands for a length, and for those at most 1/32 longer."""
    if length < 64:
        return length
    exponent = length.bit_length() - 1
    return min(64 + 32 * (exponent - 6) + (length >> (exponent - 5) & 31), 255)


def corpus_totals(lengths: Sequence[Lengths]) -> Lengths:
    """The sum of each field's lengths."""
    title, body, description, tags, heading = (sum(item[field] for item in lengths) for field in range(len(FIELDS)))
    return title, body, description, tags, heading


def corpus_write(entries: list[CorpusEntry], filters: Mapping[str, list[int]], removed: list[bytes]) -> list[bytes]:
    """The regions of corpus.dat; entries and removed kbids in ascending order."""
    records = bytearray()
    end = 0
    for entry in entries:
        records += RECORD.pack(end, len(entry.stored), crc32(entry.stored), entry.distinct)
        end += len(entry.stored)
    return [
        b"".join(entry.kbid for entry in entries),
        bytes(records),
        *keyed_write(filters),
        b"".join(entry.stored for entry in entries),
        b"".join(removed),
        bytes(corpus_length_code(entry.lengths[field]) for field in range(len(FIELDS)) for entry in entries),
        b"".join(LENGTH.pack(entry.lengths[field]) for field in range(len(FIELDS)) for entry in entries),
        TOTAL.pack(*corpus_totals([entry.lengths for entry in entries])),
        bits_pack([int(entry.listed) for entry in entries], 1),
    ]


def corpus_open(container: Container) -> None:
    """Checks at opening that the tables fit each other and the number of entries."""
    for region, size, rows in (
        (KBIDS, KBID_BYTES, container.entries),
        (RECORDS, RECORD.size, container.entries),
        (CODES, len(FIELDS), container.entries),
        (LENGTHS, LENGTH.size, len(FIELDS) * container.entries),
        (TOTALS, TOTAL.size, 1),
        (LISTED, 1, bits_size(container.entries, 1)),
    ):
        if table_rows(container, region, size) != rows:
            raise corrupt(container.path, container_place(container, region, 0), "a table does not fit the entries")
    table_rows(container, REMOVED, KBID_BYTES)
    keyed_open(container, FILTERS)


def corpus_kbid(container: Container, entry: int) -> bytes:
    """The kbid of an entry."""
    return table_bytes(container, KBIDS, KBID_BYTES * entry, KBID_BYTES * (entry + 1))


def corpus_find(container: Container, kbid: bytes) -> int:
    """The entry with this kbid, -1 when there is none."""
    entry = bisect_left(range(container.entries), kbid, key=lambda i: corpus_kbid(container, i))
    return entry if entry < container.entries and corpus_kbid(container, entry) == kbid else -1


def corpus_entry(container: Container, entry: int) -> EntryRecord:
    """The record of an entry."""
    row = table_bytes(container, RECORDS, RECORD.size * entry, RECORD.size * (entry + 1))
    return EntryRecord._make(RECORD.unpack(row))


def corpus_lengths(container: Container, entry: int) -> Lengths:
    """The lengths of an entry's fields."""
    starts = [LENGTH.size * (field * container.entries + entry) for field in range(len(FIELDS))]
    rows = b"".join(table_bytes(container, LENGTHS, start, start + LENGTH.size) for start in starts)
    title, body, description, tags, heading = struct.unpack("<5I", rows)
    return title, body, description, tags, heading


def corpus_entries(container: Container) -> list[EntryRecord]:
    """The records of all entries."""
    table = table_bytes(container, RECORDS, 0, RECORD.size * container.entries)
    return [EntryRecord._make(row) for row in RECORD.iter_unpack(table)]


def corpus_stored(container: Container, entry: int) -> bytes:
    """The bytes stored with an entry."""
    record = corpus_entry(container, entry)
    return lists_get(container, STORED, record.stored_offset, record.stored_length, record.stored_crc).data


def corpus_listed(container: Container) -> list[int]:
    """The entries that a manifest lists."""
    bitmap = table_bytes(container, LISTED, 0, bits_size(container.entries, 1))
    return [number for number in range(container.entries) if bitmap[number >> 3] >> (number & 7) & 1]


def corpus_removed(container: Container) -> list[bytes]:
    """The kbids of sections that older segments hold and that exist no more, ascending."""
    count = table_rows(container, REMOVED, KBID_BYTES)
    table = table_bytes(container, REMOVED, 0, KBID_BYTES * count)
    return [table[start : start + KBID_BYTES] for start in range(0, len(table), KBID_BYTES)]


def corpus_verify(corpus: Container) -> None:
    """Reads all of the file; kbids and removed ones are distinct and ascending, and no kbid is both."""
    keyed_verify(corpus, FILTERS)
    table = table_bytes(corpus, KBIDS, 0, KBID_BYTES * corpus.entries)
    if crc32(table) != corpus.kbids_crc:
        raise corrupt(corpus.path, 28, "the kbids' checksum is wrong")
    kbids = [corpus_kbid(corpus, entry) for entry in range(corpus.entries)]
    removed = corpus_removed(corpus)
    for region, values in ((KBIDS, kbids), (REMOVED, removed)):
        if any(left >= right for left, right in pairwise(values)):
            raise corrupt(corpus.path, container_place(corpus, region, 0), "kbids are not in ascending order")
    if set(kbids) & set(removed):
        raise corrupt(corpus.path, container_place(corpus, REMOVED, 0), "an entry is also removed")
    end = 0
    for entry, record in enumerate(corpus_entries(corpus)):
        place = container_place(corpus, RECORDS, RECORD.size * entry)
        if record.stored_offset != end:
            raise corrupt(corpus.path, place, f"what is stored with entry {entry} is misplaced")
        end += len(corpus_stored(corpus, entry))
    if end != container_length(corpus, STORED):
        raise corrupt(corpus.path, container_place(corpus, STORED, end), "bytes after the last stored entry")
    _verify_lengths(corpus)
    bitmap = table_bytes(corpus, LISTED, 0, bits_size(corpus.entries, 1))
    if int.from_bytes(bitmap, "little") >> corpus.entries:
        raise corrupt(corpus.path, container_place(corpus, LISTED, 0), "the bits after the last entry are not 0")


def _verify_lengths(corpus: Container) -> None:
    lengths = [corpus_lengths(corpus, entry) for entry in range(corpus.entries)]
    codes = table_bytes(corpus, CODES, 0, len(FIELDS) * corpus.entries)
    for at, code in enumerate(codes):
        field, entry = divmod(at, corpus.entries)
        if code != corpus_length_code(lengths[entry][field]):
            place = container_place(corpus, CODES, at)
            raise corrupt(corpus.path, place, f"the length code of field {field} of entry {entry} is {code}")
    if TOTAL.unpack(table_bytes(corpus, TOTALS, 0, TOTAL.size)) != corpus_totals(lengths):
        raise corrupt(corpus.path, container_place(corpus, TOTALS, 0), "the totals are not the sums of the lengths")
