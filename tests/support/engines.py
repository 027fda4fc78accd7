"""What the tests of the engines share: both engines side by side, small corpora and plans, strategies for them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import pytest
from hypothesis import strategies as st

from kbdb.errors import CorruptError, KbdbError, StaleIndexError
from kbdb.index.api import EngineModule, Searcher, Segment
from kbdb.index.in_memory import in_memory
from kbdb.plan import FIELDS, Alternative, Clause, Entry, Params, Plan, SegmentFiles

REFERENCE = cast(EngineModule, import_module("kbdb.reference"))
HAS_COMPILED = find_spec("kbdb._engine") is not None
COMPILED = cast(EngineModule, import_module("kbdb._engine")) if HAS_COMPILED else None
ENGINES = [engine for engine in (REFERENCE, COMPILED) if engine is not None]

needs_compiled = pytest.mark.skipif(not HAS_COMPILED, reason="the compiled engine is not installed")
each_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.IMPLEMENTATION)

FINGERPRINT = 0x0123456789ABCDEF
PARAMS = Params(k1=1.2, b=(0.6, 0.75, 0.5, 0.3, 0.4), weights=(2.0, 1.0, 0.7, 0.9, 0.5))
NAMES = ("terms", "positions", "corpus", "references")

T = TypeVar("T")


def outcome(call: Callable[[], T]) -> T | tuple[type[KbdbError], str]:
    """A call's value, or its error: the class, and the message where both engines share it."""
    try:
        return call()
    except (CorruptError, StaleIndexError) as error:
        return type(error), ""
    except KbdbError as error:
        return type(error), error.message


def both(call: Callable[[EngineModule], T]) -> T | tuple[type[KbdbError], str]:
    """What a call gives with the reference, after checking that the compiled engine gives the same value or error."""
    assert COMPILED is not None
    expected = outcome(lambda: call(REFERENCE))
    compiled = COMPILED
    assert expected == outcome(lambda: call(compiled))
    return expected


def kbid(number: int) -> bytes:
    """A kbid that stands anywhere among the others."""
    return hashlib.sha256(b"%d" % number).digest()[:16]


def entry(
    number: int,
    title: str = "",
    body: str = "",
    description: str = "",
    tags: str = "",
    heading: str = "",
    *,
    filters: Iterable[str] = (),
    references: Iterable[str] = (),
    stored: bytes = b"",
    listed: bool = True,
) -> Entry:
    """An entry with the kbid of ``number``."""
    texts = (title, body, description, tags, heading)
    return Entry(kbid(number), texts, tuple(sorted(set(filters))), tuple(sorted(set(references))), stored, listed)


def toy_stem(words: list[str]) -> list[str]:
    """Stems that bring words together without a stemmer: plural and other endings fall off."""
    return [word.removesuffix("s").removesuffix("ing") or word for word in words]


def build(
    engine: EngineModule, entries: Iterable[Entry], removed: Iterable[bytes] = (), params: Params = PARAMS
) -> SegmentFiles:
    """A segment's files from scratch."""
    builder = engine.Builder(FINGERPRINT, params)
    for item in entries:
        builder.add(item)
    for item_id in removed:
        builder.remove(item_id)
    return builder.finish(toy_stem)


def merged(
    engine: EngineModule,
    parts: Iterable[tuple[Segment, Iterable[int] | None]],
    removed: Iterable[bytes] = (),
    params: Params = PARAMS,
) -> SegmentFiles:
    """The files of one segment made of these segments' entries with these numbers, all of them for None."""
    parts = list(parts)
    segments = [segment for segment, _ in parts]
    keeps = [everything(segment) if kept is None else bitmap(segment.sections, kept) for segment, kept in parts]
    return in_memory(
        lambda into: engine.merge(segments, keeps, removed, fingerprint=FINGERPRINT, params=params, into=into)
    )


def open_files(engine: EngineModule, files: SegmentFiles, name: str = "") -> Segment:
    """The segment in these files."""
    return engine.Segment(
        files.terms, files.positions, files.corpus, files.references, fingerprint=FINGERPRINT, name=name
    )


