"""Lines are put together however they come, and one that is too long costs nothing but itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbdb.mcp.lines import MAX_LINE, LineReader

PIECES = st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\0", b"\n")), max_size=12)


def test_lines_end_with_either_end_and_blank_ones_are_passed_over() -> None:
    assert LineReader().feed(b"one\r\n\r\n \t\ntwo\n\nthree") == [b"one", b"two"]


@given(PIECES)
def test_where_the_bytes_are_cut_makes_no_difference(pieces: list[bytes]) -> None:
    whole, cut = LineReader(8), LineReader(8)
    assert [line for piece in pieces for line in cut.feed(piece)] == whole.feed(b"".join(pieces))


@given(PIECES)
def test_every_line_comes_out_whole_or_is_told_to_be_too_long(pieces: list[bytes]) -> None:
    data = b"".join(pieces) + b"\n"
    expected = [
        None if len(line) > 8 else line.rstrip(b"\r")
        for line in data.split(b"\n")
        if len(line) > 8 or line.rstrip(b"\r").strip()
    ]
    assert LineReader(8).feed(data) == expected


def test_a_line_that_is_too_long_is_told_once_before_it_ends_and_the_next_is_read() -> None:
    reader = LineReader(4)
    assert reader.feed(b"12345") == [None]
    assert reader.feed(b"678") == []
    assert reader.feed(b"9\nnext\n") == [b"next"]


def test_a_line_may_have_eight_mebibytes() -> None:
    assert LineReader().feed(b"x" * MAX_LINE + b"\n") == [b"x" * (8 << 20)]
    assert LineReader().feed(b"x" * (MAX_LINE + 1) + b"\n") == [None]
