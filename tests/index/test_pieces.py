"""A build in pieces gives the bytes of one build, however many there are and wherever they lie meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from engines import FINGERPRINT, PARAMS, REFERENCE, entry

from kbdb.index import pieces
from kbdb.index.api import Into, Segment
from kbdb.index.engine import stemmer
from kbdb.index.in_memory import in_memory
from kbdb.index.pieces import build_in_pieces
from kbdb.index.segments import SegmentList

EMPTY = SegmentList(REFERENCE, FINGERPRINT, PARAMS, stemmer("english"))


class Room:
    """Holds pieces by number, up to so many at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.lying: set[int] = set()
        self.put_here = 0
        self.height = 0

    def put(self, write: Callable[[Into], None]) -> tuple[Segment, int] | None:
        if len(self.lying) >= self.most:
            return None
        self.put_here += 1
        self.lying.add(self.put_here)
        self.height = max(self.height, len(self.lying))
        return EMPTY.opened(in_memory(write)), self.put_here

    def remove(self, number: int) -> None:
        self.lying.remove(number)


def same_as_one_build(built: SegmentList, count: int) -> bool:
    entries = [entry(number, body=f"apples {number} " * number) for number in range(count)]
    return [slot.files for slot in built.merged(0).slots] == [slot.files for slot in EMPTY.added(entries).slots]


def built(count: int, memory: int, room: Room | None) -> SegmentList:
    entries = (entry(number, body=f"apples {number} " * number) for number in range(count))
    return build_in_pieces(EMPTY, entries, memory, room)


@pytest.mark.parametrize("memory", [0, 1, 10_000, 10**9])
def test_a_build_in_pieces_gives_the_bytes_of_one_build(memory: int) -> None:
    made = built(12, memory, None)
    assert (len(made.slots) == 1) == (memory == 10**9)
    assert same_as_one_build(made, 12)


def test_a_build_of_nothing_has_no_segments() -> None:
    assert built(0, 1, Room(9)).slots == ()


def test_one_piece_alone_stays_in_memory() -> None:
    room = Room(9)
    made = built(5, 10**9, room)
    assert room.put_here == 0
    assert made.slots[0].is_as_built


@pytest.mark.parametrize("most", [0, 2, 100])
def test_pieces_go_where_there_is_room_and_stay_in_memory_where_there_is_none(most: int) -> None:
    room = Room(most)
    made = built(5, 0, room)
    assert len(room.lying) == min(5, most)
    assert [slot.files is None for slot in made.slots] == [number < most for number in range(5)]
    assert all(slot.folder is None for slot in made.slots)
    assert same_as_one_build(made, 5)


@pytest.mark.parametrize("most", [0, 5, 100])
def test_pieces_of_one_size_are_merged_a_few_at_a_time_and_let_go(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(pieces, "MERGED_PIECES", 3)
    room = Room(most)
    made = built(23, 0, room)
    # 23 pieces of one entry: 2 * 9 + 1 * 3 + 2.
    assert [slot.weight for slot in made.slots] == [9, 9, 3, 1, 1]
    if most == 100:
        assert (len(room.lying), room.height) == (5, 7)
    assert same_as_one_build(made, 23)


def test_a_builder_counts_more_memory_with_every_entry() -> None:
    builder = REFERENCE.Builder(FINGERPRINT, PARAMS)
    counted = [builder.memory_bytes]
    for number in range(3):
        builder.add(entry(number, body="some words"))
        counted.append(builder.memory_bytes)
    assert counted == sorted(set(counted))
