"""Varints and narrow integers (csrc/README.md, section 1), and the spans of file bytes that lists are read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from kbdb.errors import CorruptError, TooLargeError

LIMIT = 1 << 32
"""A varint is below this."""


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a file whose crc was right, and where they stand, for errors.

    Attributes:
        path: the file.
        offset: of the first byte in the file.
        data: the bytes.
    """

    path: str
    offset: int
    data: bytes

    def part(self, start: int, end: int) -> Span:
        """The bytes ``start`` to ``end``, less those that are not there."""
        return Span(self.path, self.offset + start, self.data[start:end])


def corrupt(path: str, offset: int, what: str) -> CorruptError:
    """The error for damage found at an offset of a file."""
    return CorruptError(f"{path}: offset {offset}: {what}", "the index can be made anew: kbdb rebuild")


def varint_encode(value: int) -> bytes:
    """The bytes of one varint; TooLargeError when it does not fit 32 bits."""
    if not 0 <= value < LIMIT:
        raise TooLargeError(
            "a text does not fit the 32 bits of an index number", "split the text into smaller sections"
        )
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint_decode(span: Span) -> list[int]:
    """All varints of a span that holds nothing else."""
    values: list[int] = []
    value = shift = 0
    for at, byte in enumerate(span.data):
        if byte >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 28:
                raise corrupt(span.path, span.offset + at, "a varint has more than 5 bytes")
            continue
        value |= byte << shift
        if value >= LIMIT or (shift and not byte):
            raise corrupt(span.path, span.offset + at, "a varint is longer than needed or past 32 bits")
        values.append(value)
        value = shift = 0
    if shift:
        raise corrupt(span.path, span.offset + len(span.data), "a list ends inside a varint")
    return values


def varint_first(span: Span) -> tuple[int, int]:
    """The varint that a span begins with, and its length."""
    length = next((at for at, byte in enumerate(span.data) if byte < 0x80), len(span.data)) + 1
    values = varint_decode(span.part(0, length))
    if not values:
        raise corrupt(span.path, span.offset, "a list ends before a varint")
    return values[0], length


def narrow_width(value: int) -> int:
    """The bytes, 1 to 4, in which integers up to ``value`` are written; TooLargeError when they do not fit 32 bits."""
    varint_encode(value)
    return max(1, -(-value.bit_length() // 8))


def narrow_encode(values: Sequence[int], widths: Sequence[int]) -> bytes:
    """Integers in so many bytes each; those past the last width are left out."""
    return b"".join(value.to_bytes(width, "little") for value, width in zip(values, widths, strict=False))


def narrow_decode(data: bytes, widths: Sequence[int]) -> list[int]:
    """The integers of so many bytes each."""
    ends = accumulate(widths, initial=0)
    return [int.from_bytes(data[start:end], "little") for start, end in pairwise(ends)]
