"""terms.idx: surface words, their stems, and the postings of the stems (csrc/README.md, section 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from kbdb.plan import FIELDS
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
    span = lists_get(container, POSTINGS, record.postings_offset, record.postings_length, record.postings_crc)
    return _decode(span, record.df, container.entries)


def postings_encode(postings: Sequence[Posting]) -> bytes:
    """The list of a stem's postings."""
    out = bytearray()
    before = -1
    for entry, frequencies in postings:
        gap = 4 * (entry - before - 1)
        before = entry
        if sum(frequencies) == frequencies[BODY]:
            frequency = frequencies[BODY]
            out += varint_encode(gap) if frequency == 1 else varint_encode(gap + 1) + varint_encode(frequency - 2)
            continue
        mask = sum(1 << field for field, frequency in enumerate(frequencies) if frequency)
        out += varint_encode(gap + 2) + bytes([mask])
        out += b"".join(varint_encode(frequency - 1) for frequency in frequencies if frequency)
    return bytes(out)


def _decode(span: Span, df: int, entries: int) -> list[Posting]:
    # The mask is a byte below 32, so it reads as a varint of one byte; one that is not fails the check of its value.
    values = iter(varint_decode(span))
    postings: list[Posting] = []
    entry = -1
    try:
        for code in values:
            entry += (code >> 2) + 1
            postings.append(Posting(entry, _frequencies(span, code & 3, values)))
    except StopIteration:
        raise corrupt(span.path, span.offset + len(span.data), "a list ends inside a posting") from None
    if len(postings) != df:
        raise corrupt(span.path, span.offset, f"a list has {len(postings)} postings instead of {df}")
    if entry >= entries:
        raise corrupt(span.path, span.offset, f"a list names entry {entry} of {entries}")
    return postings


def _frequencies(span: Span, kind: int, values: Iterator[int]) -> Frequencies:
    frequencies = [0] * len(FIELDS)
    if kind == 0:
        frequencies[BODY] = 1
    elif kind == 1:
        frequencies[BODY] = next(values) + 2
    elif kind == 2:
        mask = next(values)
        if not 0 < mask < 1 << len(FIELDS):
            raise corrupt(span.path, span.offset, f"a posting has the mask {mask}")
        for field in range(len(FIELDS)):
            if mask >> field & 1:
                frequencies[field] = next(values) + 1
    else:
        raise corrupt(span.path, span.offset, "a posting is of a kind that does not occur")
    if max(frequencies) >= LIMIT:
        raise corrupt(span.path, span.offset, "a frequency does not fit 32 bits")
    title, body, description, tags, heading = frequencies
    return title, body, description, tags, heading
