"""Makes one segment of several (csrc/README.md, section 8): takes their entries apart and builds anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kbdb.checks import check_bitmaps, check_fingerprint, check_kbid, check_params
from kbdb.errors import InvalidArgumentError
from kbdb.plan import Params
from kbdb.reference.builder import Record, builder_write
from kbdb.reference.container import Container
from kbdb.reference.corpus import FILTERS, TARGETS, corpus_kbid, corpus_listed, corpus_stored
from kbdb.reference.keyed import keyed_entries, keyed_keys
from kbdb.reference.places import places_check
from kbdb.reference.positions import positions_read
from kbdb.reference.segment import Segment
from kbdb.reference.terms import postings_read, terms_forms, terms_stem, terms_stems
from kbdb.reference.varint import corrupt

Into = Callable[[int, int, bytes], None]


def merge(
    segments: Sequence[Segment],
    keeps: Sequence[bytes],
    removed: Iterable[bytes],
    *,
    fingerprint: int,
    params: Params,
    into: Into,
) -> None:
    """Makes one segment of several, with the bytes that a build from the same entries gives.

    Args:
        segments: in any order.
        keeps: for each segment the bitmap of those of its entries that are wanted; no kbid twice.
        removed: kbids of sections of older segments that exist no more; those that are entries are left out.
        fingerprint: what the segment is made with.
        params: of BM25F, for the impacts.
        into: called with the number of a file in the order of SegmentFiles, an offset, and bytes that belong there.

    Raises:
        CorruptError, InvalidArgumentError, TooLargeError.
    """
    check_fingerprint(fingerprint)
    check_params(params)
    gone = set(removed)
    check_bitmaps(keeps, [segment.sections for segment in segments], "keep")
    for kbid in gone:
        check_kbid(kbid)
    records: dict[bytes, Record] = {}
    stems: dict[str, str] = {}
    for segment, keep in zip(segments, keeps, strict=True):
        taken, words = merge_entries(segment, keep)
        for record in taken:
            if record.kbid in records:
                raise InvalidArgumentError(f"the entry {record.kbid.hex()} is in two segments")
        if any(stems.get(word, stem) != stem for word, stem in words.items()):
            raise corrupt(segment.terms.path, 0, "a word has another stem than in an earlier segment")
        records.update((record.kbid, record) for record in taken)
        stems.update(words)
    files = builder_write(fingerprint, params, records, stems, gone)
    for number, data in enumerate((files.terms, files.positions, files.corpus, files.references)):
        into(number, 0, data)


def merge_entries(segment: Segment, keep: bytes) -> tuple[list[Record], dict[str, str]]:
    """The segment's entries whose bit is set, and the stems of their words."""
    corpus = segment.corpus
    listed = set(corpus_listed(corpus))
    records = {
        entry: Record(
            corpus_kbid(corpus, entry),
            corpus_stored(corpus, entry),
            entry in listed,
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
