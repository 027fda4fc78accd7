"""Where a stem, or stems one after the other, occur in a segment (csrc/README.md, section 9)."""

from __future__ import annotations

from collections.abc import Sequence

from kbdb.plan import FIELDS, Alternative
from kbdb.reference.positions import Token, positions_read
from kbdb.reference.segment import Segment
from kbdb.reference.terms import Frequencies, postings_read, terms_find


def occurrences_read(segment: Segment, alternative: Alternative, field: int | None) -> dict[int, Frequencies]:
    """The entries where an alternative occurs, each with its frequencies.

    Args:
        segment: where to look.
        alternative: a stem, or a phrase.
        field: the only field that counts, None for all.
    """
    if len(alternative.stems) == 1:
        record = terms_find(segment.terms, alternative.stems[0])
        postings = postings_read(segment.terms, record) if record is not None else []
        found = {posting.entry: posting.frequencies for posting in postings}
    else:
        stems = [_tokens(segment, stem) for stem in alternative.stems]
        entries = [entry for entry in stems[0] if all(entry in tokens for tokens in stems)]
        found = {entry: _phrase_frequencies([tokens[entry] for tokens in stems]) for entry in entries}
    if field is not None:
        found = {entry: _only(field, frequencies) for entry, frequencies in found.items()}
    return {entry: frequencies for entry, frequencies in found.items() if any(frequencies)}


def _tokens(segment: Segment, stem: str) -> dict[int, list[Token]]:
    record = terms_find(segment.terms, stem)
    if record is None:
        return {}
    postings = postings_read(segment.terms, record)
    occurrences = positions_read(segment.positions, segment.terms, record, postings)
    return {posting.entry: tokens for posting, tokens in zip(postings, occurrences, strict=True)}


def _phrase_frequencies(occurrences: Sequence[Sequence[Token]]) -> Frequencies:
    """The positions p, counted for each of ``FIELDS``, where stem i stands at p + i for every i.

    Args:
        occurrences: for each stem of the phrase, in order, its tokens in one entry.
    """
    places = [{(field, position) for field, position, _ in tokens} for tokens in occurrences]
    found = [field for field, first in places[0] if all((field, first + i) in stem for i, stem in enumerate(places))]
    title, body, description, tags, heading = (found.count(field) for field in range(len(FIELDS)))
    return title, body, description, tags, heading


def _only(field: int, frequencies: Frequencies) -> Frequencies:
    title, body, description, tags, heading = (
        count if number == field else 0 for number, count in enumerate(frequencies)
    )
    return title, body, description, tags, heading
