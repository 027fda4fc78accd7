"""Varints by hand-made bytes (csrc/README.md, section 1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import CorruptError, TooLargeError
from kbdb.reference.varint import Span, varint_decode, varint_encode


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, b"\x00"),
        (127, b"\x7f"),
        (128, b"\x80\x01"),
        (300, b"\xac\x02"),
        (16384, b"\x80\x80\x01"),
        (2**32 - 1, b"\xff\xff\xff\xff\x0f"),
    ],
)
def test_known_bytes(value: int, data: bytes) -> None:
    assert data == varint_encode(value)
    assert [value] == varint_decode(Span("f", 0, data))


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\x01\x80", 102),
        (b"\x80\x00", 101),
        (b"\xff\xff\xff\xff\x10", 104),
        (b"\x80\x80\x80\x80\x80\x01", 104),
    ],
    ids=["cut off", "longer than needed", "past 32 bits", "six bytes"],
)
def test_damage_names_file_and_offset(data: bytes, offset: int) -> None:
    with pytest.raises(CorruptError, match=f"dir/terms.idx: offset {offset}:"):
        varint_decode(Span("dir/terms.idx", 100, data))


@pytest.mark.parametrize("value", [-1, 2**32])
def test_what_does_not_fit_is_refused(value: int) -> None:
    with pytest.raises(TooLargeError):
        varint_encode(value)


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_values_come_back(values: list[int]) -> None:
    assert values == varint_decode(Span("f", 0, b"".join(map(varint_encode, values))))
