"""The compiled engine's merge: what its sink gets, and what becomes of a sink that fails."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

import pytest
from engines import FINGERPRINT, HAS_COMPILED, PARAMS, build, entry, everything, needs_compiled, open_files

from kbdb.plan import SegmentFiles

pytestmark = needs_compiled

ENGINE: Any = import_module("kbdb._engine") if HAS_COMPILED else None
CHUNK = 1 << 20


def merge(segments: list[Any], into: object) -> None:
    keeps = [everything(segment) for segment in segments]
    ENGINE.merge(segments, keeps, (), fingerprint=FINGERPRINT, params=PARAMS, into=into)


def parts() -> list[Any]:
    """Segments that are several chunks large together: stored bytes, and lists of many words."""
    items = [entry(i, f"title {i}", f"word{i} " * 40, stored=bytes([i % 251]) * 9000) for i in range(400)]
    return [open_files(ENGINE, build(ENGINE, items[start::4])) for start in range(4)]


def test_pieces_are_small_and_hold_each_byte_once() -> None:
    pieces: dict[int, list[tuple[int, int]]] = {number: [] for number in range(4)}
    merge(parts(), lambda number, offset, data: pieces[number].append((offset, len(data))))
    assert sum(length for _, length in pieces[2]) > 3 * CHUNK
    for of_file in pieces.values():
        end = 0
        for offset, length in sorted(of_file):
            assert (offset, True) == (end, 0 < length <= CHUNK)
            end += length


def test_what_a_sink_raises_ends_the_merge() -> None:
    segments, calls = parts(), 0

    def count(*_piece: object) -> None:
        nonlocal calls
        calls += 1

    merge(segments, count)
    for nth in range(1, calls + 1, 3):
        passed = 0

        def full(*_piece: object, nth: int = nth) -> None:
            nonlocal passed
            passed += 1
            if passed == nth:
                raise OSError(28, "No space left on device")

        with pytest.raises(OSError, match="No space left"):
            merge(segments, full)
        assert passed == nth


def test_an_interruption_passes_through() -> None:
    def interrupt(*_piece: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        merge(parts(), interrupt)


def test_segments_may_be_read_while_they_are_merged() -> None:
    segments = parts()
    reached, told = threading.Event(), threading.Event()

    def pause(*_piece: object) -> None:
        reached.set()
        assert told.wait(60)

    merging = threading.Thread(target=merge, args=(segments, pause))
    merging.start()
    assert reached.wait(60)
    assert [segment.sections for segment in segments] == [100] * 4
    assert segments[0].stored(5)
    told.set()
    merging.join()


def test_a_merge_may_be_merged() -> None:
    segments = parts()
    files = [bytearray() for _ in range(4)]

    def into(number: int, offset: int, data: bytes) -> None:
        files[number].extend(bytes(max(0, offset + len(data) - len(files[number]))))
        files[number][offset : offset + len(data)] = data

    merge(segments, into)
    once = SegmentFiles(*map(bytes, files))
    files = [bytearray() for _ in range(4)]
    merge([open_files(ENGINE, once)], into)
    assert once == SegmentFiles(*map(bytes, files))
