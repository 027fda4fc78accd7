"""Builds a segment's four files from texts (csrc/README.md, sections 3 to 7)."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from zlib import crc32

from kbdb.checks import check_entry, check_fingerprint, check_kbid, check_params, check_stems, utf8
from kbdb.errors import InvalidArgumentError
from kbdb.plan import FIELDS, Entry, Params, SegmentFiles
from kbdb.reference.analysis import tokenise
from kbdb.reference.bm25f import bm25f_averages, bm25f_impact, bm25f_saturation
from kbdb.reference.container import CORPUS, POSITIONS, REFERENCES, TERMS, container_write
from kbdb.reference.corpus import CorpusEntry, corpus_totals, corpus_write
from kbdb.reference.keyed import keyed_write
from kbdb.reference.positions import positions_encode
from kbdb.reference.terms import Frequencies, Posting, StemLists, WordRecord, postings_encode, terms_write

Stem = Callable[[list[str]], list[str]]

MEMORY_PER_TOKEN = 200


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


class Builder:
    """Collects entries, in any order, and makes a segment of them once."""

    def __init__(self, fingerprint: int, params: Params) -> None:
        """Begins a segment.

        Args:
            fingerprint: names the analyser, languages, format and parameters.
            params: of BM25F, for the impacts.
        """
        check_fingerprint(fingerprint)
        check_params(params)
        self._fingerprint = fingerprint
        self._params = params
        self._records: dict[bytes, Record] = {}
        self._removed: set[bytes] = set()
        self._tokens = 0
        self._spent = False

    def _require_unspent(self) -> None:
        if self._spent:
            raise InvalidArgumentError("the builder has made its segment")

    def add(self, entry: Entry) -> None:
        """Adds an entry, whose texts are analysed; InvalidArgumentError when its kbid is there already."""
        check_entry(entry)
        for name, text in zip(FIELDS, entry.fields, strict=True):
            utf8(text, f"the text of {name}")
        self._require_unspent()
        if entry.kbid in self._records:
            raise InvalidArgumentError(f"the entry {entry.kbid.hex()} was added before")
        self._records[entry.kbid] = Record(
            entry.kbid,
            entry.stored,
            entry.listed,
            list(entry.filters),
            list(entry.references),
            tuple(tokenise(text) for text in entry.fields),
        )
        self._tokens += sum(map(len, self._records[entry.kbid].tokens))

    @property
    def memory_bytes(self) -> int:
        """About what making a segment takes: here some hundred bytes a token, most of them for its list."""
        return MEMORY_PER_TOKEN * self._tokens

    def remove(self, kbid: bytes) -> None:
        """Notes that a section of an older segment exists no more."""
        check_kbid(kbid)
        self._require_unspent()
        self._removed.add(kbid)

    def finish(self, stem: Stem) -> SegmentFiles:
        """Makes the files; nothing can be added then. An error of ``stem`` leaves the builder as it was.

        Args:
            stem: called once with the sorted distinct words; gives a stem for each.
        """
        self._require_unspent()
        words = _words(list(self._records.values()))
        stems = stem(words)
        check_stems(words, stems)
        for item in stems:
            utf8(item, "a stem")
        of_words = dict(zip(words, stems, strict=True))
        self._spent = True
        return builder_write(self._fingerprint, self._params, self._records, of_words, self._removed)


def builder_write(
    fingerprint: int, params: Params, by_kbid: dict[bytes, Record], stems: dict[str, str], removed: set[bytes]
) -> SegmentFiles:
    """The files of a segment.

    Args:
        fingerprint, params: as of Builder.
        by_kbid: the entries.
        stems: for each of their words its stem.
        removed: kbids that are no more; those that are entries are left out.
    """
    records = [by_kbid[kbid] for kbid in sorted(by_kbid)]
    entries = [_corpus_entry(record, stems) for record in records]
    terms, positions = _write_stems(records, stems, _impacts(entries, params))
    filters: dict[str, list[int]] = defaultdict(list)
    references: dict[str, list[int]] = defaultdict(list)
    for number, record in enumerate(records):
        for key in record.filters:
            filters[key].append(number)
        for key in record.references:
            references[key].append(number)
    corpus = corpus_write(entries, filters, sorted(removed - by_kbid.keys()))
    header = (fingerprint, len(records), crc32(b"".join(record.kbid for record in records)))
    return SegmentFiles(
        terms=container_write(TERMS, *header, terms),
        positions=container_write(POSITIONS, *header, [positions]),
        corpus=container_write(CORPUS, *header, corpus),
        references=container_write(REFERENCES, *header, keyed_write(references, len(records))),
    )


def _words(records: list[Record]) -> list[str]:
    return sorted({word for record in records for tokens in record.tokens for _, word in tokens})


def _corpus_entry(record: Record, stems: dict[str, str]) -> CorpusEntry:
    title, body, description, tags, heading = (len({position for position, _ in tokens}) for tokens in record.tokens)
    distinct = len({stems[word] for tokens in record.tokens[:2] for _, word in tokens})
    return CorpusEntry(record.kbid, record.stored, record.listed, distinct, (title, body, description, tags, heading))


Impact = Callable[[Posting], int]


def _impacts(entries: list[CorpusEntry], params: Params) -> Impact:
    """What gives a posting's saturation in 255ths, under the averages of all entries."""
    averages = bm25f_averages(len(entries), corpus_totals([entry.lengths for entry in entries]))

    def impact(posting: Posting) -> int:
        lengths = entries[posting.entry].lengths
        return bm25f_impact(bm25f_saturation(params, averages, lengths, posting.frequencies))

    return impact


