"""Phrases: how often stems stand one after the other in an entry's fields (csrc/README.md, section 9)."""

from __future__ import annotations

from collections.abc import Sequence

from kbdb.plan import FIELDS
from kbdb.reference.positions import Token
from kbdb.reference.terms import Frequencies


def phrase_frequencies(occurrences: Sequence[Sequence[Token]]) -> Frequencies:
    """The positions p, counted for each of ``FIELDS``, where stem i stands at p + i for every i.

    Args:
        occurrences: for each stem of the phrase, in order, its tokens in one entry.
    """
    places = [{(field, position) for field, position, _ in tokens} for tokens in occurrences]
    found = [field for field, first in places[0] if all((field, first + i) in stem for i, stem in enumerate(places))]
    title, body, description, tags, heading = (found.count(field) for field in range(len(FIELDS)))
    return title, body, description, tags, heading
