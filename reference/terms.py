"""terms.idx: surface words, their stems, and the postings of the stems (csrc/README.md, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, islice, pairwise
from typing import NamedTuple
from zlib import crc32

from kbdb.plan import FIELDS
from kbdb.reference.bits import bits_pack, bits_size, bits_unpack
from kbdb.reference.container import (
    Container,
    container_length,
    container_place,
    lists_get,
    table_bytes,
)
from kbdb.reference.strings import strings_all, strings_count, strings_find, strings_text, strings_write
from kbdb.reference.varint import (
    LIMIT,
    Span,
    corrupt,
    narrow_decode,
    narrow_encode,
    narrow_width,
    varint_encode,
    varint_first,
)

WORDS, WORD_RECORDS, STEMS, STEM_RECORDS, POSTINGS = 0, 2, 3, 5, 6
BLOCK = 128
MAX_GAP_BITS = 16
ESCAPE_BITS = 8
"""What an escape costs beside its own bits: it is slow to read, and so is what stands around it."""

DENSE = 0x80
EXCEPTION = 3
ONCE, BODY_ONLY, LEAST_BODY = 0x20, 0x80, 4
MOST_BODY = 0xFF - BODY_ONLY + LEAST_BODY
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
    """Of a block of postings: the largest saturation in 255ths, its last entry, where it and its positions end."""

    impact: int
    last: int
    postings_end: int
    positions_end: int


class StemLists(NamedTuple):
    """A stem's encoded lists, for the writer."""

    postings: bytes
    positions: bytes
    df: int
    forms: int


def terms_write(
    words: list[str], records: list[WordRecord], stems: list[str], lists: list[StemLists], entries: int
) -> list[bytes]:
    """The regions of terms.idx.

    Args:
        words: all surface words, ascending, with a record each.
        records: of the words.
        stems: all stems, ascending, with their lists.
        lists: of the stems.
        entries: of the segment.
    """
    most_forms = max((item.forms for item in lists), default=0)
    word_widths = _word_widths(len(stems), most_forms)
    stem_widths = _stem_widths(entries, most_forms)
    stem_records = []
    postings_end = positions_end = 0
    for item in lists:
        row = (postings_end, positions_end, crc32(item.postings), crc32(item.positions), item.df, item.forms)
        stem_records.append(narrow_encode(row, stem_widths))
        postings_end += len(item.postings)
        positions_end += len(item.positions)
    stem_records.append(narrow_encode((postings_end, positions_end, 0, 0, 0, 0), stem_widths))
    return [
        *strings_write([word.encode() for word in words]),
        b"".join(narrow_encode(record, word_widths) for record in records),
        *strings_write([stem.encode() for stem in stems]),
        b"".join(stem_records),
        b"".join(item.postings for item in lists),
    ]


def _word_widths(stems: int, most_forms: int) -> list[int]:
    return [narrow_width(stems), narrow_width(most_forms)]


def _stem_widths(entries: int, most_forms: int) -> list[int]:
    return [5, 5, 4, 4, narrow_width(entries), narrow_width(most_forms)]


