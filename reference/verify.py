"""Reads every byte of a segment and checks that its files agree with each other (csrc/README.md, sections 2 to 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbdb.reference.container import (
    container_length,
    container_place,
    container_verify,
)
from kbdb.reference.corpus import (
    RECORDS,
    TARGETS,
    corpus_entries,
    corpus_record_widths,
    corpus_verify,
)
from kbdb.reference.keyed import keyed_verify
from kbdb.reference.places import places_check
from kbdb.reference.positions import LISTS, positions_read
from kbdb.reference.strings import strings_verify
from kbdb.reference.terms import (
    POSTINGS,
    STEM_RECORDS,
    STEMS,
    WORDS,
    StemRecord,
    postings_read,
    terms_forms,
    terms_stem,
    terms_stem_widths,
    terms_word_widths,
)
from kbdb.reference.varint import corrupt, narrow_width

if TYPE_CHECKING:
    from kbdb.reference.segment import Segment


def segment_verify(segment: Segment) -> None:
    """Raises CorruptError, with file and offset, for the first thing found wrong."""
    for container in (segment.terms, segment.positions, segment.corpus, segment.references_file):
        container_verify(container)
    corpus_verify(segment.corpus)
    keyed_verify(segment.references_file, TARGETS)
    strings_verify(segment.terms, WORDS)
    strings_verify(segment.terms, STEMS)
    _verify_stems(segment)


def _verify_stems(segment: Segment) -> None:
    terms = segment.terms
    places_seen: list[set[tuple[int, int]]] = [set() for _ in range(segment.sections)]
    distinct = [0] * segment.sections
    postings_end = positions_end = 0
    forms = terms_forms(terms)
    width = narrow_width(max(map(len, forms), default=0))
    if terms_stem_widths(terms)[-1] != width or (any(forms) and terms_word_widths(terms)[-1] != width):
        raise corrupt(terms.path, container_place(terms, STEM_RECORDS, 0), "records are wider than they should be")
    for number in range(len(forms)):
        record = terms_stem(terms, number)
        place = container_place(terms, STEM_RECORDS, sum(terms_stem_widths(terms)) * number)
        if (record.postings_offset, record.positions_offset) != (postings_end, positions_end):
            raise corrupt(terms.path, place, f"the lists of stem {number} are misplaced")
        postings_end += record.postings_length
        positions_end += record.positions_length
        for entry in _verify_stem(segment, record, places_seen):
            distinct[entry] += 1
    for container, region, end in (
        (terms, POSTINGS, postings_end),
        (segment.positions, LISTS, positions_end),
    ):
        if end != container_length(container, region):
            raise corrupt(container.path, container_place(container, region, end), "bytes after the last list")
    _verify_counts(segment, places_seen, distinct)


def _verify_stem(segment: Segment, record: StemRecord, places_seen: list[set[tuple[int, int]]]) -> list[int]:
    """Checks one stem's lists, and gives the entries that hold it in title or body."""
    place = container_place(segment.positions, LISTS, record.positions_offset)
    postings = postings_read(segment.terms, record)
    forms: set[int] = set()
    occurrences = positions_read(segment.positions, segment.terms, record, postings)
    for posting, tokens in zip(postings, occurrences, strict=True):
        places_seen[posting.entry].update((field, position) for field, position, _ in tokens)
        forms.update(form for _, _, form in tokens)
    if len(forms) != record.forms:
        raise corrupt(segment.positions.path, place, f"a list names {len(forms)} words of {record.forms}")
    return [posting.entry for posting in postings if posting.frequencies[0] or posting.frequencies[1]]


def _verify_counts(segment: Segment, places_seen: list[set[tuple[int, int]]], distinct: list[int]) -> None:
    for entry, record in enumerate(corpus_entries(segment.corpus)):
        place = container_place(segment.corpus, RECORDS, sum(corpus_record_widths(segment.corpus)) * entry)
        places_check(segment.corpus, entry, places_seen[entry])
        if record.distinct != distinct[entry]:
            raise corrupt(segment.corpus.path, place, f"entry {entry} has {distinct[entry]} stems in title and body")
