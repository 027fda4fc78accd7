"""Every byte flipped, every length cut: never a wrong answer. Structures made wrong under right checksums: no crash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from engines import (
    ENGINES,
    FINGERPRINT,
    NAMES,
    REFERENCE,
    Index,
    both,
    build,
    each_engine,
    entry,
    file_variants,
    kbid,
    merged,
    needs_compiled,
    open_files,
    outcome,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from seal import replaced, resealed

from kbdb.errors import CorruptError, StaleIndexError
from kbdb.index.api import EngineModule, Searcher, Segment
from kbdb.plan import Alternative, Clause, Plan, SegmentFiles

SMALL = build(
    REFERENCE,
    [
        entry(1, "Runs", "run running the cat", "", "t", "top", filters=["tag:x"], references=["doc:a"], stored=b"one"),
        entry(2, "cat", "the the cats", filters=["tag:x", "tag:y"], references=["kbid:0"], stored=b"second"),
        entry(3, "", "日本語 x", listed=False),
    ],
    removed=[kbid(9)],
)

QUERY = Plan(
    (
        Clause("cat", (Alternative(("cat",)), Alternative(("run",), 0.5))),
        Clause("the cat", (Alternative(("the", "cat")),)),
        Clause("x", (Alternative(("x",)),), field=1),
    )
)

OF_SEGMENT: dict[str, Callable[[Segment], object]] = {
    "kbids": lambda segment: [segment.kbid(i) for i in range(3)],
    "find": lambda segment: [segment.find(kbid(i)) for i in range(5)],
    "stored": lambda segment: [segment.stored(i) for i in range(3)],
    "lengths": lambda segment: [(segment.lengths(i), segment.distinct(i)) for i in range(3)],
    "flags": lambda segment: (segment.listed(), segment.removed()),
    "filters": lambda segment: (segment.filter_keys(""), segment.filter("tag:x"), segment.filter("tag:z")),
    "references": lambda segment: (
        segment.reference_keys("d"),
        segment.references("doc:a"),
        segment.references("kbid:0"),
    ),
}

OF_SEARCHER: dict[str, Callable[[Searcher], object]] = {
    "counts": lambda over: (over.sections, over.totals),
    "df": lambda over: (over.df("cat"), over.df("the"), over.df("nowhere")),
    "words": lambda over: (over.words_of("cat"), over.word_df("cats"), over.words_with_prefix("", 99)),
    "near": lambda over: (over.words_near("cat", 2, 9), over.words_containing("a", 9)),
    "search": lambda over: over.search(QUERY, 10),
    "explain": lambda over: [over.explain(QUERY, 0, i) for i in range(3)],
    "similar": lambda over: over.similar(["the", "cat", "run"], 0.1, 9),
    "similar_to": lambda over: over.similar_to(0, range(3), 0.1, 9),
}


def answers(engine: EngineModule, files: SegmentFiles) -> dict[str, object]:
    """The outcome of each question, asked of a segment opened for it alone."""

    def opened() -> Segment:
        return engine.Segment(
            files.terms, files.positions, files.corpus, files.references, fingerprint=FINGERPRINT, name="dir"
        )

    if isinstance(refused := outcome(opened), tuple):
        return {"open": refused}
    index = Index(((files, frozenset({0, 1, 2})),))
    said: dict[str, object] = {name: outcome(lambda ask=ask: ask(opened())) for name, ask in OF_SEGMENT.items()}  # type: ignore[misc]
    said |= {name: outcome(lambda ask=ask: ask(index.open(engine)[1])) for name, ask in OF_SEARCHER.items()}  # type: ignore[misc]
    said["merge"] = outcome(lambda: merged(engine, [(opened(), None)], [kbid(9)]))
    said["verify"] = outcome(lambda: opened().verify())
    return said


NAMED_ERRORS = ((CorruptError, ""), (StaleIndexError, ""))


def check_never_wrong(engine: EngineModule, files: SegmentFiles, right: dict[str, object]) -> None:
    said = answers(engine, files)
    for question, answer in said.items():
        assert answer in NAMED_ERRORS or (question in right and answer == right[question]), question
    assert "open" in said or said["verify"] in NAMED_ERRORS


@each_engine
def test_the_undamaged_segment_answers(engine: EngineModule) -> None:
    right = answers(engine, SMALL)
    assert not [question for question, answer in right.items() if answer in NAMED_ERRORS]
    assert right["merge"] == SMALL


@each_engine
@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize("name", NAMES)
def test_every_byte_flipped(engine: EngineModule, name: str, flip: int) -> None:
    right = answers(engine, SMALL)
    for at in range(len(getattr(SMALL, name))):
        damaged = file_variants(SMALL, name, lambda data: data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])  # noqa: B023
        check_never_wrong(engine, damaged, right)


@each_engine
@pytest.mark.parametrize("name", NAMES)
def test_every_length_cut(engine: EngineModule, name: str) -> None:
    for length in range(len(getattr(SMALL, name))):
        said = answers(engine, file_variants(SMALL, name, lambda data: data[:length]))  # noqa: B023
        assert {"open": (CorruptError, "")} == said


@each_engine
@pytest.mark.parametrize("name", NAMES)
def test_files_of_another_segment_are_noticed(engine: EngineModule, name: str) -> None:
    other = build(REFERENCE, [entry(i, "other") for i in range(3)])
    assert {"open": (CorruptError, "")} == answers(engine, file_variants(SMALL, name, lambda _: getattr(other, name)))


@each_engine
@pytest.mark.parametrize("name", NAMES)
def test_errors_name_the_file(engine: EngineModule, name: str) -> None:
    damaged = file_variants(SMALL, name, lambda data: data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(CorruptError, match=r"dir/(terms|positions|references)\.idx|dir/corpus\.dat") as caught:
        engine.Segment(
            damaged.terms, damaged.positions, damaged.corpus, damaged.references, fingerprint=FINGERPRINT, name="dir"
        ).verify()
    assert name in caught.value.message


mutations = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=3
)


@needs_compiled
@given(mutations)
def test_wrong_structures_are_found_by_verify_or_answered_alike(changes: list[tuple[str, int, int]]) -> None:
    # From keys out of order, say, nobody has to answer rightly; but every question has an answer or a named error.
    files = resealed(SMALL, changes)
    reference, compiled = (answers(engine, files) for engine in ENGINES)
    assert reference.get("verify", "refused") == compiled.get("verify", "refused")
    if reference.get("verify", CorruptError) is None:
        assert reference == compiled


BLOCKS = build(
    REFERENCE,
    [
        *(entry(i, "", "many " * (1 + i % 6) + "half " * (i % 2), "" if i % 40 else "few many") for i in range(300)),
        *(entry(i, "", "filler") for i in range(300, 1200)),
    ],
)
"""Lists of one to three blocks, with gaps of two widths, and exceptions in nearly every block."""


@needs_compiled
@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(NAMES[:2]), st.integers(0, 10**7), st.integers(1, 255)), min_size=1, max_size=2)
)
def test_wrong_blocks_are_found_by_both(changes: list[tuple[str, int, int]]) -> None:
    files = resealed(BLOCKS, changes)
    both(lambda engine: open_files(engine, files).verify())


ONE = build(REFERENCE, [replace(entry(i, "", "word " * i), kbid=bytes([i] * 16)) for i in (0, 1, 140)])
"""A stem in entries 1, once, and 2, 140 times."""

BLOCK = bytes.fromhex("82 00 0c 01 02 8b01")


@needs_compiled
@pytest.mark.parametrize(
    "wrong",
    {
        "an escape too many": "82 01 0c 01 02 8b01",
        "gaps far past the block": "82 7f 0c 01 02 8b01",
        "escapes in a varint too long": "82 80 00 0c 01 8b01",
        "codes past the block": "02 10 0c 01 02 8b01",
        "a code left over": "82 00 1c 01 02 8b01",
        "another code left over": "82 00 cc 01 02 8b01",
        "listed codes": "02 00 01 01 03 01 ff",
        "a listed code of 0": "02 00 01 01 00 01 ff",
        "a listed place past the block": "02 00 01 02 03 01 ff",
        "another width": "83 00 0c 01 02 8b01",
        "no width": "80 00 0c 01 02 8b01",
        "too wide": "91 00 0c 01 02 8b01",
        "far too wide": "c2 00 0c 01 02 8b01",
        "another last entry": "82 00 0c 04 02 8b01",
        "an escape at the end": "82 00 0c 0d 02 8b01",
        "bits left over after the gaps": "82 00 0c 11 02 8b01",
        "an exception of three": "82 00 0c 01 02 8200",
        "a body that fits one byte": "82 00 0c 01 02 8301",
        "an empty mask": "82 00 0c 01 00 8b01",
        "a mask too wide": "82 00 0c 01 40 8b01",
        "once, and bytes after it": "82 00 0c 01 22 8b01",
        "a frequency that goes on": "82 00 0c 01 02 8b81",
        "no exception": "82 00 04 01 02 8b01",
        "two exceptions": "82 00 0f 01 02 8b01",
    }.items(),
    ids=lambda item: item[0],
)
def test_each_fault_of_a_block_is_found_by_both(wrong: tuple[str, str]) -> None:
    files = replaced(ONE, "terms", 6, BLOCK, bytes.fromhex(wrong[1]))
    assert (CorruptError, "") == both(lambda engine: open_files(engine, files).verify())