def terms_word_widths(container: Container) -> list[int]:
    """In how many bytes the numbers of a word's record are written: the last is what is left of a record's length."""
    (stem, _) = _word_widths(strings_count(container, STEMS), 0)
    words = strings_count(container, WORDS)
    return [stem, container_length(container, WORD_RECORDS) // words - stem if words else 1]


def terms_stem_widths(container: Container) -> list[int]:
    """The same for a stem's record."""
    known = _stem_widths(container.entries, 0)[:-1]
    row = container_length(container, STEM_RECORDS) // (strings_count(container, STEMS) + 1)
    return [*known, row - sum(known)]


def terms_open(container: Container) -> None:
    """Checks at opening that the tables fit each other."""
    for records, widths, rows in (
        (WORD_RECORDS, terms_word_widths(container), strings_count(container, WORDS)),
        (STEM_RECORDS, terms_stem_widths(container), strings_count(container, STEMS) + 1),
    ):
        if not 1 <= widths[-1] <= 4 or container_length(container, records) != rows * sum(widths):
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
    widths = terms_word_widths(container)
    start = sum(widths) * number
    record = WordRecord._make(narrow_decode(table_bytes(container, WORD_RECORDS, start, start + sum(widths)), widths))
    if record.stem >= strings_count(container, STEMS):
        raise corrupt(container.path, container_place(container, WORD_RECORDS, start), "a word's stem is out of range")
    return record


def terms_stem(container: Container, number: int) -> StemRecord:
    """The record of stem ``number``."""
    widths = terms_stem_widths(container)
    size = sum(widths)
    rows = table_bytes(container, STEM_RECORDS, size * number, size * (number + 2))
    postings, positions, postings_crc, positions_crc, df, forms = narrow_decode(rows, widths)
    postings_end, positions_end, *_ = narrow_decode(rows[size:], widths)
    place = container_place(container, STEM_RECORDS, size * number)
    if not (0 <= postings_end - postings < LIMIT and 0 <= positions_end - positions < LIMIT):
        raise corrupt(container.path, place, f"the lists of stem {number} are misplaced")
    if not 0 < forms <= strings_count(container, WORDS):
        raise corrupt(container.path, place, "a stem's forms are out of range")
    return StemRecord(
        postings,
        positions,
        postings_end - postings,
        positions_end - positions,
        df,
        forms,
        postings_crc,
        positions_crc,
    )


def terms_forms(container: Container) -> list[list[str]]:
    """For each stem its words, in order of their forms."""
    words: list[list[str]] = [[] for _ in range(strings_count(container, STEMS))]
    for number, word in enumerate(terms_words(container)):
        record = terms_word(container, number)
        if record.form != len(words[record.stem]):
            place = container_place(container, WORD_RECORDS, sum(terms_word_widths(container)) * number)
            raise corrupt(container.path, place, f"the word {word!r} has another form")
        words[record.stem].append(word)
    for number, group in enumerate(words):
        if len(group) != terms_stem(container, number).forms:
            place = container_place(container, STEM_RECORDS, sum(terms_stem_widths(container)) * number)
            raise corrupt(container.path, place, f"stem {number} has {len(group)} words")
    return words


def postings_read(container: Container, record: StemRecord) -> list[Posting]:
    """The postings of a stem, entries ascending."""
    span, refs, first = _list(container, record)
    postings: list[Posting] = []
    start = first
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


def _list(container: Container, record: StemRecord) -> tuple[Span, list[BlockRef], int]:
    """A stem's list, its refs, and where its blocks begin."""
    span = lists_get(container, POSTINGS, record.postings_offset, record.postings_length, record.postings_crc)
    count = -(-record.df // BLOCK)
    widths = _ref_widths(container.entries, count, record.postings_length, record.positions_length)
    size = sum(widths)
    if len(span.data) < size * count:
        raise corrupt(span.path, span.offset, f"a list is too short for {record.df} postings")
    refs = []
    for start in range(0, size * count, size):
        impact, last, *ends = narrow_decode(span.data[start : start + size], widths)
        postings_end, positions_end = ends or (len(span.data) - size * count, record.positions_length)
        refs.append(BlockRef(impact, last, postings_end, positions_end))
    return span, refs, size * count


def _ref_widths(entries: int, blocks: int, postings_length: int, positions_length: int) -> list[int]:
    """In how many bytes a ref's impact, last entry, and, unless there is one block, its two ends are written."""
    ends = [postings_length, positions_length] if blocks > 1 else []
    return [1, *map(narrow_width, [entries - 1, *ends])]


def postings_encode(
    postings: Sequence[Posting], impacts: Sequence[int], positions_ends: Sequence[int], entries: int
) -> bytes:
    """The list of a stem's postings.

    Args:
        postings: at least one, entries ascending.
        impacts: of each posting, its saturation in 255ths.
        positions_ends: of each block, where its positions end in the stem's list of positions.
        entries: of the segment.
    """
    refs = []
    blocks = b""
    before = -1
    for number, positions_end in enumerate(positions_ends):
        group = slice(BLOCK * number, BLOCK * (number + 1))
        blocks += _encode(postings[group], before)
        before = postings[group][-1].entry
        refs.append(BlockRef(max(impacts[group]), before, len(blocks), positions_end))
    # The refs' own bytes count too in the length that tells how wide they are.
    for width in range(1, 5):
        widths = _ref_widths(entries, len(refs), (1 << 8 * width) - 1, positions_ends[-1])
        if narrow_width(sum(widths) * len(refs) + len(blocks)) <= width:
            break
    return b"".join(narrow_encode(ref, widths) for ref in refs) + blocks


def _encode(postings: Sequence[Posting], before: int) -> bytes:
    entries = [before, *(posting.entry for posting in postings)]
    bits, symbols = _encode_gaps([entry - previous - 1 for previous, entry in pairwise(entries)])
    dense, codes = _encode_codes([_code(posting.frequencies) for posting in postings])
    exceptions = b"".join(
        _encode_exception(item.frequencies) for item in postings if _code(item.frequencies) == EXCEPTION
    )
    first = bytes([bits | dense]) + varint_encode(len(symbols) - len(postings))
    return first + codes + (bits_pack(symbols, bits) if bits else b"") + exceptions


def _encode_gaps(gaps: Sequence[int]) -> tuple[int, list[int]]:
    """The width that costs least, and the gaps in symbols of it."""
    if not any(gaps):
        return 0, [0] * len(gaps)

    def cost(bits: int) -> int:
        escapes = sum(gap // _most(bits) for gap in gaps)
        return bits * (len(gaps) + escapes) + ESCAPE_BITS * escapes

    bits = min(range(1, MAX_GAP_BITS + 1), key=cost)
    most = _most(bits)
    return bits, [symbol for gap in gaps for symbol in [most] * (gap // most) + [gap % most]]


def _most(bits: int) -> int:
    """The symbol that says that a gap goes on."""
    return (1 << bits) - 1


def _encode_codes(codes: Sequence[int]) -> tuple[int, bytes]:
    """Of a block's codes, or of those that are not 0 with their places: what is shorter; and how it is marked."""
    dense = bits_pack(codes, 2)
    others = [place for place, code in enumerate(codes) if code]
    listed = bytes([len(others), *others]) + bits_pack([codes[place] for place in others], 2)
    return (DENSE, dense) if len(dense) < len(listed) else (0, listed)


def _code(frequencies: Frequencies) -> int:
    frequency = frequencies[BODY]
    return frequency - 1 if sum(frequencies) == frequency <= EXCEPTION else EXCEPTION


def _encode_exception(frequencies: Frequencies) -> bytes:
    body = frequencies[BODY]
    if sum(frequencies) == body <= MOST_BODY:
        return bytes([BODY_ONLY + body - LEAST_BODY])
    mask = sum(1 << field for field, frequency in enumerate(frequencies) if frequency)
    if max(frequencies) == 1:
        return bytes([mask | ONCE])
    return bytes([mask]) + b"".join(varint_encode(frequency - 1) for frequency in frequencies if frequency)


def _decode(block: Span, count: int, before: int) -> list[Posting]:
    if not block.data:
        raise corrupt(block.path, block.offset, "a list ends before a block of postings")
    bits = block.data[0] & ~DENSE
    escapes, codes_start = varint_first(block.part(1, len(block.data)))
    codes, gaps_span = _decode_codes(block.part(1 + codes_start, len(block.data)), count, block.data[0] & DENSE != 0)
    exceptions_start = bits_size(count + escapes, bits)
    if exceptions_start > len(gaps_span.data) or bits > MAX_GAP_BITS:
        raise corrupt(block.path, block.offset, "a block's gaps are longer than the block")
    gaps = _decode_gaps(gaps_span.part(0, exceptions_start), count, escapes, bits)
    frequencies = _decode_frequencies(gaps_span.part(exceptions_start, len(gaps_span.data)), codes)
    entries = accumulate(gaps, lambda entry, gap: entry + gap + 1, initial=before)
    return [Posting(entry, item) for entry, item in zip(islice(entries, 1, None), frequencies, strict=True)]


def _decode_codes(span: Span, count: int, dense: bool) -> tuple[list[int], Span]:
    """The codes that a span begins with, and what follows them."""
    if dense:
        end = bits_size(count, 2)
        codes = bits_unpack(span.part(0, end), 2, count)
    else:
        listed = span.data[0] if span.data else 0
        end = 1 + listed + bits_size(listed, 2)
        found = dict(zip(span.data[1 : 1 + listed], bits_unpack(span.part(1 + listed, end), 2, listed), strict=False))
        codes = [found.get(place, 0) for place in range(count)]
    if _encode_codes(codes) != (DENSE if dense else 0, span.data[:end]):
        raise corrupt(span.path, span.offset, "a block's codes are not written as they should be")
    return codes, span.part(end, len(span.data))


def _decode_gaps(span: Span, count: int, escapes: int, bits: int) -> list[int]:
    gaps: list[int] = []
    gap = 0
    for symbol in bits_unpack(span, bits, count + escapes) if bits else [0] * (count + escapes):
        gap += symbol
        if bits == 0 or symbol != _most(bits):
            gaps.append(gap)
            gap = 0
    if len(gaps) != count or gap or _encode_gaps(gaps)[0] != bits:
        raise corrupt(span.path, span.offset, f"a block's {count} gaps are not written as they should be")
    return gaps


def _decode_frequencies(span: Span, codes: Sequence[int]) -> list[Frequencies]:
    found: list[Frequencies] = []
    for code in codes:
        if code == EXCEPTION:
            frequencies, size = _decode_exception(span)
            span = span.part(size, len(span.data))
        else:
            frequencies = (0, code + 1, 0, 0, 0)
        found.append(frequencies)
    if span.data:
        raise corrupt(span.path, span.offset, "bytes after the last posting of a block")
    return found


def _decode_exception(span: Span) -> tuple[Frequencies, int]:
    """The exception that a span begins with, and its length."""
    if not span.data:
        raise corrupt(span.path, span.offset, "a block ends inside a posting")
    first = span.data[0]
    mask = 1 << BODY if first >= BODY_ONLY else first & ~ONCE
    if not 0 < mask < 1 << len(FIELDS):
        raise corrupt(span.path, span.offset, f"a posting has the mask {mask}")
    size = 1
    counts = [0] * len(FIELDS)
    for field in range(len(FIELDS)):
        if not mask >> field & 1:
            continue
        if first >= BODY_ONLY:
            counts[field] = first - BODY_ONLY + LEAST_BODY
        elif first & ONCE:
            counts[field] = 1
        else:
            more, length = varint_first(span.part(size, len(span.data)))
            counts[field] = more + 1
            size += length
    title, body, description, tags, heading = counts
    frequencies = (title, body, description, tags, heading)
    if max(frequencies) >= LIMIT:
        raise corrupt(span.path, span.offset, "a frequency does not fit 32 bits")
    if _code(frequencies) != EXCEPTION or _encode_exception(frequencies) != span.data[:size]:
        raise corrupt(span.path, span.offset, "an exception is not written as it should be")
    return frequencies, size
