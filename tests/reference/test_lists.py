"""Keyed lists, entry records and lengths by hand-made bytes (csrc/README.md, sections 3 and 6)."""

import struct
from zlib import crc32

import pytest

from kbdb.errors import CorruptError
from kbdb.reference.container import CORPUS, REFERENCES, Container, container_open, container_write
from kbdb.reference.corpus import (
    CorpusEntry,
    corpus_entry,
    corpus_length_code,
    corpus_lengths,
    corpus_open,
    corpus_stored,
    corpus_verify,
    corpus_write,
)
from kbdb.reference.keyed import keyed_find, keyed_keys, keyed_open, keyed_verify, keyed_write

KEYED = [
    struct.pack("<III", 0, 1, 3),
    b"a" + "é".encode(),
    struct.pack("<QIII", 0, 3, 3, crc32(b"\x00\x00\x07")) + struct.pack("<QIII", 3, 2, 1, crc32(b"\x80\x01")),
    b"\x00\x00\x07" + b"\x80\x01",
]
"""Entries 0, 1 and 9 have the key a, entry 128 has é."""


def keyed(regions: list[bytes], entries: int = 129) -> Container:
    data = container_write(REFERENCES, 7, entries, 0, regions)
    container = container_open(REFERENCES, memoryview(data), 7, "references.idx")
    keyed_open(container, 0)
    return container


def test_keyed_lists() -> None:
    assert keyed_write({"é": [128], "a": [0, 1, 9]}, 129) == KEYED
    container = keyed(KEYED)
    assert keyed_keys(container, 0, "") == [("a", 3), ("é", 1)]
    assert keyed_keys(container, 0, "é") == [("é", 1)]
    assert keyed_find(container, 0, b"a") == [0, 1, 9]
    assert keyed_find(container, 0, "é".encode()) == [128]
    assert keyed_find(container, 0, b"b") == []
    keyed_verify(container, 0)


def test_the_list_of_all_entries_takes_no_bytes() -> None:
    regions = keyed_write({"all": [0, 1, 2], "some": [0, 2]}, 3)
    assert regions[3] == b"\0\1"
    container = keyed(regions, entries=3)
    assert keyed_find(container, 0, b"all") == [0, 1, 2]
    keyed_verify(container, 0)
    with pytest.raises(CorruptError, match="3 entries has 0 gaps"):
        keyed_find(keyed(regions, entries=4), 0, b"all")
    with pytest.raises(CorruptError, match="3 entries has 3 gaps"):
        keyed_find(keyed(keyed_write({"all": [0, 1, 2]}, 4), entries=3), 0, b"all")


def test_an_entry_past_the_last_is_corrupt() -> None:
    with pytest.raises(CorruptError, match="entry 128 of 128"):
        keyed_find(keyed(KEYED, entries=128), 0, "é".encode())


def test_keys_out_of_order_are_corrupt() -> None:
    regions = [KEYED[0], b"\xc3\xa9a", *KEYED[2:]]
    with pytest.raises(CorruptError):
        keyed_verify(keyed([struct.pack("<III", 0, 2, 3), *regions[1:]]), 0)


def test_tables_that_do_not_fit_each_other_are_corrupt() -> None:
    with pytest.raises(CorruptError, match="differ in number"):
        keyed([KEYED[0], KEYED[1], KEYED[2][:20], KEYED[3]])


ENTRIES = [
    CorpusEntry(b"a" * 16, b"s\x1fxyz", True, 4, (1, 64, 3, 4, 5)),
    CorpusEntry(b"b" * 16, b"", False, 0, (0, 7, 0, 0, 1)),
    CorpusEntry(b"c" * 16, b"s\x1f", False, 300, (0, 300, 0, 0, 0)),
    CorpusEntry(b"d" * 16, b"own", True, 1, (1, 0, 0, 0, 0)),
]


