"""The container by hand-made bytes (csrc/README.md, section 2)."""

import struct
from zlib import crc32

import pytest

from kbdb.errors import CorruptError, StaleIndexError
from kbdb.reference.container import (
    CORPUS,
    POSITIONS,
    TERMS,
    Container,
    container_open,
    container_verify,
    container_write,
    lists_get,
    table_bytes,
)

TABLE = bytes(range(250)) * 20 + b"xyz"
"""Longer than a page, and not a multiple of 4."""

LISTS = b"some lists"


def by_hand(
    magic: bytes = b"KBCO", version: int = 3, fingerprint: int = 7, entries: int = 3, file_bytes: int | None = None
) -> bytes:
    """A file of corpus.dat's kind whose first region is TABLE, whose filters' lists are LISTS, the others empty."""
    lengths = [len(TABLE), 0, 0, 0, 0, len(LISTS), *[0] * 8]
    start = 32 + 16 * 14 + 4
    assert start % 8 == 4
    first = start + 4
    stored = TABLE + b"\0" + struct.pack("<II", crc32(TABLE[:4096]), crc32(TABLE[4096:]))
    body = bytes(4) + stored
    empty = first + len(stored)
    empty += -empty % 8
    offsets = [first, *[empty] * 5, *[empty + 16] * 8]
    body += bytes(empty - first - len(stored)) + LISTS + bytes(6)
    end = start + len(body)
    header = struct.pack("<4sHHQQII", magic, version, 14, file_bytes or end, fingerprint, entries, 99)
    header += b"".join(struct.pack("<QQ", *pair) for pair in zip(offsets, lengths, strict=True))
    return header + struct.pack("<I", crc32(header)) + body


def opened(data: bytes) -> Container:
    return container_open(CORPUS, memoryview(data), 7, "dir/corpus.dat")


def test_writer_makes_the_bytes_made_by_hand() -> None:
    regions = [TABLE, b"", b"", b"", b"", LISTS, *[b""] * 8]
    assert by_hand() == container_write(CORPUS, 7, 3, 99, regions)


def test_reader_finds_what_was_put_there_by_hand() -> None:
    container = opened(by_hand())
    assert (container.entries, container.kbids_crc) == (3, 99)
    assert TABLE[4090:5003] == table_bytes(container, 0, 4090, 5003)
    assert lists_get(container, 5, 5, 5, crc32(b"lists")).data == b"lists"
    container_verify(container)


def test_each_kind_has_a_magic_of_its_own() -> None:
    with pytest.raises(CorruptError, match=r"dir/terms.idx: offset 0: .*KBTI"):
        container_open(TERMS, memoryview(by_hand()), 7, "dir/terms.idx")


@pytest.mark.parametrize("version", [0, 1, 2, 4])
def test_another_version_is_stale(version: int) -> None:
    with pytest.raises(StaleIndexError, match=r"corpus\.dat"):
        opened(by_hand(version=version))


def test_another_fingerprint_is_stale() -> None:
    with pytest.raises(StaleIndexError, match=r"corpus\.dat"):
        opened(by_hand(fingerprint=8))


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"", 0),
        (b"KBCO", 4),
        (b"KBCO\3\0", 6),
        (by_hand()[:100], 100),
        (by_hand()[:-1], 8),
        (by_hand() + b"\0", 8),
        (by_hand(file_bytes=5), 8),
        (by_hand(entries=(1 << 30) + 1), 24),
    ],
)
def test_a_wrong_header_names_the_offset(data: bytes, offset: int) -> None:
    with pytest.raises(CorruptError, match=rf"dir/corpus\.dat: offset {offset}:"):
        opened(data)


def test_the_most_entries_a_segment_holds() -> None:
    assert opened(by_hand(entries=1 << 30)).entries == 1 << 30


def test_a_page_is_checked_before_it_is_used_and_only_then() -> None:
    data = bytearray(by_hand())
    data[264 + 4096] ^= 1
    container = opened(bytes(data))
    assert TABLE[:4096] == table_bytes(container, 0, 0, 4096)
    with pytest.raises(CorruptError, match=f"offset {264 + 4096}:"):
        table_bytes(container, 0, 4095, 4097)


def test_a_list_is_checked_before_it_is_used() -> None:
    container = opened(by_hand())
    with pytest.raises(CorruptError, match="checksum of a list"):
        lists_get(container, 5, 0, 4, 12345)
    with pytest.raises(CorruptError, match="inside its region"):
        lists_get(container, 5, 8, 3, 0)


@pytest.mark.parametrize("offset", [260, 264 + 5003])
def test_verify_wants_zeros_between_regions(offset: int) -> None:
    data = bytearray(by_hand())
    data[offset] = 1
    with pytest.raises(CorruptError, match=f"offset {offset}:"):
        container_verify(opened(bytes(data)))


def test_a_file_of_one_region_of_lists() -> None:
    data = container_write(POSITIONS, 7, 0, 0, [b"ab"])
    assert len(data) == 32 + 16 + 4 + 4 + 2
    container_verify(container_open(POSITIONS, memoryview(data), 7, "positions.idx"))