def bitmap(size: int, entries: Iterable[int]) -> bytes:
    """Just these entries of ``size``."""
    bits = bytearray((size + 7) // 8)
    for number in entries:
        bits[number >> 3] |= 1 << (number & 7)
    return bytes(bits)


def everything(segment: Segment) -> bytes:
    """The bitmap of all entries."""
    return bitmap(segment.sections, range(segment.sections))


def searcher(engine: EngineModule, entries: Iterable[Entry], params: Params = PARAMS) -> Searcher:
    """A searcher over one segment, all of it live."""
    segment = open_files(engine, build(engine, entries, params=params))
    return engine.Searcher([segment], [everything(segment)], params)


def plan(*words: str) -> Plan:
    """Each word a should clause."""
    return Plan(tuple(Clause(word, (Alternative((word,)),)) for word in words))


@dataclass(frozen=True, slots=True)
class Index:
    """A list of segments with what is live of each.

    Attributes:
        parts: a segment's files and the live entries' numbers.
        params: what the segments were built with.
    """

    parts: tuple[tuple[SegmentFiles, frozenset[int]], ...]
    params: Params = PARAMS

    def open(self, engine: EngineModule) -> tuple[list[Segment], Searcher]:
        """The open segments, and a searcher over them."""
        segments = [open_files(engine, files) for files, _ in self.parts]
        live = [bitmap(segment.sections, part[1]) for segment, part in zip(segments, self.parts, strict=True)]
        return segments, engine.Searcher(segments, live, self.params)


def live_index(engine: EngineModule, segments: Sequence[Sequence[Entry]], params: Params = PARAMS) -> Index:
    """Segments built from these entries, oldest first; an entry is live unless a later segment holds its kbid."""
    parts = []
    for place, entries in enumerate(segments):
        later = {item.kbid for newer in segments[place + 1 :] for item in newer}
        ordered = sorted(item.kbid for item in entries)
        live = frozenset(number for number, item_id in enumerate(ordered) if item_id not in later)
        parts.append((build(engine, entries, params=params), live))
    return Index(tuple(parts), params)


WORDS = (
    *("run", "runs", "running", "the", "a", "of", "sing", "sings", "cat", "cats", "act", "cast", "database", "databse"),
    *("snake_case", "camelCase", "kebab-case", "v1.2.3", "src/main.c", "HTTPServer", "can't", "naïve", "ﬁne", "straße"),
    *("日本語", "日本", "語", "中文字符", "한국어", "ไทย", "поиск", "поиска", "قاعدة", "e\u0301", "😀", "x" * 150),
)
"""Few words, so that generated texts share them."""

short = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
long = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join) | st.text(max_size=12)
"""Texts of known words, and now and then of anything."""

seldom = st.sampled_from(["", "", "", "run the cats", "日本語 database", "snake_case run run"])


@st.composite
def entries(draw: st.DrawFn, numbers: st.SearchStrategy[int] | None = None) -> Entry:
    """Any entry, its kbid one of a few."""
    fields = draw(st.tuples(short, long, seldom, seldom, seldom))
    number = draw(numbers if numbers is not None else st.integers(0, 30))
    filters = draw(st.sampled_from([(), ("tag:x",), ("doc:é", "tag:x", "tag:y")]))
    references = draw(st.sampled_from([(), ("doc:a",), ("doc:a", "doc:a#b", "kbid:0")]))
    stored, listed = draw(st.binary(max_size=3)), draw(st.booleans())
    return Entry(kbid(number), fields, filters, references, stored, listed)


corpora = st.lists(entries(), max_size=7, unique_by=lambda item: item.kbid)

STEMS = tuple(
    sorted(
        {stem for word in WORDS for _, token in REFERENCE.tokenise(word) for stem in toy_stem([token])} | {"nowhere"}
    )
)

alternatives = st.builds(
    Alternative,
    st.lists(st.sampled_from(STEMS), min_size=1, max_size=3).map(tuple),
    st.sampled_from([1.0, 0.5, 0.0, 0.1, 3.25]),
)
clauses = st.builds(
    Clause,
    st.just("label"),
    st.lists(alternatives, min_size=1, max_size=3).map(tuple),
    st.sampled_from(["should", "should", "should", "must", "must_not"]),
    st.none() | st.integers(0, len(FIELDS) - 1),
)
plans = st.lists(clauses, max_size=5).map(lambda items: Plan(tuple(items)))

params = st.builds(
    Params,
    st.floats(0.01, 10.0),
    st.tuples(*[st.floats(0.0, 1.0)] * len(FIELDS)),
    st.tuples(*[st.floats(0.0, 10.0)] * len(FIELDS)),
)


def file_variants(files: SegmentFiles, name: str, change: Callable[[bytes], bytes]) -> SegmentFiles:
    """The same files with one of them changed."""
    values: dict[str, Any] = {other: getattr(files, other) for other in NAMES}
    values[name] = change(values[name])
    return SegmentFiles(**values)
