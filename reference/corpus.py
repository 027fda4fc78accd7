"""corpus.dat: the entries of a segment, what is stored with them, their filters, and what was removed.

csrc/README.md, section 6; references.idx is keyed lists only, from its region ``TARGETS`` on.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple
from zlib import crc32

from kbdb.plan import FIELDS
from kbdb.reference.bits import bits_pack, bits_size
from kbdb.reference.container import (
    Container,
    container_length,
    container_place,
    table_bytes,
    table_rows,
)
from kbdb.reference.keyed import keyed_open, keyed_verify, keyed_write
from kbdb.reference.strings import strings_all, strings_count, strings_get, strings_write
from kbdb.reference.varint import LIMIT, corrupt, narrow_decode, narrow_encode, narrow_width

KBIDS, RECORDS, FILTERS, STORED, REMOVED, CODES, LENGTHS, TOTALS, LISTED, SHARED = 0, 1, 2, 6, 7, 8, 9, 10, 11, 12
TARGETS = 0
KBID_BYTES = 16
SHARED_END = b"\x1f"
TOTAL = struct.Struct("<QQQQQBBBBB")
PLAIN = 64
"""Lengths below it are their own codes."""

Lengths = tuple[int, int, int, int, int]
"""Distinct positions in each of ``FIELDS``."""


class EntryRecord(NamedTuple):
    """An entry: where its own stored bytes are, the shared ones before them, its distinct stems."""

    stored_offset: int
    shared: int
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
    if length < PLAIN:
        return length
    exponent = length.bit_length() - 1
    return min(64 + 32 * (exponent - 6) + (length >> (exponent - 5) & 31), 255)


def corpus_totals(lengths: Sequence[Lengths]) -> Lengths:
    """The sum of each field's lengths."""
    title, body, description, tags, heading = (sum(item[field] for item in lengths) for field in range(len(FIELDS)))
    return title, body, description, tags, heading


def corpus_length_width(longest: int) -> int:
    """The bytes that lengths up to this take; 0 where all are their own codes."""
    return 0 if longest < PLAIN else narrow_width(longest)


def corpus_shared_length(stored: bytes) -> int:
    """How many of the bytes to be stored with an entry are shared."""
    return stored.rfind(SHARED_END) + 1


def corpus_write(entries: list[CorpusEntry], filters: Mapping[str, list[int]], removed: list[bytes]) -> list[bytes]:
    """The regions of corpus.dat; entries and removed kbids in ascending order."""
    cuts = [corpus_shared_length(entry.stored) for entry in entries]
    parts = [(entry.stored[:cut], entry.stored[cut:]) for entry, cut in zip(entries, cuts, strict=True)]
    shared = sorted({head for head, _ in parts} - {b""})
    numbers = {head: number for number, head in enumerate([b"", *shared])}
    ends = list(accumulate((len(own) for _, own in parts), initial=0))
    widths = _record_widths(ends[-1], len(shared), max((entry.distinct for entry in entries), default=0))
    rows = [
        EntryRecord(end, numbers[head], entry.distinct)
        for end, (head, _), entry in zip(ends, parts, entries, strict=False)
    ]
    lengths = [[entry.lengths[field] for entry in entries] for field in range(len(FIELDS))]
    length_widths = [corpus_length_width(max(of_field, default=0)) for of_field in lengths]
    return [
        b"".join(entry.kbid for entry in entries),
        b"".join(narrow_encode(row, widths) for row in rows),
        *keyed_write(filters, len(entries)),
        b"".join(own for _, own in parts),
        b"".join(removed),
        bytes(corpus_length_code(length) for of_field in lengths for length in of_field),
        b"".join(
            length.to_bytes(width, "little")
            for of_field, width in zip(lengths, length_widths, strict=True)
            for length in of_field
            if width
        ),
        TOTAL.pack(*corpus_totals([entry.lengths for entry in entries]), *length_widths),
        bits_pack([int(entry.listed) for entry in entries], 1),
        *strings_write(shared),
    ]


def _record_widths(stored: int, shared: int, distinct: int) -> list[int]:
    """In how many bytes the numbers of a record are written."""
    return [narrow_width(stored), narrow_width(shared), narrow_width(distinct)]


def corpus_open(container: Container) -> None:
    """Checks at opening that the tables fit each other and the number of entries."""
    strings_count(container, SHARED)
    for region, size, rows in (
        (KBIDS, KBID_BYTES, container.entries),
        (CODES, len(FIELDS), container.entries),
        (TOTALS, TOTAL.size, 1),
        (LISTED, 1, bits_size(container.entries, 1)),
    ):
        if table_rows(container, region, size) != rows:
            raise corrupt(container.path, container_place(container, region, 0), "a table does not fit the entries")
    widths = corpus_record_widths(container)
    if container_length(container, RECORDS) != sum(widths) * container.entries or widths[-1] > 4:
        raise corrupt(container.path, container_place(container, RECORDS, 0), "records do not fit the entries")
    length_widths = _totals(container)[len(FIELDS) :]
    if container_length(container, LENGTHS) != sum(length_widths) * container.entries or max(length_widths) > 4:
        raise corrupt(container.path, container_place(container, LENGTHS, 0), "lengths do not fit the entries")
    table_rows(container, REMOVED, KBID_BYTES)
    keyed_open(container, FILTERS)


