"""Lists of every shape are built, read and merged the same: each width of gaps, exceptions, many blocks, long texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random

import pytest
from crowds import crowd
from engines import (
    FINGERPRINT,
    PARAMS,
    REFERENCE,
    both,
    build,
    entry,
    merged,
    needs_compiled,
    open_files,
    params,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdb.index.api import EngineModule
from kbdb.plan import FIELDS, Entry, Params, SegmentFiles
from kbdb.reference.container import TERMS, container_open
from kbdb.reference.terms import DENSE, postings_blocks, postings_read, terms_find

pytestmark = needs_compiled


def placed(count: int, stems: Mapping[str, Iterable[int]], fields: Mapping[str, int] | None = None) -> list[Entry]:
    """``count`` entries in order of their kbids, that hold these stems, in the body where no other field is named."""
    texts: dict[int, list[list[str]]] = defaultdict(lambda: [[] for _ in FIELDS])
    for stem, numbers in stems.items():
        for number in numbers:
            texts[number][(fields or {}).get(stem, 1)].append(stem)
    made = []
    for number in range(count):
        title, body, description, tags, heading = (" ".join(words) for words in texts[number])
        item = entry(number, title, body, description, tags, heading)
        made.append(replace(item, kbid=number.to_bytes(16, "big")))
    return made


def built_alike(entries: list[Entry], chosen: Params = PARAMS) -> SegmentFiles:
    """The files that both engines make, after both have verified and merged them."""
    files = both(lambda engine: build(engine, entries, params=chosen))
    assert isinstance(files, SegmentFiles)

    def again(engine: EngineModule) -> SegmentFiles:
        segment = open_files(engine, files)
        segment.verify()
        return merged(engine, [(segment, None)], params=chosen)

    assert files == both(again)
    return files


def widths(files: SegmentFiles, stem: str) -> list[int]:
    """In how many bits the gaps of each block of a stem's list are written."""
    container = container_open(TERMS, memoryview(files.terms), FINGERPRINT, "terms.idx")
    record = terms_find(container, stem)
    assert record is not None
    assert len(postings_read(container, record)) == record.df
    blocks = postings_blocks(container, record)
    first = container.regions[6][0] + record.postings_offset + record.postings_length - blocks[-1].postings_end
    return [files.terms[first + start] & ~DENSE for start in (0, *(block.postings_end for block in blocks[:-1]))]


def test_gaps_of_each_width() -> None:
    gaps = {
        **{f"few{gap}": [gap] for gap in (0, 1, 14, 15, 16, 29, 30, 31, 44, 45, 46)},
        **{f"some{gap}": [gap] for gap in (59, 60, 225, 253, 254, 255, 256, 300, 508, 509, 510, 511, 764, 765, 766)},
        **{f"run{gap}": [0] * 5 + [gap, 0, 0] for gap in (14, 15, 30, 45, 60, 90, 254, 255, 256, 510, 1000)},
        **{f"mixed{gap}": [gap, 3, gap, 3, 20] for gap in (14, 15, 16, 254, 255, 256, 400)},
        "wide": [300, 400, 500, 0, 700],
        **{f"even{bits}": [(1 << bits) - 2] * 3 for bits in range(2, 10)},
        "none": [0] * 7,
        "one": [0] * 60 + [1],
    }
    stems = {}
    for stem, steps in gaps.items():
        places = [sum(step + 1 for step in steps[: number + 1]) - 1 for number in range(len(steps))]
        stems[stem] = places
    files = built_alike(placed(2000, stems))
    found = {width for stem in stems for width in widths(files, stem)}
    assert found >= set(range(11))


def test_lists_end_at_and_beside_the_end_of_a_block() -> None:
    counts = (1, 2, 127, 128, 129, 255, 256, 257, 384, 1000, 1025)
    stems = {f"first{count}": range(count) for count in counts}
    stems |= {f"spread{count}": range(3, 3 + 20 * count, 20) for count in counts if 20 * count < 6000}
    stems |= {f"last{count}": range(6000 - count, 6000) for count in counts}
    files = built_alike(placed(6000, stems))
    assert len(widths(files, "first257")) == 3


def test_blocks_of_one_list_have_gaps_of_different_widths() -> None:
    numbers = [*range(128), *range(200, 200 + 128 * 30, 30), 9000, 9001, *range(9600, 9900, 3)]
    files = built_alike(placed(9901, {"stem": numbers}))
    assert len(set(widths(files, "stem"))) > 1


