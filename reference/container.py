"""The container of a segment's files: written, opened, read through its checksums (csrc/README.md, section 2)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from zlib import crc32

from kbdb.errors import StaleIndexError
from kbdb.reference.varint import Span, corrupt

VERSION = 3
PAGE = 4096
MAX_ENTRIES = 1 << 30
HEADER = struct.Struct("<4sHHQQII")
REGION = struct.Struct("<QQ")
U32 = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the four kinds of file.

    Attributes:
        file: its name.
        magic: its first four bytes.
        lists: for each region whether it is lists (True) or a table.
    """

    file: str
    magic: bytes
    lists: tuple[bool, ...]


KEYED = (False, False, False, True)
TERMS = Kind("terms.idx", b"KBTI", (False, False, False, False, False, False, True))
POSITIONS = Kind("positions.idx", b"KBPO", (True,))
CORPUS = Kind("corpus.dat", b"KBCO", (False, False, *KEYED, *[False] * 8))
REFERENCES = Kind("references.idx", b"KBRF", KEYED)


@dataclass(frozen=True, slots=True)
class Container:
    """An open file. ``regions`` are (offset, length); ``checked``: the (region, page) whose crc was found right."""

    kind: Kind
    path: str
    data: memoryview
    entries: int
    kbids_crc: int
    regions: tuple[tuple[int, int], ...]
    checked: set[tuple[int, int]] = field(default_factory=set)


def container_write(kind: Kind, fingerprint: int, entries: int, kbids_crc: int, regions: list[bytes]) -> bytes:
    """The bytes of a file with these regions, in the order of its kind."""
    end = _header_size(kind)
    references = b""
    body = b""
    for region, is_lists in zip(regions, kind.lists, strict=True):
        start = _align(end, 8)
        stored = region if is_lists else region + bytes(-len(region) % 4) + _page_crcs(region)
        references += REGION.pack(start, len(region))
        body += bytes(start - end) + stored
        end = start + len(stored)
    header = HEADER.pack(kind.magic, VERSION, len(regions), end, fingerprint, entries, kbids_crc) + references
    return header + U32.pack(crc32(header)) + body


def container_open(kind: Kind, data: memoryview, fingerprint: int, path: str) -> Container:
    """Opens a file and checks all that does not grow with it.

    Args:
        kind: which file it should be.
        data: the whole file, as bytes.
        fingerprint: what the reader expects.
        path: names the file in errors.

    Raises:
        CorruptError, StaleIndexError.
    """
    size = _header_size(kind)
    if len(data) < 6:
        raise corrupt(path, len(data), "the file ends inside its header")
    if bytes(data[:4]) != kind.magic:
        raise corrupt(path, 0, f"the file does not begin with {kind.magic.decode()}")
    if int.from_bytes(data[4:6], "little") != VERSION:
        raise StaleIndexError(f"{path}: made in another format version", "the index can be made anew: kbdb rebuild")
    if len(data) < size:
        raise corrupt(path, len(data), "the file ends inside its header")
    if U32.unpack_from(data, size - 4)[0] != crc32(data[: size - 4]):
        raise corrupt(path, size - 4, "the header's checksum is wrong")
    _, _, n_regions, file_bytes, found, entries, kbids_crc = HEADER.unpack_from(data)
    if found != fingerprint:
        raise StaleIndexError(f"{path}: made by another analyser", "the index can be made anew: kbdb rebuild")
    if n_regions != len(kind.lists):
        raise corrupt(path, 6, f"{n_regions} regions instead of {len(kind.lists)}")
    if file_bytes != len(data):
        raise corrupt(path, 8, f"the file has {len(data)} bytes instead of {file_bytes}")
    if entries > MAX_ENTRIES:
        raise corrupt(path, 24, f"{entries} entries are more than a segment holds")
    regions = tuple(REGION.iter_unpack(data[HEADER.size : size - 4]))
    _check_regions(kind, regions, path, size, file_bytes)
    return Container(kind, path, data, entries, kbids_crc, regions)


def _check_regions(kind: Kind, regions: tuple[tuple[int, int], ...], path: str, end: int, file_bytes: int) -> None:
    for number, ((offset, length), is_lists) in enumerate(zip(regions, kind.lists, strict=True)):
        if offset != _align(end, 8):
            raise corrupt(path, HEADER.size + REGION.size * number, f"region {number} does not follow the one before")
        end = offset + (length if is_lists else _align(length, 4) + 4 * _pages(length))
    if end != file_bytes:
        raise corrupt(path, 8, f"the regions end at {end}, the file at {file_bytes}")


def container_length(container: Container, region: int) -> int:
    """The bytes in a region."""
    return container.regions[region][1]


def table_rows(container: Container, region: int, size: int) -> int:
    """How many rows of ``size`` bytes a table has; CorruptError when its length is no multiple."""
    length = container_length(container, region)
    if length % size:
        raise corrupt(container.path, HEADER.size + REGION.size * region + 8, f"region {region} has part of a row")
    return length // size


def table_bytes(container: Container, region: int, start: int, end: int) -> bytes:
    """The bytes ``start`` to ``end`` of a table, which lie inside it; checks the pages they are on, once each."""
    offset, length = container.regions[region]
    for page in range(start // PAGE, _pages(end)):
        if (region, page) not in container.checked:
            _check_page(container, region, page)
            container.checked.add((region, page))
    assert 0 <= start <= end <= length
    return bytes(container.data[offset + start : offset + end])


def _check_page(container: Container, region: int, page: int) -> None:
    offset, length = container.regions[region]
    start, end = offset + PAGE * page, offset + min(PAGE * (page + 1), length)
    expected = U32.unpack_from(container.data, offset + _align(length, 4) + 4 * page)[0]
    if crc32(container.data[start:end]) != expected:
        raise corrupt(container.path, start, "the checksum of a page is wrong")


def lists_get(container: Container, region: int, offset: int, length: int, crc: int) -> Span:
    """A list inside a region of lists, its checksum found right."""
    start, size = container.regions[region]
    if offset + length > size:
        raise corrupt(container.path, start + min(offset, size), "a list does not lie inside its region")
    data = bytes(container.data[start + offset : start + offset + length])
    if crc32(data) != crc:
        raise corrupt(container.path, start + offset, "the checksum of a list is wrong")
    return Span(container.path, start + offset, data)


def container_place(container: Container, region: int, start: int) -> int:
    """Where byte ``start`` of a region is in the file; for errors."""
    return container.regions[region][0] + start


def container_verify(container: Container) -> None:
    """Checks every page of every table, and that the bytes between regions are 0."""
    end = _header_size(container.kind)
    for number, ((offset, length), is_lists) in enumerate(zip(container.regions, container.kind.lists, strict=True)):
        _check_zeros(container, end, offset)
        end = offset + length
        if not is_lists:
            for page in range(_pages(length)):
                _check_page(container, number, page)
            _check_zeros(container, end, offset + _align(length, 4))
            end = offset + _align(length, 4) + 4 * _pages(length)


def _check_zeros(container: Container, start: int, end: int) -> None:
    if any(container.data[start:end]):
        raise corrupt(container.path, start, "the bytes between two regions are not 0")


def _header_size(kind: Kind) -> int:
    return HEADER.size + REGION.size * len(kind.lists) + 4


def _page_crcs(table: bytes) -> bytes:
    return b"".join(U32.pack(crc32(table[PAGE * page : PAGE * (page + 1)])) for page in range(_pages(len(table))))


def _pages(length: int) -> int:
    return -(-length // PAGE)


def _align(offset: int, to: int) -> int:
    return -(-offset // to) * to
