"""How the list of segments grows: commits merge little, searches visit few, and the outcome is that of one build."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engines import FINGERPRINT, PARAMS, REFERENCE, entry, kbid
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdb.index import bitmaps, segments
from kbdb.index.engine import stemmer
from kbdb.index.in_memory import in_memory
from kbdb.index.segments import SegmentList, Slot

EMPTY = SegmentList(REFERENCE, FINGERPRINT, PARAMS, stemmer("english"))


def weights(shown: SegmentList) -> list[int]:
    return [slot.weight for slot in shown.slots]


def on_disk(sizes: list[int], new: int) -> SegmentList:
    """Segments of these sizes, as if read from folders, and one in memory."""
    slots: list[Slot] = []
    for number, size in enumerate(sizes):
        (slot,) = EMPTY.added(entry(1000 * number + more) for more in range(size)).slots
        slots.append(replace(slot, folder=number + 1, files=None))
    (newest,) = EMPTY.added(entry(10**6 + more) for more in range(new)).slots
    return replace(EMPTY, slots=(*slots, newest))


def test_most_commits_of_one_section_merge_nothing_and_few_segments_stand_side_by_side() -> None:
    shown, merging = EMPTY, 0
    for number in range(70):
        before = len(shown.slots)
        shown = shown.added([entry(number)])
        merging += len(shown.slots) != before + 1
        assert len(shown.slots) <= 9
    assert merging == 70 // 4
    assert sum(weights(shown)) == 70


def test_segments_past_a_size_are_not_merged_by_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SMALL", 16)
    shown = EMPTY
    for number in range(100):
        shown = shown.added([entry(number)])
    assert weights(shown) == [16] * 6 + [4]


def test_a_large_commit_merges_what_stands_in_proportion_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SMALL", 4)
    shown = EMPTY
    for commit in range(9):
        shown = shown.added(entry(10 * commit + number) for number in range(5))
    assert weights(shown) == [20, 20, 5]


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=30))
@settings(deadline=None, max_examples=30)
def test_whatever_was_added_and_removed_merging_all_gives_the_bytes_of_one_build(steps: list[tuple[int, bool]]) -> None:
    shown, texts = EMPTY, dict[int, str]()
    for step, (number, stays) in enumerate(steps):
        if stays:
            texts[number] = f"apples of day {step}"
            shown = shown.added([entry(number, body=texts[number])])
        else:
            texts.pop(number, None)
            shown = shown.added([], [kbid(number)])
        assert sum(bitmaps.count(slot.current) for slot in shown.slots) == len(texts)
    once = EMPTY.added(entry(number, body=text) for number, text in texts.items())
    if shown.slots and once.slots:
        assert shown.merged(0).slots[0].files == once.slots[0].files


@pytest.mark.parametrize(
    ("sizes", "new", "first"),
    [([], 1, 0), ([5], 1, 1), ([2], 1, 0), ([5, 2], 1, 0), ([17, 5, 2], 1, 1), ([40], 20, 0), ([8, 6, 4, 2], 1, 0)],
)
def test_writing_takes_in_older_segments_that_are_not_much_larger_than_what_follows(
    sizes: list[int], new: int, first: int
) -> None:
    assert on_disk(sizes, new).flush_from() == first


@pytest.mark.parametrize(("sizes", "new", "first"), [([8, 6, 4, 2], 1, 2), ([40], 20, 0), ([60, 40], 20, 1)])
def test_writing_while_a_commit_waits_rewrites_no_more_than_some_times_what_is_new(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], new: int, first: int
) -> None:
    monkeypatch.setattr(segments, "FLUSHED_SOON", 8)
    assert on_disk(sizes, new).flush_from(soon=True) == first


@pytest.mark.parametrize(
    ("sizes", "run"),
    [
        ([9, 9, 9], None),
        ([9, 9, 9, 9], (0, 4)),
        ([40, 9, 9, 9, 9], (1, 5)),
        ([9, 9, 9, 9, 40], (0, 5)),
        ([9, 3, 9, 9], (0, 4)),
        ([40, 40, 9, 40, 40, 9], (0, 5)),
        ([2, 2, 2, 2], None),
        ([], None),
    ],
)
def test_enough_segments_on_disk_of_about_one_size_are_worth_merging_beside_the_work(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], run: tuple[int, int] | None
) -> None:
    monkeypatch.setattr(segments, "FLUSHED_SOON", 16)
    assert on_disk(sizes, 9).run_to_merge() == run


def test_what_was_replaced_while_a_run_was_merged_does_not_come_back() -> None:
    before = on_disk([3, 3], 1)
    then = before.added([entry(0, body="apples again")], [kbid(1000)])
    files = in_memory(lambda into: before.write(0, into, 2))
    merged = then.with_run_merged(before.slots[:2], before.opened(files), 7)
    assert merged.slots[0].folder == 7
    assert bitmaps.count(merged.slots[0].current) == 4
    assert merged.merged(0).slots[0].files == then.merged(0).slots[0].files
