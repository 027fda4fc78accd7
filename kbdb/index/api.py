"""What every engine offers: the types that ``kbdb._engine``, ``kbdb.reference`` and ``kbdb.index.checked`` share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from mmap import mmap
from typing import Protocol

from kbdb.plan import EngineResult, Entry, Params, Plan, SegmentFiles, Share, VectorHit

Buffer = bytes | memoryview | mmap
"""What a file may be handed over as; it is kept alive as long as what is opened from it."""

Stem = Callable[[list[str]], list[str]]
"""Distinct surface words to their stems, one for one."""


Into = Callable[[int, int, bytes], None]
"""Takes bytes of a segment's files: the number of a file in the order of ``SegmentFiles``, an offset, and what belongs
there. Each byte of a file comes once, not always in order."""


IntoFile = Callable[[int, bytes], None]
"""Takes bytes of one file: an offset, and what belongs there. Each byte comes once."""


class Segment(Protocol):
    """An open segment. Opening validates; entries are numbered in kbid order; bitmaps as in csrc/README.md."""

    sections: int

    def kbid(self, entry: int) -> bytes: ...
    def find(self, kbid: bytes) -> int: ...
    def stored(self, entry: int) -> bytes: ...
    def lengths(self, entry: int) -> tuple[int, int, int, int, int]: ...
    def distinct(self, entry: int) -> int: ...
    def listed(self) -> bytes: ...
    def removed(self) -> list[bytes]: ...
    def filter_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[tuple[str, int]]: ...
    def filter(self, key: str) -> bytes: ...
    def reference_keys(self, prefix: str) -> list[tuple[str, int]]: ...
    def holders(self, key: str) -> list[int]: ...
    def references(self, key: str) -> list[int]: ...
    def verify(self) -> None: ...


class Builder(Protocol):
    """Collects entries and makes a segment's four files.

    ``memory_bytes`` is about what that takes at its height, as far as entries were added.
    """

    @property
    def memory_bytes(self) -> int: ...

    def add(self, entry: Entry) -> None: ...
    def remove(self, kbid: bytes) -> None: ...
    def finish(self, stem: Stem) -> SegmentFiles: ...


class Searcher(Protocol):
    """Answers plans over segments read through live bitmaps; a snapshot: nothing it reads ever changes.

    Its parameters are those that the segments were built with.
    """

    sections: int
    totals: tuple[int, int, int, int, int]
    memory_bytes: int

    def df(self, stem: str) -> int: ...
    def word_df(self, word: str) -> int: ...
    def words_of(self, stem: str) -> list[str]: ...
    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]: ...
    def words_containing(self, part: str, limit: int) -> list[tuple[str, int]]: ...
    def words_near(self, word: str, distance: int, limit: int) -> list[tuple[str, int, int]]: ...
    def search(self, plan: Plan, limit: int, allowed: Sequence[bytes] | None = None) -> EngineResult: ...
    def rank(self, plan: Plan, limit: int) -> list[tuple[str, float]]: ...
    def explain(self, plan: Plan, segment: int, entry: int) -> tuple[Share, ...]: ...
    def similar(self, stems: Sequence[str], threshold: float, limit: int) -> list[tuple[int, int, float]]: ...
    def similar_to(
        self, segment: int, entries: Sequence[int], threshold: float, limit: int
    ) -> list[list[tuple[int, int, float]]]: ...


class Vectors(Protocol):
    """An open vectors.idx. Opening looks at its header and length; the first use of a record checks them all.

    ``prepare`` makes later searches fast, and changes no answer.
    """

    dimensions: int
    records: int
    memory_bytes: int

    def kbid(self, record: int) -> bytes: ...
    def find(self, kbid: bytes) -> int: ...
    def vector(self, record: int) -> bytes: ...
    def prepare(self) -> None: ...
    def verify(self) -> None: ...


class VectorSearcher(Protocol):
    """Finds what is nearest to a vector among the live sections; a snapshot like a Searcher, over the same segments.

    ``missing`` are the live sections without a vector, a bitmap a segment; ``held`` the records that count, a bitmap a
    file.
    """

    sections: int
    memory_bytes: int

    def missing(self) -> list[bytes]: ...
    def held(self) -> list[bytes]: ...
    def search(
        self, query: Buffer, limit: int, allowed: Sequence[bytes] | None = None, *, exact: bool = False
    ) -> tuple[VectorHit, ...]: ...


class SegmentOpener(Protocol):
    def __call__(
        self,
        terms: Buffer,
        positions: Buffer,
        corpus: Buffer,
        references: Buffer,
        *,
        fingerprint: int,
        name: str = "",
    ) -> Segment: ...


class BuilderMaker(Protocol):
    def __call__(self, fingerprint: int, params: Params) -> Builder: ...


class SearcherMaker(Protocol):
    def __call__(self, segments: Sequence[Segment], live: Sequence[bytes], params: Params) -> Searcher: ...


class Merger(Protocol):
    """Makes one segment of several, with the bytes that a build from the same entries gives."""

    def __call__(
        self,
        segments: Sequence[Segment],
        keeps: Sequence[bytes],
        removed: Iterable[bytes],
        *,
        fingerprint: int,
        params: Params,
        into: Into,
    ) -> None: ...


class VectorsOpener(Protocol):
    def __call__(self, data: Buffer, *, name: str = "") -> Vectors: ...


class VectorSearcherMaker(Protocol):
    """Joins files of vectors, oldest first, with what is live of segments; the newest vector of a section counts."""

    def __call__(
        self, vectors: Sequence[Vectors], segments: Sequence[Segment], live: Sequence[bytes]
    ) -> VectorSearcher: ...


class VectorsWriter(Protocol):
    """Writes a vectors.idx of kbids in any order, each once, and their vectors in turn."""

    def __call__(self, dimensions: int, kbids: Iterable[bytes], vectors: Buffer, into: IntoFile) -> None: ...


class VectorsMerger(Protocol):
    """Makes one vectors.idx of several, oldest first, of the records whose bits are set; the newest of a kbid wins."""

    def __call__(self, parts: Sequence[Vectors], keeps: Sequence[bytes], into: IntoFile) -> None: ...


class EngineModule(Protocol):
    """The names of an engine module."""

    IMPLEMENTATION: str
    ANALYSIS_VERSION: str
    Builder: BuilderMaker
    Segment: SegmentOpener
    Searcher: SearcherMaker
    merge: Merger
    Vectors: VectorsOpener
    VectorSearcher: VectorSearcherMaker
    write_vectors: VectorsWriter
    merge_vectors: VectorsMerger

    tokenise: Callable[[str], list[tuple[int, str]]]
    scan_toml: Callable[[bytes], dict[str, object]]
    idf: Callable[[int, int], float]
