"""Keyed lists, postings, positions and entry records by hand-made bytes (csrc/README.md, sections 3 to 6)."""

import struct
from zlib import crc32

import pytest

from kbdb.errors import CorruptError
from kbdb.reference.container import POSITIONS, REFERENCES, TERMS, Container, container_open, container_write
from kbdb.reference.corpus import CorpusEntry, corpus_write
from kbdb.reference.keyed import keyed_find, keyed_keys, keyed_open, keyed_verify, keyed_write
from kbdb.reference.positions import positions_encode, positions_read
from kbdb.reference.terms import (
    Posting,
    StemLists,
    StemRecord,
    WordRecord,
    postings_encode,
    postings_read,
    terms_find,
    terms_find_word,
    terms_forms,
    terms_open,
    terms_write,
)

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
    assert keyed_write({"é": [128], "a": [0, 1, 9]}) == KEYED
    container = keyed(KEYED)
    assert keyed_keys(container, 0, "") == [("a", 3), ("é", 1)]
    assert keyed_keys(container, 0, "é") == [("é", 1)]
    assert keyed_find(container, 0, b"a") == [0, 1, 9]
    assert keyed_find(container, 0, "é".encode()) == [128]
    assert keyed_find(container, 0, b"b") == []
    keyed_verify(container, 0)


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


POSTINGS = [
    (Posting(0, (0, 1, 0, 0, 0)), b"\x00"),
    (Posting(3, (0, 5, 0, 0, 0)), b"\x09\x03"),
    (Posting(4, (1, 0, 0, 0, 129)), b"\x02\x11\x00\x80\x01"),
    (Posting(37, (0, 2, 1, 0, 0)), b"\x82\x01\x06\x01\x00"),
]


def stem_container(postings: bytes, df: int, forms: int = 1) -> tuple[Container, StemRecord]:
    words = [f"run{i}" for i in range(forms)]
    lists = [StemLists(postings, b"", df, forms)]
    regions = terms_write(words, [WordRecord(0, form) for form in range(forms)], ["run"], lists)
    data = container_write(TERMS, 7, 100, 0, regions)
    container = container_open(TERMS, memoryview(data), 7, "terms.idx")
    terms_open(container)
    record = terms_find(container, "run")
    assert record is not None
    return container, record


def test_postings() -> None:
    data = b"".join(item for _, item in POSTINGS)
    assert data == postings_encode([posting for posting, _ in POSTINGS])
    assert [posting for posting, _ in POSTINGS] == postings_read(*stem_container(data, 4))


@pytest.mark.parametrize(
    ("data", "df"),
    [
        (b"\x00", 2),
        (b"\x00\x00", 1),
        (b"\x03", 1),
        (b"\x01", 1),
        (b"\x02\x00", 1),
        (b"\x02\x20\x00", 1),
        (b"\x02\x11\x00", 1),
        (b"\x90\x03", 1),
        (b"\x01\xff\xff\xff\xff\x0f", 1),
    ],
    ids=["few", "many", "kind", "cut", "empty mask", "wide mask", "cut mask", "entry 100", "frequency"],
)
def test_damaged_postings(data: bytes, df: int) -> None:
    with pytest.raises(CorruptError, match=r"terms\.idx: offset"):
        postings_read(*stem_container(data, df))


def test_words_know_their_stem_and_form() -> None:
    container, record = stem_container(b"\x00", 1, forms=3)
    assert WordRecord(0, 2) == terms_find_word(container, "run2")
    assert terms_find_word(container, "run3") is None
    assert terms_find(container, "ru") is None
    assert terms_forms(container) == [["run0", "run1", "run2"]]
    assert (record.df, record.forms) == (1, 3)


def positions(data: bytes, forms: int) -> tuple[Container, StemRecord]:
    file = container_write(POSITIONS, 7, 100, 0, [data])
    record = StemRecord(0, 0, 0, len(data), 2, forms, 0, crc32(data))
    return container_open(POSITIONS, memoryview(file), 7, "positions.idx"), record


def test_positions() -> None:
    postings = [Posting(0, (1, 2, 0, 0, 0)), Posting(5, (0, 1, 0, 0, 0))]
    tokens = [[(0, 0, 1), (1, 4, 0), (1, 6, 2)], [(1, 40, 0)]]
    data = bytes([0 << 2 | 1, 4 << 2 | 0, 2 << 2 | 2, 0x80 | (40 << 2 & 0x7F), 1])
    assert data == positions_encode(tokens, forms=3)
    assert tokens == positions_read(*positions(data, 3), postings)


def test_one_form_needs_no_bits() -> None:
    assert positions_encode([[(1, 7, 0), (1, 8, 0)]], forms=1) == b"\x07\x01"


@pytest.mark.parametrize("data", [b"", b"\x00\x00", b"\x03"], ids=["few", "many", "form"])
def test_damaged_positions(data: bytes) -> None:
    with pytest.raises(CorruptError, match=r"positions\.idx: offset"):
        positions_read(*positions(data, 3), [Posting(0, (0, 1, 0, 0, 0))])


def test_entry_records() -> None:
    entries = [
        CorpusEntry(b"a" * 16, b"xyz", True, 4, (1, 2, 3, 4, 5)),
        CorpusEntry(b"b" * 16, b"", False, 0, (0, 0, 0, 0, 0)),
    ]
    kbids, records, *filters, stored, removed = corpus_write(entries, {}, [b"c" * 16])
    assert kbids == b"a" * 16 + b"b" * 16
    assert struct.pack("<QII7I", 0, 3, crc32(b"xyz"), 1, 4, 1, 2, 3, 4, 5) == records[:44]
    assert struct.pack("<QII7I", 3, 0, 0, 0, 0, 0, 0, 0, 0, 0) == records[44:]
    assert filters == [b"\0\0\0\0", b"", b"", b""]
    assert (stored, removed) == (b"xyz", b"c" * 16)
