"""Checks of what callers hand to an engine; both twins call them first, so that both refuse alike.

Every function returns nothing or what its name says, and raises ``InvalidArgumentError`` otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from kbdb.errors import InvalidArgumentError
from kbdb.plan import FIELDS, MAX_CLAUSES, Entry, Params, Plan

MAX_WEIGHT = 1e6
"""Weights up to this cannot overflow a score."""

MAX_DISTANCE = 8
"""Words further apart than this many edits are not near."""

MAX_DIMENSIONS = 65_535
"""Vectors are of at most so many: vectors.idx has 16 bits for the number."""

MAX_RECORDS = 1 << 30
"""A file of vectors holds at most as many as a segment has entries."""


def utf8(text: str, what: str) -> bytes:
    """The text's UTF-8 bytes.

    Args:
        text: must not hold lone surrogates.
        what: names the text in the error.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{what} holds a lone surrogate at character {error.start}") from None


def check_fingerprint(fingerprint: int) -> None:
    """A fingerprint is a u64."""
    if not 0 <= fingerprint < 1 << 64:
        raise InvalidArgumentError(f"a fingerprint is from 0 to 2^64 - 1, not {fingerprint}")


def check_kbid(kbid: bytes) -> None:
    """A raw kbid is 16 bytes."""
    if len(kbid) != 16:
        raise InvalidArgumentError(f"a kbid is 16 bytes, not {len(kbid)}")


def check_entry(entry: Entry) -> None:
    """An entry's kbid has 16 bytes, it has one text a field, and its keys are sorted, distinct, not empty and UTF-8."""
    check_kbid(entry.kbid)
    if len(entry.fields) != len(FIELDS):
        raise InvalidArgumentError(f"an entry has {len(FIELDS)} fields, not {len(entry.fields)}")
    for what, keys in (("filters", entry.filters), ("references", entry.references)):
        _check_keys(what, tuple(keys))


@lru_cache(maxsize=1024)
def _check_keys(what: str, keys: tuple[str, ...]) -> None:
    """Remembered, since the sections of a document share their keys."""
    encoded = [utf8(key, f"a key of an entry's {what}") for key in keys]
    if b"" in encoded:
        raise InvalidArgumentError(f"a key of an entry's {what} is empty")
    if any(left >= right for left, right in pairwise(encoded)):
        raise InvalidArgumentError(f"an entry's {what} are not sorted and distinct")


def check_stems(words: Sequence[str], stems: Sequence[str]) -> None:
    """A stemmer gives one stem, not empty, for each word."""
    if len(stems) != len(words):
        raise InvalidArgumentError(f"the stemmer gave {len(stems)} stems for {len(words)} words")
    if not all(stems):
        word = next(word for word, stem in zip(words, stems, strict=True) if not stem)
        raise InvalidArgumentError(f"the stemmer gave an empty stem for {word!r}")


def check_bitmap(bitmap: bytes, entries: int, what: str) -> None:
    """A bitmap over a segment's entries has ``ceil(entries / 8)`` bytes and no bit past them."""
    expected = (entries + 7) >> 3
    if len(bitmap) != expected:
        raise InvalidArgumentError(f"{what} has {len(bitmap)} bytes; {entries} entries need {expected}")
    if entries & 7 and bitmap[-1] >> (entries & 7):
        raise InvalidArgumentError(f"{what} has a bit set past its {entries} entries")


def check_bitmaps(bitmaps: Sequence[bytes], entries: Sequence[int], what: str) -> None:
    """One right bitmap for each segment.

    Args:
        bitmaps: one a segment.
        entries: the segments' numbers of entries.
        what: "live" or "allowed".
    """
    if len(bitmaps) != len(entries):
        raise InvalidArgumentError(f"{len(bitmaps)} {what} bitmaps for {len(entries)} segments")
    for number, (bitmap, count) in enumerate(zip(bitmaps, entries, strict=True)):
        check_bitmap(bitmap, count, f"{what} bitmap {number}")


def check_entry_number(entry: int, entries: int) -> None:
    """An entry's number is from 0 to below the segment's number of entries."""
    if not 0 <= entry < entries:
        raise InvalidArgumentError(f"entry {entry} is not one of the segment's {entries}")


def check_segment_number(segment: int, segments: int) -> None:
    """A segment's place is from 0 to below the searcher's number of segments."""
    if not 0 <= segment < segments:
        raise InvalidArgumentError(f"segment {segment} is not one of the searcher's {segments}")


@lru_cache(maxsize=16)
def check_params(params: Params) -> None:
    """k1 is above 0, each b from 0 to 1, each weight from 0 to ``MAX_WEIGHT``. Remembered: a database has one."""
    if not 0.0 < params.k1 <= MAX_WEIGHT:
        raise InvalidArgumentError(f"k1 must be above 0 and at most {MAX_WEIGHT:g}, not {params.k1}")
    for what, values, most in (("b", params.b, 1.0), ("weights", params.weights, MAX_WEIGHT)):
        if len(values) != len(FIELDS):
            raise InvalidArgumentError(f"{what} has {len(values)} values for {len(FIELDS)} fields")
        for field, value in zip(FIELDS, values, strict=True):
            if not 0.0 <= value <= most:
                raise InvalidArgumentError(f"{what} of {field} must be from 0 to {most:g}, not {value}")


