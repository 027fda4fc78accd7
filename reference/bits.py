"""Numbers of equal width, one after the other, the lowest bit first (csrc/README.md, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence

from kbdb.reference.varint import Span, corrupt


def bits_width(values: Sequence[int]) -> int:
    """How many bits the largest value needs."""
    return max(values).bit_length()


def bits_size(count: int, width: int) -> int:
    """How many bytes ``count`` values take."""
    return (count * width + 7) // 8


def bits_pack(values: Sequence[int], width: int) -> bytes:
    """The bytes of values that fit ``width`` bits; the bits left over are 0."""
    digits = "".join(format(value, f"0{width}b") for value in reversed(values))
    return int(digits or "0", 2).to_bytes(bits_size(len(values), width), "little")


def bits_unpack(span: Span, width: int, count: int) -> list[int]:
    """The ``count`` values of a span that holds nothing else."""
    if len(span.data) != bits_size(count, width):
        raise corrupt(span.path, span.offset, f"{count} numbers of {width} bits are not in {len(span.data)} bytes")
    if not count:
        return []
    digits = format(int.from_bytes(span.data, "little"), f"0{count * width}b")
    if len(digits) > count * width:
        raise corrupt(span.path, span.offset + len(span.data) - 1, "bits left over are not 0")
    return [int(digits[end - width : end], 2) for end in range(count * width, 0, -width)]
