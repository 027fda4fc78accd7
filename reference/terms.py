"""terms.idx: surface words, their stems, and the postings of the stems (csrc/README.md, section 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise
from typing import NamedTuple
from zlib import crc32

from kbdb.plan import FIELDS
from kbdb.reference.bits import bits_pack, bits_size, bits_unpack
from kbdb.reference.container import (
    Container,
    container_place,
    lists_get,
    table_bytes,
    table_rows,
)
from kbdb.reference.strings import strings_all, strings_count, strings_find, strings_text, strings_write
from kbdb.reference.varint import LIMIT, Span, corrupt, varint_decode, varint_encode

WORDS, WORD_RECORDS, STEMS, STEM_RECORDS, POSTINGS = 0, 2, 3, 5, 6
WORD_RECORD = struct.Struct("<II")
STEM_RECORD = struct.Struct("<QQIIIIII")
BLOCK = 128
BLOCK_REF = struct.Struct("<IIIB")
BLOCK_HEADER = struct.Struct("<BH")
GAP_BITS = (4, 8, 16)
EXCEPTION = 3
BODY = FIELDS.index("body")

Frequencies = tuple[int, int, int, int, int]
"""Tokens of a stem in each of ``FIELDS``."""


class WordRecord(NamedTuple):
    """A word's stem, by number, and its rank among the words of that stem."""

    stem: int
    form: int


class StemRecord(NamedTuple):
    """Where a stem's two lists are, and what they hold."""

    postings_offset: int
    positions_offset: int
    postings_length: int
    positions_length: int
    df: int
    forms: int
    postings_crc: int
    positions_crc: int


class Posting(NamedTuple):
    """An entry that holds a stem."""

    entry: int
    frequencies: Frequencies


class BlockRef(NamedTuple):
    """Of a block of postings: its last entry, where it and its positions end, the largest saturation in 255ths."""

    last: int
    postings_end: int
    positions_end: int
    impact: int


class StemLists(NamedTuple):
    """A stem's encoded lists, for the writer."""

    postings: bytes
    positions: bytes
    df: int
    forms: int


def terms_write(words: list[str], records: list[WordRecord], stems: list[str], lists: list[StemLists]) -> list[bytes]:
    """The regions of terms.idx.

    Args:
        words: all surface words, ascending, with a record each.
        records: of the words.
        stems: all stems, ascending, with their lists.
        lists: of the stems.
    """
    word_records = b"".join(WORD_RECORD.pack(*record) for record in records)
    stem_records = bytearray()
    postings_end = positions_end = 0
    for item in lists:
        record = StemRecord(
            postings_end,
            positions_end,
            len(item.postings),
            len(item.positions),
            item.df,
            item.forms,
            crc32(item.postings),
            crc32(item.positions),
        )
        stem_records += STEM_RECORD.pack(*record)
        postings_end += len(item.postings)
        positions_end += len(item.positions)
    return [
        *strings_write([word.encode() for word in words]),
        word_records,
        *strings_write([stem.encode() for stem in stems]),
        bytes(stem_records),
        b"".join(item.postings for item in lists),
    ]


def terms_open(container: Container) -> None:
    """Checks at opening that the tables fit each other."""
    for strings, records, size in ((WORDS, WORD_RECORDS, WORD_RECORD.size), (STEMS, STEM_RECORDS, STEM_RECORD.size)):
        if table_rows(container, records, size) != strings_count(container, strings):
            place = container_place(container, records, 0)
            raise corrupt(container.path, place, "strings and their records differ in number")


def terms_words(container: Container) -> list[str]:
    """All surface words, ascending."""
    return [strings_text(container, WORDS, word) for word in strings_all(container, WORDS)]


def terms_stems(container: Container) -> list[str]:
    """All stems, ascending."""
    return [strings_text(container, STEMS, stem) for stem in strings_all(container, STEMS)]


def terms_find(container: Container, stem: str) -> StemRecord | None:
    """The record of a stem, None when no entry holds it."""
    number = strings_find(container, STEMS, stem.encode())
    return terms_stem(container, number) if number >= 0 else None


def terms_find_word(container: Container, word: str) -> WordRecord | None:
    """The record of a surface word, None when no entry holds it."""
    number = strings_find(container, WORDS, word.encode())
    return terms_word(container, number) if number >= 0 else None


