"""Files of vectors of every format version are read, searched and written as they were when they were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engines import each_engine, open_files
from vectors import packed, segment_files

from kbdb.index.api import EngineModule
from kbdb.index.in_memory import file_in_memory

VERSIONS = sorted(Path(__file__).parent.glob("kbvx-*"))


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def golden(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def expected(golden: Path) -> Any:
    return json.loads((golden / "expected.json").read_text(encoding="utf-8"))


@each_engine
def test_it_is_read(engine: EngineModule, golden: Path, expected: Any) -> None:
    vectors = engine.Vectors((golden / "vectors.idx").read_bytes())
    assert vectors.dimensions == expected["dimensions"]
    read = [[vectors.kbid(record).hex(), vectors.vector(record).hex()] for record in range(vectors.records)]
    assert read == expected["records"]


@each_engine
def test_it_is_written(engine: EngineModule, golden: Path, expected: Any) -> None:
    records = expected["records"][::-1]
    kbids = [bytes.fromhex(kbid) for kbid, _ in records]
    data = bytes.fromhex("".join(numbers for _, numbers in records))
    written = file_in_memory(lambda into: engine.write_vectors(expected["dimensions"], kbids, data, into))
    assert written == (golden / "vectors.idx").read_bytes()


@each_engine
def test_it_is_searched(engine: EngineModule, golden: Path, expected: Any) -> None:
    vectors = engine.Vectors((golden / "vectors.idx").read_bytes())
    segment = open_files(engine, segment_files(range(len(expected["records"]))))
    searcher = engine.VectorSearcher([vectors], [segment], [((1 << segment.sections) - 1).to_bytes(2, "little")])
    for query, hits in expected["searches"]:
        found = searcher.search(packed(query), 5)
        assert [[segment.kbid(hit.entry).hex(), hit.score.hex()] for hit in found] == hits
