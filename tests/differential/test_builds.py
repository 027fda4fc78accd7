"""Both builders make the same bytes, and an index grown by any history is the one built from scratch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engines import (
    COMPILED,
    REFERENCE,
    Index,
    both,
    build,
    corpora,
    entries,
    entry,
    kbid,
    merged,
    needs_compiled,
    open_files,
    plans,
)
from hypothesis import given
from hypothesis import strategies as st

from kbdb.index.api import EngineModule, Segment
from kbdb.plan import Entry, Plan, SegmentFiles

pytestmark = needs_compiled

NUMBERS = st.integers(0, 9)


@given(corpora, st.lists(st.integers(0, 40).map(kbid), max_size=5))
def test_builders_make_the_same_bytes(corpus: list[Entry], removed: list[bytes]) -> None:
    files = both(lambda engine: build(engine, corpus, removed))
    assert isinstance(files, SegmentFiles)
    both(lambda engine: open_files(engine, files).verify())


@given(corpora, st.randoms(use_true_random=False))
def test_the_order_of_entries_does_not_matter(corpus: list[Entry], random: st.random.Random) -> None:  # type: ignore[name-defined]
    files = both(lambda engine: build(engine, corpus))
    shuffled = list(corpus)
    random.shuffle(shuffled)
    assert files == both(lambda engine: build(engine, shuffled))


@given(corpora)
def test_segments_read_the_same(corpus: list[Entry]) -> None:
    files = build(REFERENCE, corpus)
    both(lambda engine: told(open_files(engine, files), [item.kbid for item in corpus]))


def told(segment: Segment, kbids: list[bytes]) -> list[object]:
    """All that a segment tells of its entries and keys."""
    numbers = range(segment.sections)
    keys = [key for key, _ in segment.filter_keys("")]
    targets = [key for key, _ in segment.reference_keys("")]
    return [
        [(segment.kbid(i), segment.stored(i), segment.lengths(i), segment.distinct(i)) for i in numbers],
        [segment.find(item) for item in [*kbids, kbid(99)]],
        (segment.listed(), segment.removed()),
        (segment.filter_keys(""), segment.filter_keys("tag:"), [segment.filter(key) for key in [*keys, "none"]]),
        [segment.filter_keys("", after, limit) for after in [*keys, "tag", "tag:b"] for limit in (0, 1, 2, None)],
        [segment.filter_keys("tag:", after, 1) for after in [*keys, "a", "tag", "z"]],
        (
            segment.reference_keys(""),
            segment.reference_keys("doc:"),
            [segment.references(key) for key in [*targets, ""]],
        ),
        [segment.holders(key) for key in [*keys, "none"]],
    ]


@dataclass(frozen=True)
class Add:
    """New versions of some sections, and sections that are no more, in one segment."""

    entries: list[Entry]
    gone: list[int]


@dataclass(frozen=True)
class Merge:
    """The segments from a place on become one."""

    first: int


histories = st.lists(
    st.builds(
        Add,
        st.lists(entries(NUMBERS), max_size=3, unique_by=lambda item: item.kbid),
        st.lists(NUMBERS, max_size=2),
    )
    | st.builds(Merge, st.integers(0, 4)),
    max_size=6,
)


@dataclass
class Grown:
    """An index as a list of segments, oldest first, and the sections that it should hold."""

    files: list[SegmentFiles] = field(default_factory=list)
    truth: dict[bytes, Entry] = field(default_factory=dict)

    def add(self, step: Add) -> None:
        gone = [kbid(number) for number in step.gone if kbid(number) not in {item.kbid for item in step.entries}]
        self.files.append(checked(lambda engine: build(engine, step.entries, gone)))
        self.truth.update({item.kbid: item for item in step.entries})
        for item in gone:
            self.truth.pop(item, None)

    def current(self, segments: list[Segment], place: int) -> Iterable[int]:
        """The entries of a segment that no later one replaces or removes."""
        later: set[bytes] = set()
        for newer in segments[place + 1 :]:
            later |= {newer.kbid(number) for number in range(newer.sections)} | set(newer.removed())
        return (n for n in range(segments[place].sections) if segments[place].kbid(n) not in later)

    def merge(self, first: int) -> None:
        def one(engine: EngineModule) -> SegmentFiles:
            segments = [open_files(engine, files) for files in self.files]
            parts = [(segments[place], self.current(segments, place)) for place in range(first, len(segments))]
            gone = [item for segment in segments[first:] for item in segment.removed()] if first else []
            return merged(engine, parts, gone)

        self.files[first:] = [checked(one)]

    def index(self) -> Index:
        segments = [open_files(REFERENCE, files) for files in self.files]
        return Index(tuple((f, frozenset(self.current(segments, i))) for i, f in enumerate(self.files)))


def checked(call: object) -> SegmentFiles:
    files = both(call)  # type: ignore[arg-type]
    assert isinstance(files, SegmentFiles)
    return files


def grow(steps: list[Add | Merge]) -> Grown:
    grown = Grown()
    for step in steps:
        if isinstance(step, Add):
            grown.add(step)
        elif step.first < len(grown.files):
            grown.merge(step.first)
    return grown


@given(histories)
def test_merging_everything_is_building_from_scratch(steps: list[Add | Merge]) -> None:
    grown = grow(steps)
    if grown.files:
        grown.merge(0)
        assert [build(REFERENCE, grown.truth.values())] == grown.files


@given(histories, st.lists(plans, min_size=1, max_size=3))
def test_an_index_grown_answers_like_one_from_scratch(steps: list[Add | Merge], queries: list[Plan]) -> None:
    grown = grow(steps)
    scratch = Index(((build(REFERENCE, grown.truth.values()), frozenset(range(len(grown.truth)))),))

    def answers(engine: EngineModule, index: Index) -> list[object]:
        _, over = index.open(engine)
        ranked = [(over.rank(query, 50), over.search(query, 0).total) for query in queries]
        return [over.sections, over.totals, ranked, over.words_with_prefix("", 99)]

    assert both(lambda engine: answers(engine, scratch)) == both(lambda engine: answers(engine, grown.index()))


def test_a_removed_kbid_that_is_also_an_entry_is_an_entry() -> None:
    files = checked(lambda engine: build(engine, [entry(1, "here")], [kbid(1), kbid(2), kbid(2)]))
    assert [kbid(2)] == open_files(REFERENCE, files).removed()


def test_many_entries_cross_pages() -> None:
    many = [
        entry(
            i, f"title {i}", f"word{i} common text {'x' * (i % 7)}", filters=[f"tag:{i % 30}"], stored=b"s" * (i % 50)
        )
        for i in range(700)
    ]
    files = checked(lambda engine: build(engine, many))
    assert COMPILED is not None
    assert len(files.terms) > 3 * 4096
    both(lambda engine: told(open_files(engine, files), []))
    both(lambda engine: open_files(engine, files).verify())
    index = Index(((files, frozenset(range(0, 700, 3))),))
    both(lambda engine: index.open(engine)[1].words_with_prefix("word1", 1000))
