"""Keyed lists: a sorted set of keys, each with an ascending list of entries (csrc/README.md, section 3).

Filters in corpus.dat and references in references.idx are such lists.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from kbdb.reference.container import (
    Container,
    container_length,
    container_place,
    lists_get,
    table_bytes,
    table_rows,
)
from kbdb.reference.strings import (
    strings_all,
    strings_count,
    strings_find,
    strings_text,
    strings_verify,
    strings_write,
)
from kbdb.reference.varint import corrupt, varint_decode, varint_encode

RECORD = struct.Struct("<QIII")


class KeyRecord(NamedTuple):
    """Where a key's list is, how many entries it has, and its crc."""

    offset: int
    length: int
    size: int
    crc: int


def keyed_write(lists: Mapping[str, list[int]], all_entries: int) -> list[bytes]:
    """The four regions for keys with their ascending entries, in a segment that has so many."""
    keys = sorted((key.encode(), entries) for key, entries in lists.items())
    records = bytearray()
    data = bytearray()
    for _, entries in keys:
        gaps = [] if len(entries) == all_entries else [entry - before - 1 for before, entry in pairwise([-1, *entries])]
        encoded = b"".join(map(varint_encode, gaps))
        records += RECORD.pack(len(data), len(encoded), len(entries), crc32(encoded))
        data += encoded
    return [*strings_write([key for key, _ in keys]), bytes(records), bytes(data)]


def keyed_open(container: Container, region: int) -> None:
    """Checks at opening that the tables fit each other; ``region`` is the first of the four."""
    if table_rows(container, region + 2, RECORD.size) != strings_count(container, region):
        place = container_place(container, region + 2, 0)
        raise corrupt(container.path, place, "keys and their records differ in number")


def keyed_find(container: Container, region: int, key: bytes) -> list[int]:
    """The entries of a key, none when there is no such key."""
    number = strings_find(container, region, key)
    return keyed_entries(container, region, number) if number >= 0 else []


def keyed_record(container: Container, region: int, number: int) -> KeyRecord:
    """The record of key ``number``."""
    start = RECORD.size * number
    return KeyRecord._make(RECORD.unpack(table_bytes(container, region + 2, start, start + RECORD.size)))


def keyed_entries(container: Container, region: int, number: int) -> list[int]:
    """The entries of key ``number``."""
    record = keyed_record(container, region, number)
    span = lists_get(container, region + 3, record.offset, record.length, record.crc)
    whole = record.size == container.entries
    gaps = varint_decode(span)
    if len(gaps) != (0 if whole else record.size):
        raise corrupt(span.path, span.offset, f"a list of {record.size} entries has {len(gaps)} gaps")
    if whole:
        return list(range(record.size))
    entries: list[int] = []
    entry = -1
    for gap in gaps:
        entry += gap + 1
        entries.append(entry)
    if entry >= container.entries:
        raise corrupt(span.path, span.offset, f"a list names entry {entry} of {container.entries}")
    return entries


def keyed_keys(container: Container, region: int, prefix: str) -> list[tuple[str, int]]:
    """The keys that begin with a prefix, each with its number of entries, in order."""
    keys = [strings_text(container, region, key) for key in strings_all(container, region)]
    return [
        (key, keyed_record(container, region, number).size) for number, key in enumerate(keys) if key.startswith(prefix)
    ]


def keyed_verify(container: Container, region: int) -> None:
    """Reads all keys and lists, and checks that the lists stand in key order without gaps and none is empty."""
    end = 0
    for number in range(len(strings_verify(container, region))):
        record = keyed_record(container, region, number)
        if record.offset != end or not keyed_entries(container, region, number):
            place = container_place(container, region + 2, RECORD.size * number)
            raise corrupt(container.path, place, "a list is empty or misplaced")
        end += record.length
    if end != container_length(container, region + 3):
        raise corrupt(container.path, container_place(container, region + 3, end), "bytes after the last list")
