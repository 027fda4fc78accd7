"""Builds a large index in pieces: no more texts are collected at once than memory is granted for.

Sections come in the order of their kbids, so each piece is a segment of its own, and merging all gives the bytes of one
build. A piece goes to disk as soon as another follows; many are merged into one on the way, so that the last merge
never reads from more than some dozens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from kbdb.index.api import Into, Segment
from kbdb.index.in_memory import in_memory
from kbdb.index.segments import SegmentList, Slot
from kbdb.plan import Entry, SegmentFiles

MERGED_PIECES = 32
"""So many pieces of one size become one. A merge holds little of each piece, but each takes four open files."""


class Room(Protocol):
    """Where pieces lie until they are merged; nothing but the list of segments knows them."""

    def put(self, write: Callable[[Into], None]) -> tuple[Segment, int] | None:
        """Writes a segment and opens it where it lies; its number there. None where there is no room for it."""

    def remove(self, number: int) -> None:
        """Lets go of one that was put there and is needed no more."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A segment, how often it was merged, and its number in the room, or None while it is in memory."""

    slot: Slot
    level: int
    number: int | None


def build_in_pieces(empty: SegmentList, entries: Iterable[Entry], memory: int, room: Room | None = None) -> SegmentList:
    """A list with these entries and no others, not on disk as far as the index goes; ``write`` makes one segment of it.

    Args:
        empty: a list without segments.
        entries: each section once, by kbid.
        memory: bytes that collecting entries and making their files may take.
        room: where pieces go when there are several; without one, and where it takes none, they stay in memory.
    """
    pieces: list[_Piece] = []
    rest = iter(entries)
    first = next(rest, None)
    while first is not None:
        files = _collected(empty, first, rest, memory)
        first = next(rest, None)
        only = first is None and not pieces
        pieces.append(_piece(empty, files, None if only else room))
        del files  # so that the next piece is not collected beside it
        while len(pieces) >= MERGED_PIECES and pieces[-MERGED_PIECES].level == pieces[-1].level:
            pieces[-MERGED_PIECES:] = [_merged(empty, pieces[-MERGED_PIECES:], room)]
    return replace(empty, slots=tuple(piece.slot for piece in pieces))


def _collected(empty: SegmentList, first: Entry, rest: Iterable[Entry], memory: int) -> SegmentFiles:
    """The files of one piece: of an entry, and as many more as memory is granted for."""
    builder = empty.engine.Builder(empty.fingerprint, empty.params)
    builder.add(first)
    if builder.memory_bytes < memory:
        for entry in rest:
            builder.add(entry)
            if builder.memory_bytes >= memory:
                break
    return builder.finish(empty.stem)


def _piece(empty: SegmentList, files: SegmentFiles, room: Room | None) -> _Piece:
    def write(into: Into) -> None:
        for number, data in enumerate((files.terms, files.positions, files.corpus, files.references)):
            into(number, 0, data)

    put = room.put(write) if room else None
    if put is None:
        return _Piece(_slot(empty.opened(files), files), 0, None)
    return _Piece(_slot(put[0], None), 0, put[1])


def _merged(empty: SegmentList, pieces: list[_Piece], room: Room | None) -> _Piece:
    write = partial(replace(empty, slots=tuple(piece.slot for piece in pieces)).write, 0)
    level = pieces[-1].level + 1
    put = room.put(write) if room else None
    if put is None:
        files = in_memory(write)
        return _Piece(_slot(empty.opened(files), files), level, None)
    assert room is not None
    for piece in pieces:
        if piece.number is not None:
            room.remove(piece.number)
    return _Piece(_slot(put[0], None), level, put[1])


def _slot(segment: Segment, files: SegmentFiles | None) -> Slot:
    # Pieces hold different sections, so that nothing in earlier ones is replaced.
    return Slot.of(segment, None, files)
