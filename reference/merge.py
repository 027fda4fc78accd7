"""Takes entries out of a segment as the builder wants them, so that a merge makes the bytes a build would."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbdb.plan import FIELDS
from kbdb.reference.container import Container
from kbdb.reference.corpus import FILTERS, LISTED, TARGETS, corpus_entry, corpus_kbid, corpus_stored
from kbdb.reference.keyed import keyed_entries, keyed_keys
from kbdb.reference.places import places_check
from kbdb.reference.positions import positions_read
from kbdb.reference.terms import postings_read, terms_forms, terms_stem, terms_stems

if TYPE_CHECKING:
    from kbdb.reference.segment import Segment


@dataclass(slots=True)
class Record:
    """An entry being built.

    Attributes:
        kbid: its 16 bytes.
        stored: bytes given back with a hit.
        listed: whether a manifest lists it.
        filters, references: its keys, ascending.
        tokens: for each of ``FIELDS`` the (position, surface word) pairs, in any order.
    """

    kbid: bytes
    stored: bytes
    listed: bool
    filters: list[str] = dataclasses.field(default_factory=list)
    references: list[str] = dataclasses.field(default_factory=list)
    tokens: tuple[list[tuple[int, str]], ...] = dataclasses.field(default_factory=lambda: tuple([] for _ in FIELDS))


def merge_entries(segment: Segment, keep: bytes) -> tuple[list[Record], dict[str, str]]:
    """The segment's entries whose bit is set, and the stems of their words."""
    corpus = segment.corpus
    records = {
        entry: Record(
            corpus_kbid(corpus, entry),
            corpus_stored(corpus, entry),
            bool(corpus_entry(corpus, entry).flags & LISTED),
        )
        for entry in range(segment.sections)
        if keep[entry >> 3] >> (entry & 7) & 1
    }
    for record, key in _keyed(corpus, FILTERS, records):
        record.filters.append(key)
    for record, key in _keyed(segment.references_file, TARGETS, records):
        record.references.append(key)
    stems = _add_tokens(segment, records)
    for entry, record in records.items():
        places = [(field, position) for field, tokens in enumerate(record.tokens) for position, _ in tokens]
        places_check(corpus, entry, places)
    return list(records.values()), stems


def _keyed(container: Container, region: int, records: dict[int, Record]) -> list[tuple[Record, str]]:
    return [
        (records[entry], key)
        for number, (key, _) in enumerate(keyed_keys(container, region, ""))
        for entry in keyed_entries(container, region, number)
        if entry in records
    ]


def _add_tokens(segment: Segment, records: dict[int, Record]) -> dict[str, str]:
    stems: dict[str, str] = {}
    forms = terms_forms(segment.terms)
    for number, stem in enumerate(terms_stems(segment.terms)):
        stem_record = terms_stem(segment.terms, number)
        postings = postings_read(segment.terms, stem_record)
        occurrences = positions_read(segment.positions, segment.terms, stem_record, postings)
        words = forms[number]
        for posting, tokens in zip(postings, occurrences, strict=True):
            if posting.entry in records:
                for field, position, form in tokens:
                    records[posting.entry].tokens[field].append((position, words[form]))
                    stems[words[form]] = stem
    return stems
