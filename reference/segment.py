"""An open segment: its four files, read entry by entry and key by key. Builder, merge and searcher read through it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kbdb.checks import check_entry_number, check_fingerprint, check_kbid, check_limit, utf8
from kbdb.reference.container import (
    CORPUS,
    POSITIONS,
    REFERENCES,
    TERMS,
    Container,
    Kind,
    container_open,
    container_place,
)
from kbdb.reference.corpus import (
    FILTERS,
    RECORDS,
    TARGETS,
    corpus_entry,
    corpus_find,
    corpus_kbid,
    corpus_lengths,
    corpus_listed,
    corpus_open,
    corpus_record_widths,
    corpus_removed,
    corpus_stored,
)
from kbdb.reference.keyed import keyed_find, keyed_keys, keyed_open
from kbdb.reference.terms import postings_read, terms_open, terms_stem, terms_stems
from kbdb.reference.varint import corrupt
from kbdb.reference.verify import segment_verify

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Segment:
    """An immutable piece of the index; making one opens and validates it.

    Attributes:
        sections: number of entries, which are numbered in kbid order.
        name: the folder it is in, for errors.
        fingerprint: of the analysis it was built with.
        terms, positions, corpus, references_file: its files, for the other modules of the engine.
    """

    def __init__(
        self,
        terms: ReadableBuffer,
        positions: ReadableBuffer,
        corpus: ReadableBuffer,
        references: ReadableBuffer,
        *,
        fingerprint: int,
        name: str = "",
    ) -> None:
        """Opens a segment.

        Args:
            terms, positions, corpus, references: the bytes of its files, kept alive by the segment.
            fingerprint: what it must have been built with.
            name: path of its folder.

        Raises:
            CorruptError, StaleIndexError.
        """
        check_fingerprint(fingerprint)

        def opened(kind: Kind, data: ReadableBuffer) -> Container:
            path = f"{name}/{kind.file}" if name else kind.file
            return container_open(kind, memoryview(data).cast("B"), fingerprint, path)

        self.name = name
        self.fingerprint = fingerprint
        self.terms = opened(TERMS, terms)
        self.positions = opened(POSITIONS, positions)
        self.corpus = opened(CORPUS, corpus)
        self.references_file = opened(REFERENCES, references)
        self.sections = self.corpus.entries
        for container in (self.terms, self.positions, self.references_file):
            if (container.entries, container.kbids_crc) != (self.sections, self.corpus.kbids_crc):
                raise corrupt(container.path, 24, "the file belongs to another segment than corpus.dat")
        terms_open(self.terms)
        corpus_open(self.corpus)
        keyed_open(self.references_file, TARGETS)

    def kbid(self, entry: int) -> bytes:
        """The 16 bytes of an entry's kbid."""
        check_entry_number(entry, self.sections)
        return corpus_kbid(self.corpus, entry)

    def find(self, kbid: bytes) -> int:
        """The entry with this kbid, -1 when the segment has none."""
        check_kbid(kbid)
        return corpus_find(self.corpus, kbid)

    def stored(self, entry: int) -> bytes:
        """The bytes that were stored with an entry."""
        check_entry_number(entry, self.sections)
        return corpus_stored(self.corpus, entry)

    def lengths(self, entry: int) -> tuple[int, int, int, int, int]:
        """Positions in each of ``FIELDS``."""
        check_entry_number(entry, self.sections)
        return corpus_lengths(self.corpus, entry)

    def distinct(self, entry: int) -> int:
        """Distinct stems in title and body together."""
        check_entry_number(entry, self.sections)
        return corpus_entry(self.corpus, entry).distinct

    def listed(self) -> bytes:
        """Bitmap of the entries that a manifest lists."""
        return self._bitmap(corpus_listed(self.corpus))

    def removed(self) -> list[bytes]:
        """Kbids of sections of older segments that exist no more, ascending."""
        return corpus_removed(self.corpus)

    def filter_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[tuple[str, int]]:
        """The first keys past ``after`` that begin with ``prefix``, each with its number of entries, in order."""
        utf8(prefix, "a prefix")
        passed = utf8(after, "a key")
        if limit is not None:
            check_limit(limit)
        keys = [found for found in keyed_keys(self.corpus, FILTERS, prefix) if found[0].encode() > passed]
        return keys[:limit]

    def filter(self, key: str) -> bytes:
        """Bitmap of the entries with a filter key."""
        return self._bitmap(keyed_find(self.corpus, FILTERS, utf8(key, "a key")))

    def reference_keys(self, prefix: str) -> list[tuple[str, int]]:
        """Reference targets that begin with ``prefix``, with the number of entries that name them, in order."""
        utf8(prefix, "a prefix")
        return keyed_keys(self.references_file, TARGETS, prefix)

    def holders(self, key: str) -> list[int]:
        """The entries with a filter key, ascending."""
        return keyed_find(self.corpus, FILTERS, utf8(key, "a key"))

    def references(self, key: str) -> list[int]:
        """The entries that refer to a target, ascending."""
        return keyed_find(self.references_file, TARGETS, utf8(key, "a key"))

    @cached_property
    def stem_sets(self) -> list[frozenset[str]]:
        """For each entry, the stems in its title and body."""
        sets: list[set[str]] = [set() for _ in range(self.sections)]
        for number, stem in enumerate(terms_stems(self.terms)):
            for entry, frequencies in postings_read(self.terms, terms_stem(self.terms, number)):
                if frequencies[0] or frequencies[1]:
                    sets[entry].add(stem)
        for entry, held in enumerate(sets):
            if len(held) != corpus_entry(self.corpus, entry).distinct:
                place = container_place(self.corpus, RECORDS, sum(corpus_record_widths(self.corpus)) * entry)
                raise corrupt(self.corpus.path, place, f"entry {entry} has {len(held)} stems in title and body")
        return list(map(frozenset, sets))

    def verify(self) -> None:
        """Reads every byte of the four files and checks that they agree; CorruptError when not."""
        segment_verify(self)

    def _bitmap(self, entries: list[int]) -> bytes:
        bits = bytearray((self.sections + 7) // 8)
        for entry in entries:
            bits[entry >> 3] |= 1 << (entry & 7)
        return bytes(bits)
