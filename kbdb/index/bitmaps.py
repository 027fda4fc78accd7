"""Bitmaps over the entries of a segment, as ``bytes``: bit ``i & 7`` of byte ``i >> 3`` stands for entry i.

They are immutable; each function gives a new one. Bits past the last entry are 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def empty(size: int) -> bytes:
    """No entry of ``size``."""
    return bytes((size + 7) // 8)


def full(size: int) -> bytes:
    """Every entry of ``size``."""
    return ((1 << size) - 1).to_bytes((size + 7) // 8, "little")


def having(size: int, entries: Iterable[int]) -> bytes:
    """Just these entries of ``size``."""
    bits = bytearray((size + 7) // 8)
    for entry in entries:
        bits[entry >> 3] |= 1 << (entry & 7)
    return bytes(bits)


def both(first: bytes, second: bytes) -> bytes:
    """Entries in both."""
    return (_number(first) & _number(second)).to_bytes(len(first), "little")


def either(first: bytes, second: bytes) -> bytes:
    """Entries in one or both."""
    return (_number(first) | _number(second)).to_bytes(len(first), "little")


def without(first: bytes, second: bytes) -> bytes:
    """Entries of the first that are not in the second."""
    return (_number(first) & ~_number(second)).to_bytes(len(first), "little")


def count(bits: bytes) -> int:
    """How many entries."""
    return _number(bits).bit_count()


def has(bits: bytes, entry: int) -> bool:
    """Whether the entry is in."""
    return bool(bits[entry >> 3] >> (entry & 7) & 1)


def entries(bits: bytes) -> Iterator[int]:
    """The entries, ascending."""
    for start in range(0, len(bits), _STRETCH):
        stretch = bits[start : start + _STRETCH]
        # Most bitmaps are nearly empty; comparing a stretch of them costs no more than looking at a byte.
        if stretch == _NOTHING[: len(stretch)]:
            continue
        for place, byte in enumerate(stretch, start):
            while byte:
                low = byte & -byte
                yield place * 8 + low.bit_length() - 1
                byte ^= low


_STRETCH = 128
_NOTHING = bytes(_STRETCH)


def _number(bits: bytes) -> int:
    return int.from_bytes(bits, "little")