def terms_word(container: Container, number: int) -> WordRecord:
    """The record of word ``number``."""
    start = WORD_RECORD.size * number
    row = table_bytes(container, WORD_RECORDS, start, start + WORD_RECORD.size)
    record = WordRecord._make(WORD_RECORD.unpack(row))
    if record.stem >= strings_count(container, STEMS):
        raise corrupt(container.path, container_place(container, WORD_RECORDS, start), "a word's stem is out of range")
    return record


def terms_stem(container: Container, number: int) -> StemRecord:
    """The record of stem ``number``."""
    start = STEM_RECORD.size * number
    row = table_bytes(container, STEM_RECORDS, start, start + STEM_RECORD.size)
    record = StemRecord._make(STEM_RECORD.unpack(row))
    if not 0 < record.forms <= strings_count(container, WORDS):
        place = container_place(container, STEM_RECORDS, start)
        raise corrupt(container.path, place, "a stem's forms are out of range")
    return record


def terms_forms(container: Container) -> list[list[str]]:
    """For each stem its words, in order of their forms."""
    words: list[list[str]] = [[] for _ in range(strings_count(container, STEMS))]
    for number, word in enumerate(terms_words(container)):
        record = terms_word(container, number)
        if record.form != len(words[record.stem]):
            place = container_place(container, WORD_RECORDS, WORD_RECORD.size * number)
            raise corrupt(container.path, place, f"the word {word!r} has another form")
        words[record.stem].append(word)
    for number, group in enumerate(words):
        if len(group) != terms_stem(container, number).forms:
            place = container_place(container, STEM_RECORDS, STEM_RECORD.size * number)
            raise corrupt(container.path, place, f"stem {number} has {len(group)} words")
    return words


def postings_read(container: Container, record: StemRecord) -> list[Posting]:
    """The postings of a stem, entries ascending."""
    span, refs = _list(container, record)
    postings: list[Posting] = []
    first = start = BLOCK_REF.size * len(refs)
    for ref in refs:
        block = span.part(start, first + ref.postings_end)
        start += len(block.data)
        if start != first + ref.postings_end:
            raise corrupt(span.path, span.offset + start, "a block of postings does not lie inside its list")
        before = postings[-1].entry if postings else -1
        postings += _decode(block, min(BLOCK, record.df - len(postings)), before)
        if postings[-1].entry != ref.last:
            raise corrupt(span.path, block.offset, f"a block ends with entry {postings[-1].entry}, not {ref.last}")
        if ref.last >= container.entries:
            raise corrupt(span.path, block.offset, f"a list names entry {ref.last} of {container.entries}")
    if start != len(span.data):
        raise corrupt(span.path, span.offset + start, "bytes after the last block of postings")
    return postings


def postings_blocks(container: Container, record: StemRecord) -> list[BlockRef]:
    """What is said of a stem's postings, block by block."""
    return _list(container, record)[1]


