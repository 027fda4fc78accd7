"""Words, postings and positions by hand-made bytes (csrc/README.md, sections 4 and 5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import CorruptError, TooLargeError
from kbdb.reference.bits import bits_pack, bits_unpack, bits_width
from kbdb.reference.container import POSITIONS, TERMS, Container, container_open, container_write
from kbdb.reference.positions import Token, positions_encode, positions_read
from kbdb.reference.terms import (
    DENSE,
    BlockRef,
    Frequencies,
    Posting,
    StemLists,
    StemRecord,
    WordRecord,
    postings_blocks,
    postings_encode,
    postings_read,
    terms_find,
    terms_find_word,
    terms_forms,
    terms_open,
    terms_write,
)
from kbdb.reference.varint import Span

ONCE = (0, 1, 0, 0, 0)


def one_stem(postings: bytes, df: int, forms: int = 1, positions: bytes = b"") -> tuple[Container, StemRecord]:
    """terms.idx of a segment of 100,000 entries with one stem, and the record of that stem."""
    words = [f"run{i}" for i in range(forms)]
    lists = [StemLists(postings, positions, df, forms)]
    regions = terms_write(words, [WordRecord(0, form) for form in range(forms)], ["run"], lists, 100_000)
    data = container_write(TERMS, 7, 100_000, 0, regions)
    container = container_open(TERMS, memoryview(data), 7, "terms.idx")
    terms_open(container)
    record = terms_find(container, "run")
    assert record is not None
    return container, record


def ref(last: int, postings_end: int, positions_end: int = 0, impact: int = 0) -> bytes:
    """One of several, when both of the stem's lists are shorter than 256 bytes."""
    return bytes([impact]) + last.to_bytes(3, "little") + bytes([postings_end, positions_end])


def block(gap_bits: int, codes: str, gaps: str, exceptions: str = "", *, escapes: str = "00", dense: int = 0) -> bytes:
    return bytes([gap_bits | dense]) + bytes.fromhex(escapes + codes + gaps + exceptions)


def listed(last: int, only_block: bytes) -> bytes:
    """A list of one block."""
    return ONLY + last.to_bytes(3, "little") + only_block


ONLY = b"\0"
"""The impact of a list's only block."""


def test_words_know_their_stem_and_form() -> None:
    container, record = one_stem(b"", 1, forms=3)
    assert WordRecord(0, 2) == terms_find_word(container, "run2")
    assert terms_find_word(container, "run3") is None
    assert terms_find(container, "ru") is None
    assert terms_forms(container) == [["run0", "run1", "run2"]]
    assert (record.df, record.forms) == (1, 3)


POSTINGS = [
    Posting(0, ONCE),
    Posting(3, (0, 5, 0, 0, 0)),
    Posting(4, (1, 0, 0, 0, 130)),
    Posting(37, (0, 2, 1, 0, 0)),
    Posting(38, (0, 3, 0, 0, 0)),
]
# Codes 0, 3, 3, 3 and 2; gaps 0, 2, 0, 32 and 0 in 6 bits each.
POSTINGS_BLOCK = block(6, "fc 02", "80 00 80 00", "81  11 00 81 01  06 01 00", dense=DENSE)


def test_postings() -> None:
    data = bytes([200]) + (38).to_bytes(3, "little") + POSTINGS_BLOCK
    assert data == postings_encode(POSTINGS, [3, 200, 0, 7, 199], [77], 100_000)
    container, record = one_stem(data, 5, positions=bytes(77))
    assert postings_read(container, record) == POSTINGS
    assert postings_blocks(container, record) == [BlockRef(200, 38, len(POSTINGS_BLOCK), 77)]


@pytest.mark.parametrize(
    ("entries", "gap_bits", "escapes", "gaps"),
    [
        ([0], 0, 0, ""),
        ([0, 1, 2], 0, 0, ""),
        ([0, 2], 2, 0, "04"),
        ([2], 2, 0, "02"),
        ([3], 3, 0, "03"),
        ([14], 4, 0, "0e"),
        ([15], 5, 0, "0f"),
        ([200], 8, 0, "c8"),
        ([254], 8, 0, "fe"),
        ([255], 9, 0, "ff 00"),
        ([*range(19), 23], 2, 1, "00 00 00 00 c0 01"),
        ([*range(20), 21], 1, 1, "00 00 10"),
        ([65533], 16, 0, "fd ff"),
        ([65535], 16, 1, "ff ff 00 00"),
        ([70000], 16, 1, "ff ff 71 11"),
        ([70000, 70001, 99999], 16, 1, "ff ff 71 11 00 00 2d 75"),
    ],
)
def test_each_width_of_gaps(entries: list[int], gap_bits: int, escapes: int, gaps: str) -> None:
    data = listed(entries[-1], block(gap_bits, "00", gaps, escapes=f"{escapes:02x}"))
    postings = [Posting(entry, ONCE) for entry in entries]
    assert data == postings_encode(postings, [0] * len(postings), [0], 100_000)
    assert postings == postings_read(*one_stem(data, len(entries)))


