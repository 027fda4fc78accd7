"""Both engines in lock-step: each call goes to the compiled one and to its twin, and their answers must be the same.

Chosen with ``KBDB_ENGINE=checked``, so that any program and any test becomes a comparison of the two. An answer is a
value (scores to the last bit, files to the last byte) or an error; one that differs raises AssertionError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from importlib import import_module
from typing import TypeVar, cast

from kbdb.errors import CorruptError, KbdbError, StaleIndexError
from kbdb.index import api
from kbdb.index.in_memory import file_in_memory, in_memory
from kbdb.plan import EngineResult, Entry, Params, Plan, SegmentFiles, Share, VectorHit

IMPLEMENTATION = "checked"

COMPILED = cast(api.EngineModule, import_module("kbdb._engine"))
REFERENCE = cast(api.EngineModule, import_module("kbdb.reference"))

T = TypeVar("T")

Outcome = tuple[T | None, KbdbError | None]


def _outcome(call: Callable[[], T]) -> Outcome[T]:
    try:
        return call(), None
    except KbdbError as error:
        return None, error


def _said(error: KbdbError) -> str:
    # The place of damage depends on which part of a file an engine needs first; the text of other errors is shared.
    text = "" if isinstance(error, (CorruptError, StaleIndexError)) else error.message
    return f"{type(error).__name__}({text})"


def _pair(what: str, compiled: Callable[[], T], reference: Callable[[], T]) -> tuple[T, T]:
    """Both answers, of which only errors were compared; raises the compiled engine's error when both fail alike."""
    (left, left_error), (right, right_error) = _outcome(compiled), _outcome(reference)
    left_said = _said(left_error) if left_error else "no error"
    right_said = _said(right_error) if right_error else "no error"
    if left_said != right_said:
        raise AssertionError(f"{what}: the compiled engine gave {left_said}, the reference {right_said}")
    if left_error is not None:
        raise left_error
    return cast(T, left), cast(T, right)


def _same(what: str, compiled: Callable[[], T], reference: Callable[[], T]) -> T:
    """The one answer that both give."""
    left, right = _pair(what, compiled, reference)
    if left != right:
        raise AssertionError(f"{what}: the compiled engine gave {left!r}, the reference {right!r}")
    return left


def tokenise(text: str) -> list[tuple[int, str]]:
    """See ``kbdb.reference.tokenise``."""
    return _same("tokenise", lambda: COMPILED.tokenise(text), lambda: REFERENCE.tokenise(text))


def scan_toml(data: bytes) -> dict[str, object]:
    """See ``kbdb.reference.scan_toml``."""
    return _same("scan_toml", lambda: COMPILED.scan_toml(data), lambda: REFERENCE.scan_toml(data))


def idf(sections: int, df: int) -> float:
    """See ``kbdb.reference.idf``."""
    return _same("idf", lambda: COMPILED.idf(sections, df), lambda: REFERENCE.idf(sections, df))


ANALYSIS_VERSION = _same("ANALYSIS_VERSION", lambda: COMPILED.ANALYSIS_VERSION, lambda: REFERENCE.ANALYSIS_VERSION)


class Segment:
    """A segment opened by both engines."""

    def __init__(
        self,
        terms: api.Buffer,
        positions: api.Buffer,
        corpus: api.Buffer,
        references: api.Buffer,
        *,
        fingerprint: int,
        name: str = "",
    ) -> None:
        """See ``kbdb.reference.Segment``."""
        files = (terms, positions, corpus, references)
        self.compiled, self.reference = _pair(
            "Segment",
            lambda: COMPILED.Segment(*files, fingerprint=fingerprint, name=name),
            lambda: REFERENCE.Segment(*files, fingerprint=fingerprint, name=name),
        )
        self.sections = self._ask("sections", lambda segment: segment.sections)

    def kbid(self, entry: int) -> bytes:
        return self._ask("kbid", lambda segment: segment.kbid(entry))

    def find(self, kbid: bytes) -> int:
        return self._ask("find", lambda segment: segment.find(kbid))

    def stored(self, entry: int) -> bytes:
        return self._ask("stored", lambda segment: segment.stored(entry))

    def lengths(self, entry: int) -> tuple[int, int, int, int, int]:
        return self._ask("lengths", lambda segment: segment.lengths(entry))

    def distinct(self, entry: int) -> int:
        return self._ask("distinct", lambda segment: segment.distinct(entry))

    def listed(self) -> bytes:
        return self._ask("listed", lambda segment: segment.listed())

    def removed(self) -> list[bytes]:
        return self._ask("removed", lambda segment: segment.removed())

    def filter_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[tuple[str, int]]:
        return self._ask("filter_keys", lambda segment: segment.filter_keys(prefix, after, limit))

    def filter(self, key: str) -> bytes:
        return self._ask("filter", lambda segment: segment.filter(key))

    def reference_keys(self, prefix: str) -> list[tuple[str, int]]:
        return self._ask("reference_keys", lambda segment: segment.reference_keys(prefix))

    def holders(self, key: str) -> list[int]:
        return self._ask("holders", lambda segment: segment.holders(key))

    def references(self, key: str) -> list[int]:
        return self._ask("references", lambda segment: segment.references(key))

    def verify(self) -> None:
        return self._ask("verify", lambda segment: segment.verify())

    def _ask(self, what: str, question: Callable[[api.Segment], T]) -> T:
        return _same(f"Segment.{what}", lambda: question(self.compiled), lambda: question(self.reference))


