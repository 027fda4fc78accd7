"""positions.idx: where each stem stands, and as which of its words (csrc/README.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise

from kbdb.errors import TooLargeError
from kbdb.reference.bits import bits_pack, bits_unpack, bits_width
from kbdb.reference.container import Container, lists_get
from kbdb.reference.terms import BLOCK, Frequencies, Posting, StemRecord, postings_blocks
from kbdb.reference.varint import LIMIT, Span, corrupt

LISTS = 0
BARE = 0x80
MIN_WIDTH, MAX_WIDTH = 1, 32
"""Values without bits would take no bytes, and nothing would limit their number."""

Token = tuple[int, int, int]
"""One word of an entry: its field, its position there, and its form."""


def positions_bits(forms: int) -> int:
    """How many low bits of a number hold the form."""
    return (forms - 1).bit_length()


def positions_encode(occurrences: Sequence[Sequence[Token]], forms: int) -> list[bytes]:
    """The blocks of a stem's list: its sorted tokens in each entry that holds it, entries ascending."""
    bits = positions_bits(forms)
    return [_encode(occurrences[start : start + BLOCK], bits) for start in range(0, len(occurrences), BLOCK)]


def _encode(occurrences: Sequence[Sequence[Token]], bits: int) -> bytes:
    pairs = [(position, form) for tokens in occurrences for _, position, form in tokens]
    if max(position << bits | form for position, form in pairs) >= LIMIT:
        raise TooLargeError(
            "a text does not fit the 32 bits of an index number", "split the text into smaller sections"
        )
    bare = bits > 0 and not any(form for _, form in pairs)
    values = [position if bare else position << bits | form for position, form in pairs]
    width = max(bits_width(values), MIN_WIDTH)
    return bytes([width | (BARE if bare else 0)]) + bits_pack(values, width)


def positions_read(
    container: Container, terms: Container, record: StemRecord, postings: Sequence[Posting]
) -> list[list[Token]]:
    """The tokens of a stem, for each of its postings.

    Args:
        container: the segment's positions.idx.
        terms: its terms.idx.
        record: of the stem.
        postings: of the stem, all of them.
    """
    span = lists_get(container, LISTS, record.positions_offset, record.positions_length, record.positions_crc)
    occurrences: list[list[Token]] = []
    start = 0
    for ref in postings_blocks(terms, record):
        group = postings[len(occurrences) : len(occurrences) + BLOCK]
        block = span.part(start, ref.positions_end)
        start += len(block.data)
        if start != ref.positions_end:
            raise corrupt(span.path, span.offset + start, "a block of positions does not lie inside its list")
        occurrences += _decode(block, [posting.frequencies for posting in group], record.forms)
    if start != len(span.data):
        raise corrupt(span.path, span.offset + start, "bytes after the last block of positions")
    return occurrences


def _decode(block: Span, frequencies: Sequence[Frequencies], forms: int) -> list[list[Token]]:
    bare = bool(block.data and block.data[0] & BARE)
    bits = 0 if bare else positions_bits(forms)
    held_values = _values(block, frequencies)
    # What could be told without forms is.
    if (bare and forms == 1) or (bits > 0 and not any(value & (1 << bits) - 1 for value in held_values)):
        raise corrupt(block.path, block.offset, "a block of positions is wider than needed")
    values = iter(held_values)
    occurrences = []
    for counts in frequencies:
        tokens = []
        for field, count in enumerate(counts):
            held = list(islice(values, count))
            if any(left > right for left, right in pairwise(held)):
                raise corrupt(block.path, block.offset, "the positions in a field fall")
            tokens += [(field, value >> bits, value & (1 << bits) - 1) for value in held]
        occurrences.append(tokens)
    if any(form >= forms for tokens in occurrences for _, _, form in tokens):
        raise corrupt(block.path, block.offset, f"a list names a form past its {forms}")
    return occurrences


def _values(block: Span, frequencies: Sequence[Frequencies]) -> list[int]:
    if not block.data:
        raise corrupt(block.path, block.offset, "a list ends before a block of positions")
    width = block.data[0] & ~BARE
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        raise corrupt(block.path, block.offset, f"positions are written in {width} bits")
    values = bits_unpack(block.part(1, len(block.data)), width, sum(map(sum, frequencies)))
    if width != max(bits_width(values), MIN_WIDTH):
        raise corrupt(block.path, block.offset, f"positions that need fewer bits are written in {width}")
    return values
