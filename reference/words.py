"""The words of live entries: how many hold one, which begin with, hold or resemble some text; and those of a stem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbdb.reference.container import container_place
from kbdb.reference.positions import positions_read
from kbdb.reference.segment import Segment
from kbdb.reference.strings import strings_count, strings_find, strings_get, strings_text
from kbdb.reference.terms import (
    STEMS,
    WORD_RECORDS,
    WORDS,
    WordRecord,
    postings_read,
    terms_find_word,
    terms_stem,
    terms_word,
    terms_words,
)
from kbdb.reference.varint import corrupt

if TYPE_CHECKING:
    from kbdb.reference.searcher import Searcher


def words_df(searcher: Searcher, word: str) -> int:
    """How many live entries hold a surface word, in any field."""
    total = 0
    for segment, live in zip(searcher.segments, searcher.live, strict=True):
        record = terms_find_word(segment.terms, word)
        if record is not None:
            total += _of_form(segment, _form_counts(segment, live, record.stem), record)
    return total


def words_find(searcher: Searcher, accepts: Callable[[str], bool]) -> dict[str, int]:
    """The surface words of live entries that ``accepts`` takes, each with the number of live entries that hold it."""
    found: dict[str, int] = defaultdict(int)
    for segment, live in zip(searcher.segments, searcher.live, strict=True):
        counts: dict[int, list[int]] = {}
        for number, word in enumerate(terms_words(segment.terms)):
            if accepts(word):
                record = terms_word(segment.terms, number)
                if record.stem not in counts:
                    counts[record.stem] = _form_counts(segment, live, record.stem)
                found[word] += _of_form(segment, counts[record.stem], record)
    return {word: df for word, df in found.items() if df}


def words_of_stem(segment: Segment, stem: str) -> list[str]:
    """The surface words of a stem in one segment, whether live entries hold them or not."""
    number = strings_find(segment.terms, STEMS, stem.encode())
    if number < 0:
        return []
    words = range(strings_count(segment.terms, WORDS))
    found = [word for word in words if terms_word(segment.terms, word).stem == number]
    return [strings_text(segment.terms, WORDS, strings_get(segment.terms, WORDS, word)) for word in found]


def _form_counts(segment: Segment, live: set[int], stem: int) -> list[int]:
    """For each form of a stem, the number of live entries that hold it."""
    record = terms_stem(segment.terms, stem)
    postings = postings_read(segment.terms, record)
    counts = [0] * record.forms
    occurrences = positions_read(segment.positions, segment.terms, record, postings)
    for posting, tokens in zip(postings, occurrences, strict=True):
        if posting.entry in live:
            for form in {form for _, _, form in tokens}:
                counts[form] += 1
    return counts


def _of_form(segment: Segment, counts: list[int], record: WordRecord) -> int:
    if record.form >= len(counts):
        place = container_place(segment.terms, WORD_RECORDS, 0)
        raise corrupt(segment.terms.path, place, f"form {record.form} of a stem that has {len(counts)}")
    return counts[record.form]