class Builder:
    """Both builders; their files must be equal."""

    def __init__(self, fingerprint: int, params: Params) -> None:
        """See ``kbdb.reference.Builder``."""
        self.compiled, self.reference = _pair(
            "Builder", lambda: COMPILED.Builder(fingerprint, params), lambda: REFERENCE.Builder(fingerprint, params)
        )

    def add(self, entry: Entry) -> None:
        _pair("Builder.add", lambda: self.compiled.add(entry), lambda: self.reference.add(entry))

    @property
    def memory_bytes(self) -> int:
        return self.compiled.memory_bytes

    def remove(self, kbid: bytes) -> None:
        _pair("Builder.remove", lambda: self.compiled.remove(kbid), lambda: self.reference.remove(kbid))

    def finish(self, stem: api.Stem) -> SegmentFiles:
        left, right = _pair("Builder.finish", lambda: self.compiled.finish(stem), lambda: self.reference.finish(stem))
        return _same_files("Builder.finish", left, right)


def merge(
    segments: Sequence[Segment],
    keeps: Sequence[bytes],
    removed: Iterable[bytes],
    *,
    fingerprint: int,
    params: Params,
    into: api.Into,
) -> None:
    """See ``kbdb.reference.merge``."""
    gone = tuple(removed)

    def merged(engine: api.EngineModule, parts: Sequence[api.Segment]) -> SegmentFiles:
        return in_memory(
            lambda into: engine.merge(parts, keeps, gone, fingerprint=fingerprint, params=params, into=into)
        )

    left, right = _pair(
        "merge",
        lambda: merged(COMPILED, [segment.compiled for segment in segments]),
        lambda: merged(REFERENCE, [segment.reference for segment in segments]),
    )
    for number, data in enumerate(astuple(_same_files("merge", left, right))):
        into(number, 0, data)


def _same_files(what: str, left: SegmentFiles, right: SegmentFiles) -> SegmentFiles:
    for name in ("terms", "positions", "corpus", "references"):
        if getattr(left, name) != getattr(right, name):
            raise AssertionError(f"{what}: the engines made different {name}")
    return left


class Searcher:
    """Both searchers; their answers must be equal."""

    def __init__(self, segments: Sequence[Segment], live: Sequence[bytes], params: Params) -> None:
        """See ``kbdb.reference.Searcher``."""
        self.compiled, self.reference = _pair(
            "Searcher",
            lambda: COMPILED.Searcher([segment.compiled for segment in segments], live, params),
            lambda: REFERENCE.Searcher([segment.reference for segment in segments], live, params),
        )
        self.sections = self._ask("sections", lambda searcher: searcher.sections)
        self.totals = self._ask("totals", lambda searcher: searcher.totals)

    @property
    def memory_bytes(self) -> int:
        """What the compiled engine holds; the one number in which they may differ."""
        return self.compiled.memory_bytes

    def df(self, stem: str) -> int:
        return self._ask("df", lambda searcher: searcher.df(stem))

    def word_df(self, word: str) -> int:
        return self._ask("word_df", lambda searcher: searcher.word_df(word))

    def words_of(self, stem: str) -> list[str]:
        return self._ask("words_of", lambda searcher: searcher.words_of(stem))

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        return self._ask("words_with_prefix", lambda searcher: searcher.words_with_prefix(prefix, limit))

    def words_containing(self, part: str, limit: int) -> list[tuple[str, int]]:
        return self._ask("words_containing", lambda searcher: searcher.words_containing(part, limit))

    def words_near(self, word: str, distance: int, limit: int) -> list[tuple[str, int, int]]:
        return self._ask("words_near", lambda searcher: searcher.words_near(word, distance, limit))

    def search(self, plan: Plan, limit: int, allowed: Sequence[bytes] | None = None) -> EngineResult:
        return self._ask("search", lambda searcher: searcher.search(plan, limit, allowed))

    def rank(self, plan: Plan, limit: int) -> list[tuple[str, float]]:
        return self._ask("rank", lambda searcher: searcher.rank(plan, limit))

    def explain(self, plan: Plan, segment: int, entry: int) -> tuple[Share, ...]:
        return self._ask("explain", lambda searcher: searcher.explain(plan, segment, entry))

    def similar(self, stems: Sequence[str], threshold: float, limit: int) -> list[tuple[int, int, float]]:
        return self._ask("similar", lambda searcher: searcher.similar(stems, threshold, limit))

    def similar_to(
        self, segment: int, entries: Sequence[int], threshold: float, limit: int
    ) -> list[list[tuple[int, int, float]]]:
        return self._ask("similar_to", lambda searcher: searcher.similar_to(segment, entries, threshold, limit))

    def _ask(self, what: str, question: Callable[[api.Searcher], T]) -> T:
        return _same(f"Searcher.{what}", lambda: question(self.compiled), lambda: question(self.reference))