def test_codes_that_are_not_0_are_listed_where_they_are_few() -> None:
    postings = [Posting(entry, (0, 3, 0, 0, 0) if entry == 77 else ONCE) for entry in range(100)]
    data = listed(99, block(0, "01 4d 02", ""))
    assert data == postings_encode(postings, [0] * 100, [0], 100_000)
    assert postings == postings_read(*one_stem(data, 100))


@pytest.mark.parametrize(
    ("frequencies", "code", "exceptions"),
    [
        ((0, 1, 0, 0, 0), "00", ""),
        ((0, 2, 0, 0, 0), "01", ""),
        ((0, 3, 0, 0, 0), "02", ""),
        ((0, 4, 0, 0, 0), "03", "80"),
        ((0, 131, 0, 0, 0), "03", "ff"),
        ((0, 132, 0, 0, 0), "03", "02 83 01"),
        ((0, 2**32 - 1, 0, 0, 0), "03", "02 fe ff ff ff 0f"),
        ((1, 0, 0, 0, 0), "03", "21"),
        ((0, 0, 0, 0, 1), "03", "30"),
        ((1, 1, 0, 1, 0), "03", "2b"),
        ((1, 2, 3, 4, 5), "03", "1f 00 01 02 03 04"),
    ],
)
def test_codes_and_exceptions(frequencies: Frequencies, code: str, exceptions: str) -> None:
    form = {"codes": "00", "dense": 0} if code == "00" else {"codes": code, "dense": DENSE}
    data = listed(7, bytes([4 | int(form["dense"]), 0]) + bytes.fromhex(f"{form['codes']} 07 {exceptions}"))
    assert data == postings_encode([Posting(7, frequencies)], [0], [0], 100_000)
    assert [Posting(7, frequencies)] == postings_read(*one_stem(data, 1))


def test_several_blocks() -> None:
    entries = [*range(128), *range(200, 10 * 128 + 200, 10), 9999]
    # 128 gaps of 0; a gap of 72 = 4 * 15 + 12 and 127 of 9; a gap of 9999 - 1470 - 1.
    blocks = [
        block(0, "00", ""),
        block(4, "00", "ff ff 9c" + "99" * 63, escapes="04"),
        block(14, "00", "50 21"),
    ]
    ends = [len(b"".join(blocks[: number + 1])) for number in range(3)]
    refs = ref(127, ends[0], 5, 8) + ref(1470, ends[1], 9, 7) + ref(9999, ends[2], 12, 255)
    [refs[start : start + 4] + refs[start + 4 : start + 5] + refs[start + 6 : start + 7] for start in (0, 7, 14)]
    postings = [Posting(entry, ONCE) for entry in entries]
    impacts = [*range(1, 9), *[0] * 120, *[7] * 128, 255]
    data = refs + b"".join(blocks)
    assert len(data) < 256
    assert data == postings_encode(postings, impacts, [5, 9, 12], 100_000)
    container, record = one_stem(data, 257, positions=bytes(12))
    assert postings == postings_read(container, record)
    assert [item.impact for item in postings_blocks(container, record)] == [8, 7, 255]


@pytest.mark.parametrize("more", range(-3, 4))
def test_refs_are_as_wide_as_the_whole_list_is_long(more: int) -> None:
    """A list of about 256 bytes, from which on its refs are wider."""
    count = 192 + more
    postings = [Posting(entry, (0, 4, 0, 0, 0)) for entry in range(count)]
    data = postings_encode(postings, [0] * count, [1, 2], 100_000)
    container, record = one_stem(data, count, positions=bytes(2))
    assert postings == postings_read(container, record)
    width = 1 if len(data) < 256 else 2
    assert (more >= 0) == (width == 2)
    assert len(data) == 2 * (1 + 3 + width + 1) + postings_blocks(container, record)[-1].postings_end


RIGHT = block(0, "00", "")


