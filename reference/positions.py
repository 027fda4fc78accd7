"""positions.idx: where each stem stands, and as which of its words (csrc/README.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from kbdb.reference.container import Container, lists_get
from kbdb.reference.terms import Posting, StemRecord
from kbdb.reference.varint import corrupt, varint_decode, varint_encode

LISTS = 0

Token = tuple[int, int, int]
"""One word of an entry: its field, its position there, and its form."""


def positions_bits(forms: int) -> int:
    """How many low bits of a number hold the form."""
    return (forms - 1).bit_length()


def positions_encode(occurrences: Sequence[Sequence[Token]], forms: int) -> bytes:
    """The list of a stem: its sorted tokens in each entry that holds it, entries ascending."""
    bits = positions_bits(forms)
    out = bytearray()
    for tokens in occurrences:
        before = (-1, 0)
        for field, position, form in tokens:
            gap = position - before[1] if field == before[0] else position
            out += varint_encode(gap << bits | form)
            before = (field, position)
    return bytes(out)


def positions_read(container: Container, record: StemRecord, postings: Sequence[Posting]) -> list[list[Token]]:
    """The tokens of a stem, for each of its postings."""
    span = lists_get(container, LISTS, record.positions_offset, record.positions_length, record.positions_crc)
    values = varint_decode(span)
    expected = sum(sum(posting.frequencies) for posting in postings)
    if len(values) != expected:
        raise corrupt(span.path, span.offset, f"a list has {len(values)} positions instead of {expected}")
    bits = positions_bits(record.forms)
    form_mask = (1 << bits) - 1
    numbers = iter(values)
    occurrences = []
    for posting in postings:
        tokens = []
        for field, frequency in enumerate(posting.frequencies):
            position = 0
            for value in islice(numbers, frequency):
                position += value >> bits
                tokens.append((field, position, value & form_mask))
        occurrences.append(tokens)
    if any(form >= record.forms for tokens in occurrences for _, _, form in tokens):
        raise corrupt(span.path, span.offset, f"a list names a form past its {record.forms}")
    return occurrences