def _list(container: Container, record: StemRecord) -> tuple[Span, list[BlockRef]]:
    span = lists_get(container, POSTINGS, record.postings_offset, record.postings_length, record.postings_crc)
    size = BLOCK_REF.size * -(-record.df // BLOCK)
    if len(span.data) < size:
        raise corrupt(span.path, span.offset, f"a list is too short for {record.df} postings")
    return span, [BlockRef._make(row) for row in BLOCK_REF.iter_unpack(span.data[:size])]


def postings_encode(postings: Sequence[Posting], impacts: Sequence[int], positions_ends: Sequence[int]) -> bytes:
    """The list of a stem's postings.

    Args:
        postings: at least one, entries ascending.
        impacts: of each posting, its saturation in 255ths.
        positions_ends: of each block, where its positions end in the stem's list of positions.
    """
    refs = b""
    blocks = b""
    before = -1
    for number, positions_end in enumerate(positions_ends):
        group = slice(BLOCK * number, BLOCK * (number + 1))
        blocks += _encode(postings[group], before)
        before = postings[group][-1].entry
        refs += BLOCK_REF.pack(before, len(blocks), positions_end, max(impacts[group]))
    return refs + blocks


def _encode(postings: Sequence[Posting], before: int) -> bytes:
    entries = [before, *(posting.entry for posting in postings)]
    bits, gaps = _encode_gaps([entry - previous - 1 for previous, entry in pairwise(entries)])
    codes = [_code(posting.frequencies) for posting in postings]
    exceptions = b"".join(
        _encode_exception(item.frequencies) for item in postings if _code(item.frequencies) == EXCEPTION
    )
    return BLOCK_HEADER.pack(bits, len(gaps)) + bits_pack(codes, 2) + gaps + exceptions


def _encode_gaps(gaps: Sequence[int]) -> tuple[int, bytes]:
    """The width that needs the fewest bytes, and the gaps in symbols of it."""
    bits = min(GAP_BITS, key=lambda width: bits_size(sum(gap // _most(width) + 1 for gap in gaps), width))
    most = _most(bits)
    symbols = [symbol for gap in gaps for symbol in [most] * (gap // most) + [gap % most]]
    return bits, bits_pack(symbols, bits)


def _most(bits: int) -> int:
    """The symbol that says that a gap goes on."""
    return (1 << bits) - 1


def _code(frequencies: Frequencies) -> int:
    frequency = frequencies[BODY]
    return frequency - 1 if sum(frequencies) == frequency <= EXCEPTION else EXCEPTION


def _encode_exception(frequencies: Frequencies) -> bytes:
    mask = sum(1 << field for field, frequency in enumerate(frequencies) if frequency)
    return bytes([mask]) + b"".join(varint_encode(frequency - 1) for frequency in frequencies if frequency)


def _decode(block: Span, count: int, before: int) -> list[Posting]:
    codes_start = BLOCK_HEADER.size
    if len(block.data) < codes_start:
        raise corrupt(block.path, block.offset, "a list ends inside a block of postings")
    bits, gap_bytes = BLOCK_HEADER.unpack(block.data[:codes_start])
    gaps_start = codes_start + bits_size(count, 2)
    exceptions_start = gaps_start + gap_bytes
    if exceptions_start > len(block.data):
        raise corrupt(block.path, block.offset, "a block's gaps are longer than the block")
    gaps = _decode_gaps(block.part(gaps_start, exceptions_start), count, bits)
    codes = bits_unpack(block.part(codes_start, gaps_start), 2, count)
    frequencies = _decode_frequencies(block.part(exceptions_start, len(block.data)), codes)
    entries = accumulate(gaps, lambda entry, gap: entry + gap + 1, initial=before)
    return [Posting(entry, item) for entry, item in zip(islice(entries, 1, None), frequencies, strict=True)]


def _decode_gaps(span: Span, count: int, bits: int) -> list[int]:
    if bits not in GAP_BITS:
        raise corrupt(span.path, span.offset, f"gaps are written in {bits} bits")
    gaps: list[int] = []
    gap = 0
    for symbol in bits_unpack(span, bits, 8 * len(span.data) // bits):
        gap += symbol
        if symbol != _most(bits):
            gaps.append(gap)
            gap = 0
    # With half a byte left over, there is a gap too many.
    del gaps[count:]
    if len(gaps) < count or _encode_gaps(gaps) != (bits, span.data):
        raise corrupt(span.path, span.offset, f"a block's {count} gaps are not written as they should be")
    return gaps


def _decode_frequencies(span: Span, codes: Sequence[int]) -> list[Frequencies]:
    # The mask is a byte below 32, so it reads as a varint of one byte; one that is not fails the check of its value.
    values = iter(varint_decode(span))
    try:
        found = [_decode_exception(span, values) if code == EXCEPTION else (0, code + 1, 0, 0, 0) for code in codes]
    except StopIteration:
        raise corrupt(span.path, span.offset + len(span.data), "a block ends inside a posting") from None
    if next(values, None) is not None:
        raise corrupt(span.path, span.offset, "bytes after the last posting of a block")
    return found


def _decode_exception(span: Span, values: Iterator[int]) -> Frequencies:
    mask = next(values)
    if not 0 < mask < 1 << len(FIELDS):
        raise corrupt(span.path, span.offset, f"a posting has the mask {mask}")
    counts = [next(values) + 1 if mask >> field & 1 else 0 for field in range(len(FIELDS))]
    title, body, description, tags, heading = counts
    frequencies = (title, body, description, tags, heading)
    if max(frequencies) >= LIMIT:
        raise corrupt(span.path, span.offset, "a frequency does not fit 32 bits")
    if _code(frequencies) != EXCEPTION:
        raise corrupt(span.path, span.offset, f"a posting of frequency {body} in the body only is an exception")
    return frequencies