@pytest.mark.parametrize(
    ("data", "df"),
    [
        (b"", 1),
        (ONLY + b"\0\0", 1),
        (listed(0, b""), 1),
        (listed(0, b"\0"), 1),
        (listed(0, b"\0\0"), 1),
        (listed(2, RIGHT), 2),
        (listed(1, RIGHT), 1),
        (listed(0, RIGHT), 129),
        (listed(0, RIGHT) + b"\0", 1),
        (listed(100_000, block(16, "00", "ff ff a1 86", escapes="01")), 1),
        (listed(7, block(17, "00", "07 00 00")), 1),
        (listed(7, block(0x44, "00", "07")), 1),
        (listed(7, block(5, "00", "07")), 1),
        (listed(7, block(3, "00", "07 00", escapes="01")), 1),
        (listed(7, block(4, "00", "")), 1),
        (listed(7, block(4, "00", "17")), 1),
        (listed(15, block(4, "00", "0f")), 1),
        (listed(15, block(4, "00", "ff", escapes="01")), 1),
        (listed(7, block(4, "00", "07", escapes="01")), 1),
        (listed(7, block(4, "00", "07", escapes="81 00")), 1),
        (listed(7, block(4, "00", "07", escapes="ff ff ff ff 0f")), 1),
        (listed(0, block(0, "00", "", escapes="01")), 1),
        (listed(7, block(4, "00", "07", dense=DENSE)), 1),
        (listed(7, block(4, "05", "07", dense=DENSE)), 1),
        (listed(7, block(4, "01 00 00", "07")), 1),
        (listed(99, block(0, "01 64 01", "")), 100),
        (listed(99, block(0, "02 05 05 05", "")), 100),
        (listed(99, block(0, "02 06 05 05", "")), 100),
        (listed(99, block(0, "01 05 05", "")), 100),
        (listed(99, block(0, "01 05 00", "")), 100),
        (listed(99, block(0, "63", "")), 100),
        (listed(7, block(4, "03", "07", "00", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "20", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "40", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "11 00", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "02 02", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "22", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "01 00", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "02 84 00", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "02 ff ff ff ff 0f", dense=DENSE)), 1),
        (listed(7, block(4, "03", "07", "21 00", dense=DENSE)), 1),
        (listed(7, block(4, "00", "07", "01")), 1),
    ],
    ids=[
        *("no ref", "ref cut", "no block", "head cut", "no codes", "last", "entry too low", "few refs"),
        *("bytes after the list", "entry 100000", "17 bits", "68 bits", "5 bits for 4", "3 bits with an escape"),
        *("no gaps", "bits left over", "gap goes on", "last gap goes on", "fewer escapes", "long varint"),
        *("many escapes", "escapes of no bits", "dense code for none", "code left over", "code 0 listed"),
        *("place past the block", "place twice", "places fall", "listed code left over", "listed 0", "listed cut"),
        *("empty mask", "empty mask once", "wide mask", "no exception", "exception cut", "exception of 3"),
        *("body once", "once in varints", "long frequency", "frequency of 2^32", "exception too long", "no code 3"),
    ],
)
def test_damaged_postings(data: bytes, df: int) -> None:
    with pytest.raises(CorruptError, match=r"terms\.idx: offset"):
        postings_read(*one_stem(data, df))


def test_blocks_out_of_order_are_damage() -> None:
    postings = [Posting(entry, ONCE) for entry in range(256)]
    data = postings_encode(postings, [0] * 256, [1, 2], 100_000)
    assert postings == postings_read(*one_stem(data, 256, positions=b"12"))
    assert data[:12] == ref(127, 3, 1) + ref(255, 6, 2)
    for last, end, other, other_end in ((255, 6, 127, 3), (127, 3, 255, 3), (127, 0, 255, 6), (127, 7, 255, 6)):
        refs = ref(last, end, 1) + ref(other, other_end, 2)
        with pytest.raises(CorruptError):
            postings_read(*one_stem(refs + data[12:], 256, positions=b"12"))


def positions(
    data: bytes, forms: int, postings: list[Posting], ends: list[int] | None = None
) -> tuple[Container, Container, StemRecord, list[Posting]]:
    """What ``positions_read`` wants, for a list whose blocks end where ``ends`` says."""
    encoded = postings_encode(postings, [0] * len(postings), ends if ends is not None else [len(data)], 100_000)
    terms, record = one_stem(encoded, len(postings), forms, data)
    file = container_write(POSITIONS, 7, 100_000, 0, [data])
    return container_open(POSITIONS, memoryview(file), 7, "positions.idx"), terms, record, postings


TWO = [Posting(0, (1, 2, 0, 0, 0)), Posting(5, ONCE)]