def corpus(regions: list[bytes]) -> Container:
    data = container_write(CORPUS, 7, len(regions[0]) // 16, crc32(regions[0]), regions)
    container = container_open(CORPUS, memoryview(data), 7, "corpus.dat")
    corpus_open(container)
    return container


def test_entry_records() -> None:
    regions = corpus_write(ENTRIES, {}, [b"e" * 16])
    kbids, records, *filters, stored, removed, codes, lengths, totals, listed, shared_ends, shared = regions
    assert kbids == b"a" * 16 + b"b" * 16 + b"c" * 16 + b"d" * 16
    assert records == bytes.fromhex("00 01 0400  03 00 0000  03 01 2c01  03 00 0100")
    assert filters == [b"\0\0\0\0", b"", b"", b""]
    assert (stored, removed) == (b"xyzown", b"e" * 16)
    assert (shared_ends, shared) == (struct.pack("<2I", 0, 2), b"s\x1f")
    assert codes == bytes((1, 0, 0, 1, 64, 7, 133, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 1, 0, 0))
    assert struct.pack("<4H", 64, 7, 300, 0) == lengths
    assert struct.pack("<5Q5B", 2, 371, 3, 4, 6, 0, 2, 0, 0, 0) == totals
    assert listed == b"\x09"


def test_entry_records_are_read_back() -> None:
    container = corpus(corpus_write(ENTRIES, {}, []))
    numbers = range(len(ENTRIES))
    assert [entry.lengths for entry in ENTRIES] == [corpus_lengths(container, number) for number in numbers]
    assert [entry.stored for entry in ENTRIES] == [corpus_stored(container, number) for number in numbers]
    assert corpus_entry(container, 2) == (3, 1, 300)
    corpus_verify(container)


@pytest.mark.parametrize("longest", [63, 64, 255, 256, 65535, 65536, 2**24 - 1, 2**24, 2**32 - 1])
def test_lengths_of_each_width(longest: int) -> None:
    entries = [CorpusEntry(bytes([i]) * 16, b"", True, 1, (i, longest >> i, 0, 0, 0)) for i in range(8)]
    container = corpus(corpus_write(entries, {}, []))
    assert [entry.lengths for entry in entries] == [corpus_lengths(container, number) for number in range(8)]
    corpus_verify(container)


@pytest.mark.parametrize(
    ("region", "changed", "message"),
    [
        (1, "00 01 0400  03 00 0000  03 02 2c01  03 00 0100", "misplaced"),
        (1, "01 01 0400  03 00 0000  03 01 2c01  03 00 0100", "misplaced"),
        (1, "00 01 0400  03 00 0000  02 01 2c01  03 00 0100", "misplaced"),
        (1, "00 01 0400  03 00 0000  03 01 2c01  07 00 0100", "misplaced"),
        (1, "00 01 0400  03 00 0000  03 01 0200  03 00 0100", "wider"),
        (1, "00 00 0400  03 00 0000  03 00 2c01  03 00 0100", "shared by no entry"),
        (6, "78 1f 79 6f 77 6e", "misplaced"),
        (13, "73 74", "misplaced"),
    ],
    ids=["shared", "first", "falls", "past the end", "wide", "unused", "own bytes end a shared part", "no end"],
)
def test_wrong_records_are_corrupt(region: int, changed: str, message: str) -> None:
    regions = corpus_write(ENTRIES, {}, [])
    container = corpus([*regions[:region], bytes.fromhex(changed), *regions[region + 1 :]])
    with pytest.raises(CorruptError, match=message):
        corpus_verify(container)


@pytest.mark.parametrize(
    ("region", "extra"), [(1, 1), (1, 16), (8, 1), (9, 2), (9, 8), (10, 45), (9, 1), (10, 8), (11, 1)]
)
def test_lengths_that_do_not_fit_the_entries_are_corrupt(region: int, extra: int) -> None:
    regions = corpus_write(ENTRIES, {}, [])
    for changed in (regions[region] + bytes(extra), regions[region][: -min(extra, len(regions[region]))]):
        with pytest.raises(CorruptError, match=r"corpus\.dat: offset"):
            corpus([*regions[:region], changed, *regions[region + 1 :]])


@pytest.mark.parametrize(
    ("region", "message"),
    [(8, "totals"), (9, "length code of field 1 of entry 3"), (10, "do not fit")],
)
def test_verify_compares_codes_and_totals_with_the_lengths(region: int, message: str) -> None:
    regions = corpus_write(ENTRIES, {}, [])
    changed = regions[region][:-1] + bytes([regions[region][-1] ^ 1])
    with pytest.raises(CorruptError, match=message):
        corpus_verify(corpus([*regions[:region], changed, *regions[region + 1 :]]))


@pytest.mark.parametrize(
    ("length", "code"),
    [
        *((0, 0), (1, 1), (63, 63), (64, 64), (65, 64), (66, 65), (127, 95), (128, 96), (131, 96), (132, 97)),
        *((255, 127), (256, 128), (1023, 191), (2047, 223), (2048, 224), (4031, 254), (4032, 255), (4095, 255)),
        *((4096, 255), (1 << 20, 255), ((1 << 32) - 1, 255)),
    ],
)
def test_length_codes(length: int, code: int) -> None:
    assert code == corpus_length_code(length)


def test_length_codes_rise_and_each_stands_for_lengths_that_are_near() -> None:
    codes = [corpus_length_code(length) for length in range(4033)]
    assert sorted(codes) == codes
    assert set(range(256)) == set(codes)
    for code in range(64, 255):
        first, count = codes.index(code), codes.count(code)
        assert count - 1 <= first / 32