def check_limit(limit: int) -> None:
    """A limit is 0 or more."""
    if limit < 0:
        raise InvalidArgumentError(f"a limit is 0 or more, not {limit}")


def check_distance(distance: int) -> None:
    """An edit distance is from 1 to ``MAX_DISTANCE``."""
    if not 1 <= distance <= MAX_DISTANCE:
        raise InvalidArgumentError(f"a distance is from 1 to {MAX_DISTANCE}, not {distance}")


def check_threshold(threshold: float) -> None:
    """A Jaccard threshold is above 0 and at most 1."""
    if not 0.0 < threshold <= 1.0:
        raise InvalidArgumentError(f"a threshold is above 0 and at most 1, not {threshold}")


def check_counts(sections: int, df: int) -> None:
    """A document frequency is from 0 to the number of sections, which fits 32 bits."""
    if not 0 <= df <= sections < 1 << 32:
        raise InvalidArgumentError(f"a document frequency of {df} among {sections} sections")


def check_plan(plan: Plan) -> None:
    """A plan has at most ``MAX_CLAUSES`` clauses, each of a known kind and field with alternatives that can occur."""
    if len(plan.clauses) > MAX_CLAUSES:
        raise InvalidArgumentError(f"a plan has at most {MAX_CLAUSES} clauses, not {len(plan.clauses)}")
    for number, (_, alternatives, kind, field) in enumerate(plan.clauses):
        if kind not in ("should", "must", "must_not"):
            raise InvalidArgumentError(f"clause {number}: kind {kind!r} is not should, must or must_not")
        if field is not None and not 0 <= field < len(FIELDS):
            raise InvalidArgumentError(f"clause {number}: field {field} is not from 0 to {len(FIELDS) - 1}")
        if not alternatives:
            raise InvalidArgumentError(f"clause {number} has no alternatives")
        for stems, weight in alternatives:
            if not 0.0 <= weight <= MAX_WEIGHT:
                raise InvalidArgumentError(f"clause {number}: a weight must be from 0 to {MAX_WEIGHT:g}, not {weight}")
            if not stems:
                raise InvalidArgumentError(f"clause {number} has an alternative without stems")
            for stem in stems:
                if not stem:
                    raise InvalidArgumentError(f"clause {number} has an empty stem")
                if not stem.isascii():
                    utf8(stem, f"a stem of clause {number}")


def check_record_number(record: int, records: int) -> None:
    """A record's number is from 0 to below the number of records."""
    if not 0 <= record < records:
        raise InvalidArgumentError(f"record {record} is not one of {records}")


def check_vectors(dimensions: int, kbids: Sequence[bytes], size: int) -> list[int]:
    """Vectors to write have dimensions and kbids that are right and distinct, and numbers for each.

    Args:
        dimensions: of each vector.
        kbids: one a vector.
        size: bytes of all their numbers.

    Returns:
        The numbers of the kbids, by ascending kbid.
    """
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise InvalidArgumentError(f"vectors have from 1 to {MAX_DIMENSIONS} dimensions, not {dimensions}")
    if len(kbids) > MAX_RECORDS:
        raise InvalidArgumentError(f"a file holds at most {MAX_RECORDS} vectors, not {len(kbids)}")
    for kbid in kbids:
        check_kbid(kbid)
    if size != 4 * dimensions * len(kbids):
        expected = f"{len(kbids)} of {dimensions} dimensions need {4 * dimensions * len(kbids)}"
        raise InvalidArgumentError(f"vectors of {size} bytes; {expected}")
    order = sorted(range(len(kbids)), key=kbids.__getitem__)
    for left, right in pairwise(order):
        if kbids[left] == kbids[right]:
            raise InvalidArgumentError(f"the kbid {kbids[left].hex()} has two vectors")
    return order


def check_parts(dimensions: Sequence[int], *, merging: bool = False) -> None:
    """Files of vectors have the same dimensions; only of at least one can another be made."""
    if merging and not dimensions:
        raise InvalidArgumentError("no files of vectors to merge")
    if len(set(dimensions)) > 1:
        raise InvalidArgumentError(f"vectors of different dimensions: {', '.join(map(str, dimensions))}")


def check_query(size: int, dimensions: int) -> None:
    """A query has a number of 4 bytes for each dimension."""
    if size != 4 * dimensions:
        raise InvalidArgumentError(f"a query of {size} bytes; {dimensions} dimensions need {4 * dimensions}")


def check_finite(is_finite: bool, what: str) -> None:
    """Numbers of vectors are finite."""
    if not is_finite:
        raise InvalidArgumentError(f"{what} holds what is no finite number")