@pytest.mark.parametrize(
    ("tokens", "forms", "data"),
    [
        # Positions 0, 4, 6 and 40 with two bits for the form: 1, 16, 26 and 160.
        ([[(0, 0, 1), (1, 4, 0), (1, 6, 2)], [(1, 40, 0)]], 3, "08 01 10 1a a0"),
        # 1, 16, 26 and 2 in 5 bits each: 00010 11010 10000 00001, read from the right.
        ([[(0, 0, 1), (1, 4, 0), (1, 6, 2)], [(1, 0, 2)]], 3, "05 01 6a 01"),
        # One form needs no bits: 7, 7, 8 and 3 in 4 bits.
        ([[(0, 7, 0), (1, 7, 0), (1, 8, 0)], [(1, 3, 0)]], 1, "04 77 38"),
        # Where every token is of form 0, positions stand alone: 0, 4, 6 and 40 in 6 bits each.
        ([[(0, 0, 0), (1, 4, 0), (1, 6, 0)], [(1, 40, 0)]], 3, "86 00 61 a0"),
        # A pair that comes twice counts twice.
        ([[(0, 1, 0), (1, 1, 0), (1, 1, 0)], [(1, 0, 0)]], 1, "01 07"),
        ([[(0, 0, 0), (1, 0, 0), (1, 0, 0)], [(1, 0, 0)]], 1, "01 00"),
    ],
)
def test_positions(tokens: list[list[Token]], forms: int, data: str) -> None:
    encoded = bytes.fromhex(data)
    assert [encoded] == positions_encode(tokens, forms)
    assert tokens == positions_read(*positions(encoded, forms, TWO))


def test_each_block_of_positions_has_a_width_of_its_own() -> None:
    tokens = [[(1, 0, 0)]] * 127 + [[(1, 5, 0)]] + [[(1, 2**20, 0)], [(1, 1, 0)]]
    first = bytes([3]) + bytes(47) + bytes([5 << 5])
    second = bytes([21]) + (1 << 21 | 1 << 20).to_bytes(6, "little")
    assert [first, second] == positions_encode(tokens, 1)
    postings = [Posting(entry, ONCE) for entry in range(130)]
    assert tokens == positions_read(*positions(first + second, 1, postings, [49, 56]))
    for ends in ([48, 56], [50, 56], [49, 55], [49, 57], [56, 49], [0, 56]):
        with pytest.raises(CorruptError, match=r"positions\.idx: offset"):
            positions_read(*positions(first + second, 1, postings, ends))


@pytest.mark.parametrize(
    ("data", "frequencies"),
    [
        ("", ONCE),
        ("01", ONCE),
        ("01 00 00", ONCE),
        ("00", ONCE),
        ("00", (0, 2**31, 0, 0, 0)),
        ("21 00 00 00 00 01", ONCE),
        ("a1 00 00 00 00 01", ONCE),
        ("03 04", ONCE),
        ("03 01", ONCE),
        ("01 02", ONCE),
        ("02 03", ONCE),
        ("04 48", (0, 2, 0, 0, 0)),
        ("03 01", (0, 2, 0, 0, 0)),
    ],
    ids=[
        *(
            "nothing",
            "no values",
            "too many bytes",
            "0 bits",
            "0 bits, many values",
            "33 bits",
            "33 bits alone",
            "no form",
            "too wide",
        ),
        *("bits left over", "form", "positions fall", "forms fall"),
    ],
)
def test_damaged_positions(data: str, frequencies: Frequencies) -> None:
    with pytest.raises(CorruptError, match=r"positions\.idx: offset"):
        positions_read(*positions(bytes.fromhex(data), 3, [Posting(0, frequencies)]))


def test_the_same_tokens_in_several_fields_do_not_fall() -> None:
    tokens = [[(0, 1, 0), (1, 0, 0), (4, 0, 0)]]
    data = b"\1\1"
    assert [data] == positions_encode(tokens, 1)
    assert tokens == positions_read(*positions(data, 1, [Posting(0, (1, 1, 0, 0, 1))]))


def test_a_position_that_does_not_fit_is_refused() -> None:
    assert positions_encode([[(1, 2**30 - 1, 3)]], 4) == [b"\x20" + b"\xff" * 4]
    with pytest.raises(TooLargeError, match="32 bits"):
        positions_encode([[(1, 2**30, 0)]], 4)


@pytest.mark.parametrize(
    ("values", "width", "data"),
    [
        ([5], 3, "05"),
        ([1, 2, 3], 4, "21 03"),
        ([1, 0, 1, 1, 0, 0, 0, 0, 1], 1, "0d 01"),
        ([0x1234, 0xABCD], 16, "34 12 cd ab"),
        ([2**31, 1], 32, "00 00 00 80 01 00 00 00"),
        ([0x1FF, 0], 9, "ff 01 00"),
    ],
)
def test_numbers_are_packed_from_the_lowest_bit_on(values: list[int], width: int, data: str) -> None:
    packed = bytes.fromhex(data)
    assert packed == bits_pack(values, width)
    assert values == bits_unpack(Span("f", 0, packed), width, len(values))


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=300), st.integers(0, 31))
def test_packed_numbers_come_back(numbers: list[int], shift: int) -> None:
    values = [number >> shift for number in numbers]
    width = max(bits_width(values), 1)
    packed = bits_pack(values, width)
    assert values == bits_unpack(Span("f", 0, packed), width, len(values))