def corpus_record_widths(container: Container) -> list[int]:
    """In how many bytes the numbers of a record are written: what is not told by other tables, their length tells."""
    stored = container_length(container, STORED)
    if stored >= LIMIT:
        raise corrupt(container.path, container_place(container, STORED, 0), "more is stored than offsets reach")
    known = _record_widths(stored, strings_count(container, SHARED), 0)[:2]
    row = container_length(container, RECORDS) // max(container.entries, 1)
    return [*known, max(1, row - sum(known))]


def _totals(container: Container) -> tuple[int, ...]:
    return TOTAL.unpack(table_bytes(container, TOTALS, 0, TOTAL.size))


def corpus_kbid(container: Container, entry: int) -> bytes:
    """The kbid of an entry."""
    return table_bytes(container, KBIDS, KBID_BYTES * entry, KBID_BYTES * (entry + 1))


def corpus_find(container: Container, kbid: bytes) -> int:
    """The entry with this kbid, -1 when there is none."""
    entry = bisect_left(range(container.entries), kbid, key=lambda i: corpus_kbid(container, i))
    return entry if entry < container.entries and corpus_kbid(container, entry) == kbid else -1


def corpus_entry(container: Container, entry: int) -> EntryRecord:
    """The record of an entry."""
    return _record(container, entry)[0]


def _record(container: Container, entry: int) -> tuple[EntryRecord, int]:
    """The record of an entry, and where its own stored bytes end."""
    widths = corpus_record_widths(container)
    size = sum(widths)
    rows = table_bytes(container, RECORDS, size * entry, size * min(entry + 2, container.entries))
    record = EntryRecord._make(narrow_decode(rows, widths))
    stored = container_length(container, STORED)
    end = narrow_decode(rows[size:], widths)[0] if len(rows) > size else stored
    if not record.stored_offset <= end <= stored or record.shared > strings_count(container, SHARED):
        place = container_place(container, RECORDS, size * entry)
        raise corrupt(container.path, place, f"what is stored with entry {entry} is misplaced")
    return record, end


def corpus_lengths(container: Container, entry: int) -> Lengths:
    """The lengths of an entry's fields."""
    found = []
    start = 0
    for field, width in enumerate(_totals(container)[len(FIELDS) :]):
        code = field * container.entries + entry
        row = (
            table_bytes(container, LENGTHS, start + width * entry, start + width * (entry + 1))
            if width
            else table_bytes(container, CODES, code, code + 1)
        )
        found.append(int.from_bytes(row, "little"))
        start += width * container.entries
    title, body, description, tags, heading = found
    return title, body, description, tags, heading


def corpus_entries(container: Container) -> list[EntryRecord]:
    """The records of all entries."""
    return [corpus_entry(container, entry) for entry in range(container.entries)]


def corpus_stored(container: Container, entry: int) -> bytes:
    """The bytes stored with an entry."""
    record, end = _record(container, entry)
    shared = strings_get(container, SHARED, record.shared - 1) if record.shared else b""
    return shared + table_bytes(container, STORED, record.stored_offset, end)


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
    _verify_stored(corpus)
    _verify_lengths(corpus)
    bitmap = table_bytes(corpus, LISTED, 0, bits_size(corpus.entries, 1))
    if int.from_bytes(bitmap, "little") >> corpus.entries:
        raise corrupt(corpus.path, container_place(corpus, LISTED, 0), "the bits after the last entry are not 0")


def _verify_stored(corpus: Container) -> None:
    widths = corpus_record_widths(corpus)
    records = corpus_entries(corpus)
    place = container_place(corpus, RECORDS, 0)
    for entry, record in enumerate(records):
        shared = corpus_shared_length(corpus_stored(corpus, entry))
        head = strings_get(corpus, SHARED, record.shared - 1) if record.shared else b""
        if shared != len(head) or (entry == 0 and record.stored_offset):
            raise corrupt(corpus.path, place + sum(widths) * entry, f"what is stored with entry {entry} is misplaced")
    if records and narrow_width(max(record.distinct for record in records)) != widths[-1]:
        raise corrupt(corpus.path, place, "records are wider than they should be")
    if not records and container_length(corpus, STORED):
        raise corrupt(corpus.path, place, "bytes are stored with no entry")
    shared_place = container_place(corpus, SHARED + 1, 0)
    strings = strings_all(corpus, SHARED)
    if any(left >= right for left, right in pairwise([b"", *strings])):
        raise corrupt(corpus.path, shared_place, "strings are not in ascending order")
    if {record.shared for record in records} - {0} != set(range(1, len(strings) + 1)):
        raise corrupt(corpus.path, shared_place, "stored bytes are shared by no entry")


def _verify_lengths(corpus: Container) -> None:
    lengths = [corpus_lengths(corpus, entry) for entry in range(corpus.entries)]
    codes = table_bytes(corpus, CODES, 0, len(FIELDS) * corpus.entries)
    for at, code in enumerate(codes):
        field, entry = divmod(at, corpus.entries)
        if code != corpus_length_code(lengths[entry][field]):
            place = container_place(corpus, CODES, at)
            raise corrupt(corpus.path, place, f"the length code of field {field} of entry {entry} is {code}")
    longest = [max((item[field] for item in lengths), default=0) for field in range(len(FIELDS))]
    if _totals(corpus) != (*corpus_totals(lengths), *map(corpus_length_width, longest)):
        raise corrupt(corpus.path, container_place(corpus, TOTALS, 0), "the totals are not those of the lengths")
