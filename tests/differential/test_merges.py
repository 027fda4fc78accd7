"""One segment made of several is the one built from scratch, whatever is left out; damage and misuse are named."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from engines import (
    ENGINES,
    FINGERPRINT,
    NAMES,
    PARAMS,
    REFERENCE,
    both,
    build,
    each_engine,
    entries,
    entry,
    file_variants,
    kbid,
    merged,
    needs_compiled,
    open_files,
    outcome,
    params,
)
from hypothesis import example, given
from hypothesis import strategies as st
from seal import resealed

from kbdb.errors import CorruptError, InvalidArgumentError, StaleIndexError
from kbdb.index.api import EngineModule, Segment
from kbdb.plan import Entry, Params, SegmentFiles

NAMED = ((CorruptError, ""), (StaleIndexError, ""))

parts = st.lists(
    st.tuples(st.lists(entries(), max_size=6, unique_by=lambda item: item.kbid), st.sets(st.integers(0, 5))), max_size=5
)
"""For each segment its entries, and the places of those that are left out."""

removed = st.lists(st.integers(0, 40).map(kbid), max_size=5)


def kept_of(texts: list[tuple[list[Entry], set[int]]]) -> list[list[Entry]]:
    """What is kept of each segment: what is not left out, and in no segment before."""
    seen: set[bytes] = set()
    kept = []
    for items, left_out in texts:
        kept.append([item for place, item in enumerate(items) if place not in left_out and item.kbid not in seen])
        seen.update(item.kbid for item in kept[-1])
    return kept


def numbers_of(segment: Segment, items: list[Entry]) -> list[int]:
    return [segment.find(item.kbid) for item in items]


@needs_compiled
@given(parts, removed, params)
def test_a_merge_makes_the_bytes_of_a_build(
    texts: list[tuple[list[Entry], set[int]]], gone: list[bytes], chosen: Params
) -> None:
    files = [build(REFERENCE, items) for items, _ in texts]
    kept = kept_of(texts)

    def one(engine: EngineModule) -> SegmentFiles:
        segments = [open_files(engine, item) for item in files]
        some = [(segment, numbers_of(segment, items)) for segment, items in zip(segments, kept, strict=True)]
        return merged(engine, some, gone, chosen)

    assert both(one) == build(REFERENCE, [item for items in kept for item in items], gone, chosen)


@needs_compiled
def test_what_occurs_no_more_is_left_out_and_forms_are_numbered_anew() -> None:
    first = [entry(1, "runs running", "cats"), entry(2, "run", "act", filters=["tag:x"], references=["doc:a"])]
    second = [entry(3, "running", "dog"), entry(4, "runs cat sings", filters=["tag:y"])]
    files = [build(REFERENCE, items) for items in (first, second)]

    def one(engine: EngineModule) -> SegmentFiles:
        segments = [open_files(engine, item) for item in files]
        kept = ([first[0]], [second[0]])
        return merged(engine, [(s, numbers_of(s, items)) for s, items in zip(segments, kept, strict=True)])

    assert both(one) == build(REFERENCE, [first[0], second[0]])


@each_engine
def test_a_merge_of_nothing_is_an_empty_segment(engine: EngineModule) -> None:
    assert merged(engine, []) == build(REFERENCE, [])
    segment = open_files(engine, build(REFERENCE, [entry(1, "word")]))
    assert merged(engine, [(segment, [])], [kbid(2)]) == build(REFERENCE, [], [kbid(2)])


@each_engine
def test_an_entry_in_two_segments_is_refused_before_anything_is_written(engine: EngineModule) -> None:
    segments = [open_files(engine, build(engine, [entry(1, text), entry(2)])) for text in ("old", "new")]
    written: list[object] = []
    with pytest.raises(InvalidArgumentError, match=kbid(1).hex()):
        engine.merge(
            segments,
            [b"\3", bytes([1 << segments[1].find(kbid(1))])],
            (),
            fingerprint=FINGERPRINT,
            params=PARAMS,
            into=lambda *piece: written.append(piece),
        )
    assert not written


@each_engine
def test_a_word_with_two_stems_is_damage_of_the_segment_that_comes_later(engine: EngineModule) -> None:
    segments = []
    for name, stem in (("first", "run"), ("second", "runner")):
        builder = engine.Builder(FINGERPRINT, PARAMS)
        builder.add(entry(len(name), "running"))
        segments.append(open_files(engine, builder.finish(lambda words, stem=stem: [stem] * len(words)), name))  # type: ignore[misc]
    with pytest.raises(CorruptError, match=r"^second/terms\.idx.*another stem"):
        merged(engine, [(segment, None) for segment in segments])


SMALL = [
    build(
        REFERENCE,
        [
            entry(1, "Runs", "run running the cat", "", "t", "top", filters=["tag:x"], references=["doc:a"]),
            entry(2, "cat", "the the cats", filters=["tag:x", "tag:y"], references=["kbid:0"], stored=b"second"),
            entry(3, "", "日本語 x", listed=False),
        ],
        removed=[kbid(9)],
    ),
    build(REFERENCE, [entry(4, "the cats sing", "run", filters=["tag:y"], stored=b"four"), entry(5, "gone")]),
]


def with_other(engine: EngineModule, files: SegmentFiles) -> SegmentFiles:
    """A segment's files merged with those of another, of which one entry is left out."""
    first, second = open_files(engine, files), open_files(engine, SMALL[1])
    return merged(engine, [(first, None), (second, [second.find(kbid(4))])], [kbid(9)])


@each_engine
@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_byte_is_named_or_makes_no_difference(engine: EngineModule, name: str) -> None:
    right = with_other(engine, SMALL[0])
    for at in range(len(getattr(SMALL[0], name))):
        change: Callable[[bytes], bytes] = lambda data: data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]  # noqa: B023, E731
        assert outcome(lambda: with_other(engine, file_variants(SMALL[0], name, change))) in (*NAMED, right)  # noqa: B023


@needs_compiled
@example([("terms", 20471, 1)])  # a stem that the other segment does not have for that word
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=3))
def test_wrong_structures_are_named_or_were_right(changes: list[tuple[str, int, int]]) -> None:
    files = resealed(SMALL[0], changes)
    if outcome(lambda: open_files(REFERENCE, files).verify()) is None:
        # Sound by itself, a changed stem may still be another than the other segment gives that word.
        said = both(lambda engine: with_other(engine, files))
        assert isinstance(said, SegmentFiles) or said == (CorruptError, "")
        return
    for engine in ENGINES:
        said = outcome(lambda: with_other(engine, files))  # noqa: B023
        assert isinstance(said, SegmentFiles) or said in NAMED or said[0] is InvalidArgumentError
