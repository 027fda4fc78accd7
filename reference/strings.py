"""Sorted sets of byte strings in two tables: words, stems and keys (csrc/README.md, sections 3 and 4)."""

from __future__ import annotations

import struct
from bisect import bisect_left
from itertools import accumulate, pairwise

from kbdb.reference.container import (
    Container,
    container_length,
    container_place,
    table_bytes,
    table_rows,
)
from kbdb.reference.varint import corrupt

PAIR = struct.Struct("<II")


def strings_write(strings: list[bytes]) -> list[bytes]:
    """The regions ``offsets`` and ``bytes`` for strings in ascending order."""
    offsets = list(accumulate(map(len, strings), initial=0))
    return [struct.pack(f"<{len(offsets)}I", *offsets), b"".join(strings)]


def strings_count(container: Container, region: int) -> int:
    """How many strings there are; ``region`` is the offsets' one, the bytes follow it."""
    rows = table_rows(container, region, 4)
    if not rows:
        raise corrupt(container.path, container_place(container, region, 0), "a table of offsets is empty")
    return rows - 1


def strings_get(container: Container, region: int, number: int) -> bytes:
    """String ``number``, which is below the count."""
    start, end = PAIR.unpack(table_bytes(container, region, 4 * number, 4 * number + 8))
    if not start <= end <= container_length(container, region + 1):
        raise corrupt(container.path, container_place(container, region, 4 * number), "offsets of strings fall")
    return table_bytes(container, region + 1, start, end)


def strings_find(container: Container, region: int, string: bytes) -> int:
    """The number of a string, -1 when it is not there."""
    count = strings_count(container, region)
    number = bisect_left(range(count), string, key=lambda i: strings_get(container, region, i))
    return number if number < count and strings_get(container, region, number) == string else -1


def strings_all(container: Container, region: int) -> list[bytes]:
    """All strings, in order."""
    count = strings_count(container, region)
    offsets = struct.unpack(f"<{count + 1}I", table_bytes(container, region, 0, 4 * count + 4))
    length = container_length(container, region + 1)
    data = table_bytes(container, region + 1, 0, length)
    if offsets[0] or offsets[-1] != length or any(left > right for left, right in pairwise(offsets)):
        raise corrupt(container.path, container_place(container, region, 0), "offsets of strings fall or leave gaps")
    return [data[left:right] for left, right in pairwise(offsets)]


def strings_text(container: Container, region: int, string: bytes) -> str:
    """A string that was read, as text."""
    try:
        return string.decode()
    except UnicodeDecodeError:
        place = container_place(container, region + 1, 0)
        raise corrupt(container.path, place, f"{string!r} is not UTF-8") from None


def strings_verify(container: Container, region: int) -> list[bytes]:
    """All strings, after checking that they are text, not empty, distinct and ascending."""
    strings = strings_all(container, region)
    for string in strings:
        strings_text(container, region, string)
    if any(left >= right for left, right in pairwise([b"", *strings])):
        raise corrupt(container.path, container_place(container, region + 1, 0), "strings are not in ascending order")
    return strings
