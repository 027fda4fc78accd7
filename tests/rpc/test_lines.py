"""kbdb.rpc.lines: bytes in any portions to lines, and nobody's memory filled."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import TooLargeError
from kbdb.rpc.lines import LineReader


def _read(reader: LineReader) -> list[bytes]:
    return list(iter(reader.next_line, None))


def _portions(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"?"))), st.lists(st.integers(0, 10_000)))
def test_lines_are_the_same_however_the_bytes_are_divided(lines: list[bytes], cuts: list[int]) -> None:
    reader, found = LineReader(), []
    for portion in _portions(b"".join(line + b"\n" for line in lines), cuts):
        reader.feed(portion)
        found += _read(reader)
    assert found == lines
    assert reader.pending == 0


@given(st.binary(max_size=200), st.lists(st.integers(0, 10_000)), st.integers(0, 20))
def test_any_bytes_give_lines_up_to_the_first_that_is_too_long(data: bytes, cuts: list[int], limit: int) -> None:
    reader, found = LineReader(limit), []
    *whole, rest = data.split(b"\n")
    expected = []
    for line in whole:
        if len(line) > limit:
            break
        expected.append(line)
    is_short = len(expected) == len(whole) and len(rest) <= limit
    try:
        for portion in _portions(data, cuts):
            reader.feed(portion)
            while (line := reader.next_line()) is not None:
                found.append(line)
        assert is_short
        assert reader.pending == len(rest)
    except TooLargeError:
        assert not is_short
    assert found == expected


def test_half_a_line_waits_for_the_rest() -> None:
    reader = LineReader()
    reader.feed(b'{"half":')
    assert reader.next_line() is None
    assert reader.pending == 8
    reader.feed(b" 1}\n{")
    assert reader.next_line() == b'{"half": 1}'
    assert reader.next_line() is None


def test_a_line_may_be_as_long_as_the_limit() -> None:
    reader = LineReader(5)
    reader.feed(b"12345\n")
    assert reader.next_line() == b"12345"


@pytest.mark.parametrize("data", [b"123456", b"123456\n", b"1234567890\nnext\n"])
def test_a_line_that_is_too_long_ends_the_reading_and_its_bytes_are_not_kept(data: bytes) -> None:
    reader = LineReader(5)
    reader.feed(b"first\n" + data)
    assert reader.next_line() == b"first"
    for _ in range(2):
        with pytest.raises(TooLargeError, match="more than 5 bytes"):
            reader.next_line()
        assert reader.pending == 0
        reader.feed(b"more" * 1000)
    assert reader.pending == 0


def test_bytes_are_searched_once_however_small_their_portions() -> None:
    reader = LineReader()
    for _ in range(1 << 14):
        reader.feed(b"x" * 64)
        assert reader.next_line() is None
    reader.feed(b"\n")
    line = reader.next_line()
    assert line is not None
    assert len(line) == 1 << 20