def test_frequencies_and_fields_of_every_kind() -> None:
    made = []
    for mask in range(1, 1 << len(FIELDS)):
        for often in (1, 2, 3, 4, 5, 128, 129):
            texts = [" ".join(["word"] * often) if mask >> field & 1 else "other" for field in range(len(FIELDS))]
            made.append(entry(len(made), *texts))
    made += [entry(1000 + often, "", " ".join(["word"] * often)) for often in (*range(1, 9), 255, 256, 257, 20000)]
    built_alike(made)


@pytest.mark.parametrize("forms", [1, 2, 3, 4, 5, 9])
def test_positions_of_every_width(forms: int) -> None:
    words = ["x" + "s" * (number % 2) + "ing" * (number // 2) for number in range(forms)]

    def stem(asked: list[str]) -> list[str]:
        return ["x" if word in words else word for word in asked]

    borders = [0, *(place for bits in range(1, 15) for place in ((1 << bits) - 1, 1 << bits))]
    bodies = [" ".join([*["filler"] * place, words[number % forms]]) for number, place in enumerate(borders)]

    def made(engine: EngineModule) -> SegmentFiles:
        builder = engine.Builder(FINGERPRINT, PARAMS)
        for number, body in enumerate(bodies):
            builder.add(entry(number, words[-1], body))
        return builder.finish(stem)

    files = both(made)
    assert isinstance(files, SegmentFiles)
    both(lambda engine: open_files(engine, files).verify())


@pytest.mark.parametrize(
    "length", [1, 31, 32, 63, 64, 65, 66, 127, 128, 131, 132, 255, 256, 2047, 2048, 4031, 4032, 4033, 8192, 70_000]
)
def test_lengths_beside_the_borders_of_their_codes(length: int) -> None:
    made = [entry(1, "", " ".join(["word"] * length)), entry(2, "word", "word")]
    files = built_alike(made)
    lengths = both(lambda engine: [open_files(engine, files).lengths(number)[1] for number in range(2)])
    assert isinstance(lengths, list)
    assert sorted(lengths) == sorted([length, 1])


steps = st.sampled_from([0, 0, 1, 2, 9, 14, 15, 16, 40, 254, 255, 256, 300, 600])


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, list[int]]:
    """Some stems, each with gaps that change every so often."""
    stems = {}
    for stem in range(draw(st.integers(1, 5))):
        numbers = [draw(st.integers(0, 300))]
        for _ in range(draw(st.integers(1, 6))):
            step, count = draw(steps), draw(st.integers(1, 140))
            numbers += range(numbers[-1] + step + 1, numbers[-1] + 1 + (step + 1) * count, step + 1)
        stems[f"stem{stem}"] = [number for number in numbers if number < 2000]
    return stems


@settings(max_examples=8)
@given(shapes(), st.integers(0, 4), params)
def test_lists_of_any_shape(stems: dict[str, list[int]], field: int, chosen: Params) -> None:
    built_alike(placed(1 + max(map(max, stems.values())), stems, {"stem1": field}), chosen)


def test_a_crowd_is_built_and_merged_the_same() -> None:
    chance = Random(1)
    entries = crowd(chance, range(800), longest=9000)
    whole = built_alike(entries)
    chance.shuffle(entries)
    parts = [entries[:500], entries[500:750], entries[750:751], entries[751:]]
    files = [build(REFERENCE, part) for part in parts]

    assert whole == both(lambda engine: merged(engine, [(open_files(engine, item), None) for item in files]))


def test_what_a_merge_leaves_out_changes_impacts_and_lengths() -> None:
    """The averages after the merge are those of what is kept."""
    entries = crowd(Random(3), range(500), longest=9000)
    ordered = sorted(entries, key=lambda item: item.kbid)
    files = build(REFERENCE, entries)
    for kept in (range(0, 500, 2), range(300), [7]):

        def some(engine: EngineModule, kept: Iterable[int] = kept) -> SegmentFiles:
            return merged(engine, [(open_files(engine, files), kept)])

        assert build(REFERENCE, [ordered[number] for number in kept]) == both(some)


@pytest.mark.long
def test_gaps_that_do_not_fit_16_bits() -> None:
    places = (65533, 65534, 65535, 65536, 131070, 131071, 140000)
    stems = {f"at{place}": [place] for place in places} | {
        "all": places,
        "both": [0, 140000],
        "every": range(0, 140001, 7),
    }
    files = built_alike(placed(140001, stems))
    assert widths(files, "both") == [16]
