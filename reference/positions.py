"""positions.idx: where each stem stands, and as which of its words (csrc/README.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence

from kbdb.reference.container import Container, container_list
from kbdb.reference.terms import Posting, StemRecord
from kbdb.reference.varint import Span, corrupt, varint_decode, varint_encode

LISTS = 0

Token = tuple[int, int]
"""A position in a field, and the form of the stem that stands there."""

Fields = list[list[Token]]
"""The tokens of one stem in one entry, for each of ``FIELDS``."""


def positions_bits(forms: int) -> int:
    """How many low bits of a number hold the form."""
    return (forms - 1).bit_length()


def positions_encode(occurrences: Sequence[Fields], forms: int) -> bytes:
    """The list of a stem: its tokens in each entry that holds it, entries ascending, tokens sorted."""
    bits = positions_bits(forms)
    out = bytearray()
    for fields in occurrences:
        for tokens in fields:
            before = 0
            for position, form in tokens:
                out += varint_encode((position - before) << bits | form)
                before = position
    return bytes(out)


def positions_read(container: Container, record: StemRecord, postings: Sequence[Posting]) -> list[Fields]:
    """The tokens of a stem, for each of its postings."""
    span = container_list(container, LISTS, record.positions_offset, record.positions_length, record.positions_crc)
    return _decode(span, postings, record.forms)


def _decode(span: Span, postings: Sequence[Posting], forms: int) -> list[Fields]:
    values = varint_decode(span)
    expected = sum(sum(posting.frequencies) for posting in postings)
    if len(values) != expected:
        raise corrupt(span.path, span.offset, f"a list has {len(values)} positions instead of {expected}")
    bits = positions_bits(forms)
    low = (1 << bits) - 1
    occurrences: list[Fields] = []
    at = 0
    for posting in postings:
        fields: Fields = []
        for frequency in posting.frequencies:
            tokens: list[Token] = []
            position = 0
            for value in values[at : at + frequency]:
                position += value >> bits
                tokens.append((position, value & low))
            at += frequency
            fields.append(tokens)
        occurrences.append(fields)
    if any(form >= forms for fields in occurrences for tokens in fields for _, form in tokens):
        raise corrupt(span.path, span.offset, f"a list names a form past its {forms}")
    return occurrences
