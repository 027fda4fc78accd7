"""The vectors of an open database: what is in memory, what is on disk, and what made them.

Never changes: what it is made into is a new value, so that readers keep theirs. ``Indexer`` holds the current one and
names its folders in the index's meta file; where vectors come from is ``embedding``'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kbdb.errors import CorruptError, KbdbError
from kbdb.index.api import Buffer, EngineModule
from kbdb.index.vector_list import Part, VectorList
from kbdb.model.embedding import Fingerprint
from kbdb.paths import Layout
from kbdb.store import index_files, vector_files

WRITTEN_EACH = 1024
"""So many vectors are kept in memory before they are written: what an end of the process takes is made again."""


@dataclass(frozen=True, slots=True)
class HeldVectors:
    """Vectors and their origin.

    Attributes:
        engine: what opens and writes them.
        made_by: what made them, or None where there are none that can be read.
        files: the vectors, or None likewise.
        unread: folders on disk that cannot be read; they stay until a rebuild.
        fault: why, or ``""``.
    """

    engine: EngineModule
    made_by: Fingerprint | None = None
    files: VectorList | None = None
    unread: tuple[int, ...] = ()
    fault: str = ""

    @classmethod
    def load(cls, layout: Layout, engine: EngineModule, folders: Sequence[int]) -> HeldVectors:
        """What is on disk. Vectors that cannot be read or do not belong together are a ``fault``, not an error:
        searches by words go on without them."""
        try:
            made_by = None
            parts = []
            for folder in folders:
                meta = vector_files.read_meta(layout, folder)
                vectors = engine.Vectors(
                    vector_files.map_vectors(layout, folder), name=str(layout.indexes / str(folder))
                )
                if made_by not in (None, meta.made_by) or meta.made_by.dimensions != vectors.dimensions:
                    return cls(engine, unread=tuple(folders), fault="the vectors on disk are of different models")
                made_by = meta.made_by
                parts.append(Part.of(vectors, folder))
        except KbdbError as error:
            return cls(engine, unread=tuple(folders), fault=error.message)
        if made_by is None:
            return cls(engine)
        return cls(engine, made_by, VectorList(engine, made_by.dimensions, tuple(parts)))

    @property
    def folders(self) -> tuple[int, ...]:
        """The numbers of the folders that hold them."""
        return self.unread or (self.files.folders if self.files else ())

    @property
    def is_written(self) -> bool:
        """Whether they are on disk as they are."""
        return self.files is None or self.files.is_written

    @property
    def is_long(self) -> bool:
        """Whether so many are in memory alone that they should be written."""
        return self.files is not None and self.files.in_memory >= WRITTEN_EACH

    def serves(self, made_by: Fingerprint) -> bool:
        """Whether they can be compared with what this makes; true of none at all."""
        return not self.fault and self.made_by in (None, made_by)

    def added(self, made_by: Fingerprint, kbids: Sequence[bytes], rows: Buffer) -> HeldVectors:
        """With vectors of these sections, made by what made the others.

        Args:
            made_by: what made them; ``serves`` must hold of it.
            kbids: 16 bytes each, distinct.
            rows: little-endian f32, those of the kbids in turn.
        """
        files = self.files or VectorList(self.engine, made_by.dimensions)
        return replace(self, made_by=made_by, files=files.added(kbids, rows))

    def without(self, kbids: Sequence[bytes]) -> HeldVectors:
        """Without those of sections that were removed."""
        return self._changed(lambda files: files.without(kbids)) if kbids else self

    def again(self, kbids: Sequence[bytes]) -> HeldVectors:
        """With those again of sections that were removed and are back."""
        return self._changed(lambda files: files.again(kbids)) if kbids else self

    def only(self, holds: Callable[[bytes], bool]) -> HeldVectors:
        """Without those of sections that ``holds`` does not tell of."""
        return self._changed(lambda files: files.only(holds))

    def _changed(self, change: Callable[[VectorList], VectorList]) -> HeldVectors:
        try:
            return self if self.files is None else replace(self, files=change(self.files))
        except CorruptError as error:
            return self.damaged(error)

    def damaged(self, error: CorruptError) -> HeldVectors:
        """What is left once they were found damaged: the files stay until a rebuild, and are not used."""
        return HeldVectors(self.engine, unread=self.folders, fault=error.message)

    def written(self, layout: Layout, *, soon: bool) -> HeldVectors:
        """The same on disk: what is only in memory, merged with what is not much larger, in a folder of its own.

        Nothing names that folder yet, and nothing was removed.

        Raises:
            StorageError, CorruptError.
        """
        if self.files is None or self.made_by is None or self.files.is_written:
            return self
        first = self.files.write_from(soon=soon)
        count = sum(part.records for part in self.files.parts[first:])
        if not count:
            return self._settled(replace(self.files, parts=self.files.parts[:first]))
        folder = index_files.next_folder(layout)
        vector_files.write_vectors(layout, folder, self.made_by, count, partial(self.files.write, first))
        name = str(layout.indexes / str(folder))
        vectors = self.engine.Vectors(vector_files.map_vectors(layout, folder), name=name)
        return self._settled(self.files.with_merged(first, vectors, folder))

    def _settled(self, files: VectorList) -> HeldVectors:
        return replace(self, files=files) if files.parts else HeldVectors(self.engine)