def _write_stems(records: list[Record], stems: dict[str, str], impact: Impact) -> tuple[list[bytes], bytes]:
    occurrences = _occurrences(records, stems)
    words = _words(records)
    forms: dict[str, list[str]] = defaultdict(list)
    for word in words:
        forms[stems[word]].append(word)
    ordered = sorted(forms)
    numbers = {stem: number for number, stem in enumerate(ordered)}
    ranks = {word: rank for group in forms.values() for rank, word in enumerate(group)}
    lists = [_stem_lists(occurrences[stem], ranks, len(forms[stem]), impact, len(records)) for stem in ordered]
    word_records = [WordRecord(numbers[stems[word]], ranks[word]) for word in words]
    return terms_write(words, word_records, ordered, lists, len(records)), b"".join(item.positions for item in lists)


Occurrences = dict[int, list[tuple[int, int, str]]]
"""For each entry that holds a stem: the (field, position, word) of each of its tokens."""


def _occurrences(records: list[Record], stems: dict[str, str]) -> dict[str, Occurrences]:
    found: dict[str, Occurrences] = defaultdict(lambda: defaultdict(list))
    for number, record in enumerate(records):
        for field, tokens in enumerate(record.tokens):
            for position, word in sorted(tokens):
                found[stems[word]][number].append((field, position, word))
    return found


def _stem_lists(by_entry: Occurrences, ranks: dict[str, int], forms: int, impact: Impact, entries: int) -> StemLists:
    postings = [Posting(entry, _frequencies(tokens)) for entry, tokens in by_entry.items()]
    tokens = [[(field, position, ranks[word]) for field, position, word in group] for group in by_entry.values()]
    positions = positions_encode(tokens, forms)
    ends = list(accumulate(map(len, positions)))
    encoded = postings_encode(postings, list(map(impact, postings)), ends, entries)
    return StemLists(encoded, b"".join(positions), len(postings), forms)


def _frequencies(tokens: list[tuple[int, int, str]]) -> Frequencies:
    fields = [field for field, _, _ in tokens]
    title, body, description, tags, heading = (fields.count(field) for field in range(len(FIELDS)))
    return title, body, description, tags, heading
