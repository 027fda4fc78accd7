"""A merge of segments on disk that goes on beside commits and searches, in a thread of its own.

What it reads never changes, and nothing names what it writes before ``Indexer`` takes it over between two commits. A
crash meanwhile leaves a folder that the next opening sweeps away. It removes nothing itself: another database may have
taken the place of this one meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread

from kbdb.errors import KbdbError
from kbdb.index.api import Into
from kbdb.index.segments import SegmentList, Slot
from kbdb.paths import Layout
from kbdb.store import index_files


class Merging:
    """One merge, begun when it is made. Its owner is one thread; the folder is the merge's until ``cancel`` or its end.

    Args:
        layout: of the database.
        segments: the list.
        first: place of the first segment to merge.
        end: place after the last.

    Attributes:
        run: the slots that are merged, as they were at the beginning.
        end: place after the last of them.
        folder: number of the folder that is written.
    """

    def __init__(self, layout: Layout, segments: SegmentList, first: int, end: int) -> None:
        self.run: Sequence[Slot] = segments.slots[first:end]
        self.end = end
        self.folder = index_files.make_next_folder(layout)
        self._layout = layout
        self._segments = segments
        self._first = first
        self._cancelled = False
        self._error: KbdbError | None = None
        # A process that ends meanwhile does not wait for it: nothing is lost.
        self._thread = Thread(target=self._work, name="kbdb-merge", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether it came to its end, well or not."""
        return not self._thread.is_alive()

    def check(self) -> None:
        """Waits for its end.

        Raises:
            KbdbError: it could not be done.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error

    def cancel(self) -> None:
        """Ends it early, and waits for that."""
        self._cancelled = True
        self._thread.join()

    def _work(self) -> None:
        try:
            index_files.write_segment(self._layout, self.folder, self._write, paced=True)
        except KbdbError as error:
            self._error = error
        except Exception as error:
            # What is stored is stored, whatever becomes of a merge.
            self._error = KbdbError(f"{type(error).__name__}: {error}")
            self._error.__cause__ = error

    def _write(self, into: Into) -> None:
        def unless_cancelled(number: int, offset: int, data: bytes) -> None:
            if self._cancelled:
                raise _CancelledError("the merge was ended early")
            into(number, offset, data)

        self._segments.write(self._first, unless_cancelled, self.end)


class _CancelledError(Exception):
    """Nobody wants the merged segment any more."""