class Vectors:
    """A file of vectors opened by both engines."""

    def __init__(self, data: api.Buffer, *, name: str = "") -> None:
        """See ``kbdb.reference.Vectors``."""
        self.compiled, self.reference = _pair(
            "Vectors", lambda: COMPILED.Vectors(data, name=name), lambda: REFERENCE.Vectors(data, name=name)
        )
        self.dimensions = self._ask("dimensions", lambda vectors: vectors.dimensions)
        self.records = self._ask("records", lambda vectors: vectors.records)

    @property
    def memory_bytes(self) -> int:
        """What the compiled engine holds; the one number in which they may differ."""
        return self.compiled.memory_bytes

    def kbid(self, record: int) -> bytes:
        return self._ask("kbid", lambda vectors: vectors.kbid(record))

    def find(self, kbid: bytes) -> int:
        return self._ask("find", lambda vectors: vectors.find(kbid))

    def vector(self, record: int) -> bytes:
        return self._ask("vector", lambda vectors: vectors.vector(record))

    def prepare(self) -> None:
        return self._ask("prepare", lambda vectors: vectors.prepare())

    def verify(self) -> None:
        return self._ask("verify", lambda vectors: vectors.verify())

    def _ask(self, what: str, question: Callable[[api.Vectors], T]) -> T:
        return _same(f"Vectors.{what}", lambda: question(self.compiled), lambda: question(self.reference))


def write_vectors(dimensions: int, kbids: Iterable[bytes], vectors: api.Buffer, into: api.IntoFile) -> None:
    """See ``kbdb.reference.write_vectors``."""
    ids = list(kbids)
    written = _same(
        "write_vectors",
        lambda: file_in_memory(lambda into: COMPILED.write_vectors(dimensions, ids, vectors, into)),
        lambda: file_in_memory(lambda into: REFERENCE.write_vectors(dimensions, ids, vectors, into)),
    )
    into(0, written)


def merge_vectors(parts: Sequence[Vectors], keeps: Sequence[bytes], into: api.IntoFile) -> None:
    """See ``kbdb.reference.merge_vectors``."""
    compiled, reference = [part.compiled for part in parts], [part.reference for part in parts]
    merged = _same(
        "merge_vectors",
        lambda: file_in_memory(lambda into: COMPILED.merge_vectors(compiled, keeps, into)),
        lambda: file_in_memory(lambda into: REFERENCE.merge_vectors(reference, keeps, into)),
    )
    into(0, merged)


class VectorSearcher:
    """Both searchers of vectors; their answers must be equal."""

    def __init__(self, vectors: Sequence[Vectors], segments: Sequence[Segment], live: Sequence[bytes]) -> None:
        """See ``kbdb.reference.VectorSearcher``."""
        self.compiled, self.reference = _pair(
            "VectorSearcher",
            lambda: COMPILED.VectorSearcher(
                [part.compiled for part in vectors], [segment.compiled for segment in segments], live
            ),
            lambda: REFERENCE.VectorSearcher(
                [part.reference for part in vectors], [segment.reference for segment in segments], live
            ),
        )
        self.sections = self._ask("sections", lambda searcher: searcher.sections)

    @property
    def memory_bytes(self) -> int:
        """What the compiled engine holds; the one number in which they may differ."""
        return self.compiled.memory_bytes

    def missing(self) -> list[bytes]:
        return self._ask("missing", lambda searcher: searcher.missing())

    def held(self) -> list[bytes]:
        return self._ask("held", lambda searcher: searcher.held())

    def search(
        self, query: api.Buffer, limit: int, allowed: Sequence[bytes] | None = None, *, exact: bool = False
    ) -> tuple[VectorHit, ...]:
        return self._ask("search", lambda searcher: searcher.search(query, limit, allowed, exact=exact))

    def _ask(self, what: str, question: Callable[[api.VectorSearcher], T]) -> T:
        return _same(f"VectorSearcher.{what}", lambda: question(self.compiled), lambda: question(self.reference))
