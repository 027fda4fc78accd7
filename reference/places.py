"""The positions of an entry: from 0 to below its fields' lengths, none left out (csrc/README.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterable

from kbdb.plan import FIELDS
from kbdb.reference.container import Container, container_place
from kbdb.reference.corpus import RECORDS, corpus_lengths, corpus_record_widths
from kbdb.reference.varint import corrupt


def places_check(corpus: Container, entry: int, places: Iterable[tuple[int, int]]) -> None:
    """Checks that an entry's tokens stand where its lengths say.

    Args:
        corpus: the segment's corpus.dat.
        entry: its number.
        places: the (field, position) of all its tokens.
    """
    lengths = corpus_lengths(corpus, entry)
    found = set(places)
    fields = [field for field, _ in found]
    full = lengths == tuple(map(fields.count, range(len(FIELDS))))
    if not full or any(position >= lengths[field] for field, position in found):
        place = container_place(corpus, RECORDS, sum(corpus_record_widths(corpus)) * entry)
        raise corrupt(corpus.path, place, f"the lengths of entry {entry} are not those of its positions")
