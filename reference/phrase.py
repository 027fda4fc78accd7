"""Phrases: how often stems stand one after the other in an entry's fields (csrc/README.md, section 9)."""

from __future__ import annotations

from collections.abc import Sequence

from kbdb.plan import FIELDS
from kbdb.reference.positions import Fields
from kbdb.reference.terms import Frequencies


def phrase_frequencies(occurrences: Sequence[Fields]) -> Frequencies:
    """The positions p, counted for each of ``FIELDS``, where stem i stands at p + i for every i.

    Args:
        occurrences: for each stem of the phrase, in order, its tokens in one entry.
    """
    counts = []
    for field in range(len(FIELDS)):
        positions = [{position for position, _ in fields[field]} for fields in occurrences]
        counts.append(sum(all(first + i in stem for i, stem in enumerate(positions)) for first in positions[0]))
    title, body, description, tags, heading = counts
    return title, body, description, tags, heading
