"""The vectors of a database at one moment: files of them, oldest first, and how they grow and merge.

Immutable, like ``segments``: each change gives a new list. Which sections are live is no part of it; a searcher joins
vectors with segments. Later parts win: of several records of one kbid the last counts, here and in a searcher.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kbdb.index import bitmaps
from kbdb.index.api import Buffer, EngineModule, IntoFile, Segment, Vectors, VectorSearcher
from kbdb.index.in_memory import file_in_memory

WRITTEN_SOON, WRITTEN_FACTOR = 16_384, 4
"""While others wait, writing merges up to so many vectors, or so many times what is new."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of vectors.

    Attributes:
        vectors: the open file.
        current: the records whose sections were not removed.
        folder: number of the folder it lies in, or None while it is only in memory.
    """

    vectors: Vectors
    current: bytes
    folder: int | None

    @classmethod
    def of(cls, vectors: Vectors, folder: int | None) -> Part:
        """A file of which every record counts."""
        return cls(vectors, bitmaps.full(vectors.records), folder)

    @property
    def records(self) -> int:
        """How many records count."""
        return bitmaps.count(self.current)

    @property
    def is_written(self) -> bool:
        """Whether it is on disk, and holds nothing else than it should."""
        return self.folder is not None and self.records == self.vectors.records

    def without(self, kbids: Sequence[bytes]) -> Part:
        """The part once these sections' records count no more; itself where it holds none."""
        found = [record for record in map(self.vectors.find, kbids) if record >= 0]
        if not found:
            return self
        gone = bitmaps.having(self.vectors.records, found)
        return replace(self, current=bitmaps.without(self.current, gone))

    def again(self, kbids: Sequence[bytes]) -> Part:
        """The part once these sections' records count again."""
        if self.records == self.vectors.records:
            return self
        back = [record for record in map(self.vectors.find, kbids) if record >= 0]
        return replace(self, current=bitmaps.either(self.current, bitmaps.having(self.vectors.records, back)))


@dataclass(frozen=True, slots=True)
class VectorList:
    """Files of vectors, oldest first; at most the last one is only in memory.

    Attributes:
        engine: the engine that opened them.
        dimensions: the length of every vector.
        parts: the files.
    """

    engine: EngineModule
    dimensions: int
    parts: tuple[Part, ...] = ()

    @property
    def records(self) -> int:
        """How many vectors count."""
        return sum(part.records for part in self.parts)

    @property
    def in_memory(self) -> int:
        """How many of them are on no disk yet."""
        return sum(part.records for part in self.parts if part.folder is None)

    @property
    def is_written(self) -> bool:
        """Whether it is on disk as it is."""
        return all(part.is_written for part in self.parts)

    @property
    def folders(self) -> tuple[int, ...]:
        """The numbers of the folders that the parts lie in."""
        return tuple(part.folder for part in self.parts if part.folder is not None)

    def vector(self, kbid: bytes) -> bytes | None:
        """A section's vector as little-endian f32, or None where it has none."""
        for part in reversed(self.parts):
            record = part.vectors.find(kbid)
            if record >= 0:
                return part.vectors.vector(record)
        return None

    def searcher(self, segments: Sequence[Segment], live: Sequence[bytes]) -> VectorSearcher:
        """Searches the vectors of what is live of these segments.

        Raises:
            CorruptError: a file is damaged.
        """
        for part in self.parts:
            part.vectors.prepare()
        return self.engine.VectorSearcher([part.vectors for part in self.parts], segments, live)

    def added(self, kbids: Sequence[bytes], rows: Buffer) -> VectorList:
        """This list with vectors of these sections.

        Args:
            kbids: 16 bytes each, distinct.
            rows: little-endian f32, ``dimensions`` for each kbid in turn.

        Raises:
            InvalidArgumentError: their number is not what it must be, or a number is not finite.
        """
        fresh = self._opened(file_in_memory(partial(self.engine.write_vectors, self.dimensions, kbids, rows)))
        older = self.parts
        if older and older[-1].folder is None:
            last, older = older[-1], older[:-1]
            keeps = [last.current, bitmaps.full(fresh.records)]
            both = partial(self.engine.merge_vectors, [last.vectors, fresh], keeps)
            fresh = self._opened(file_in_memory(both))
        return replace(self, parts=(*older, Part.of(fresh, None)))

    def without(self, kbids: Sequence[bytes]) -> VectorList:
        """This list once these sections' vectors count no more; they go from the disk when it is written."""
        return replace(self, parts=tuple(part.without(kbids) for part in self.parts))

    def again(self, kbids: Sequence[bytes]) -> VectorList:
        """This list once these sections are there again: their vectors, if still there, count again."""
        return replace(self, parts=tuple(part.again(kbids) for part in self.parts))

    def only(self, holds: Callable[[bytes], bool]) -> VectorList:
        """This list without the vectors of sections that ``holds`` does not tell of."""
        kbids = (part.vectors.kbid(record) for part in self.parts for record in range(part.vectors.records))
        gone = [kbid for kbid in kbids if not holds(kbid)]
        return self.without(gone) if gone else self

    def write_from(self, *, soon: bool = False) -> int:
        """The first place to merge from when the list is written: what is not on disk as it should be, and older files
        not much larger. Each file kept holds more than twice as many vectors as the next.

        Args:
            soon: others wait, so that larger files wait for another time.
        """
        first = next((place for place, part in enumerate(self.parts) if not part.is_written), len(self.parts))
        records = sum(part.records for part in self.parts[first:])
        most = max(WRITTEN_SOON, WRITTEN_FACTOR * records)
        while first and self.parts[first - 1].records <= 2 * records:
            if soon and records + self.parts[first - 1].records > most:
                break
            first -= 1
            records += self.parts[first].records
        return first

    def write(self, first: int, into: IntoFile) -> None:
        """Writes one file that stands for those from place ``first`` on.

        Raises:
            CorruptError: one of them is damaged.
        """
        merging = self.parts[first:]
        self.engine.merge_vectors([part.vectors for part in merging], [part.current for part in merging], into)

    def with_merged(self, first: int, vectors: Vectors, folder: int) -> VectorList:
        """This list with a file that ``write`` made in the place of those it stands for."""
        return replace(self, parts=(*self.parts[:first], Part.of(vectors, folder)))

    def _opened(self, data: bytes) -> Vectors:
        return self.engine.Vectors(data, name="vectors in memory")
