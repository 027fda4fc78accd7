"""Databases of every format version open, read, search and replay as they did when they were made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import kbdb
from kbdb.knowledge import KnowledgeBase
from kbdb.model.read import DocumentView, SectionView
from kbdb.store.catalog import decode_catalog, encode_catalog
from kbdb.store.events import decode_events, encode_event
from kbdb.store.manifest import decode_manifest, encode_manifest
from kbdb.store.section import decode_section, encode_section

VERSIONS = sorted(Path(__file__).parent.glob("v*"))
INDEX_FILES = ("terms.idx", "positions.idx", "corpus.dat", "references.idx")


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def golden(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def folder(golden: Path, tmp_path: Path) -> Path:
    """A folder with a copy of the database, and of the files it was learned from."""
    shutil.copytree(golden / "database", tmp_path / ".kbdb")
    shutil.copytree(golden / "notes", tmp_path / "notes")
    return tmp_path


@pytest.fixture
def base(folder: Path) -> Iterator[KnowledgeBase]:
    with kbdb.open(folder) as opened:
        yield opened


@pytest.fixture
def expected(golden: Path) -> Any:
    return json.loads((golden / "expected.json").read_text(encoding="utf-8"))


def found(base: KnowledgeBase, expected: Any) -> dict[str, list[str]]:
    return {query: sorted(hit.kbid for hit in base.search(query, limit=100).hits) for query in expected["queries"]}


def test_it_opens_and_is_whole(base: KnowledgeBase, expected: Any) -> None:
    checked = base.check()
    assert checked.ok
    assert checked.errors == ()
    assert (checked.documents, checked.sections) == (len(expected["documents"]), len(expected["sections"]))


def test_every_document_reads_back_byte_for_byte(base: KnowledgeBase, folder: Path, expected: Any) -> None:
    compared = 0
    for docid, source in expected["sources"].items():
        view = base.retrieve(docid=docid)
        assert isinstance(view, DocumentView)
        assert view.manifest.origin.source == source
        if (folder / source).is_file():
            assert view.content == (folder / source).read_bytes()
            compared += 1
    assert compared == len(list((folder / "notes").iterdir()))


def test_events_replay_to_the_recorded_states(base: KnowledgeBase, expected: Any) -> None:
    documents = {item.docid: item.state for item in base.list(limit=1000).items}
    assert documents == expected["documents"]
    sections = {item.kbid: item.state for item in base.list("sections", limit=1000).items}
    assert sections == expected["sections"]
    assert {"active", "superseded", "invalidated", "forgotten", "expired", "unlisted"} <= set(sections.values())


def test_queries_find_the_recorded_sections(base: KnowledgeBase, expected: Any) -> None:
    assert found(base, expected) == expected["queries"]


def test_the_same_files_still_give_the_same_ids(
    base: KnowledgeBase, folder: Path, tmp_path: Path, expected: Any
) -> None:
    again = base.learn([folder / "notes"])
    assert {document.status for document in again.documents} <= {"unchanged"}
    (tmp_path / "fresh").mkdir()
    shutil.copytree(folder / "notes", tmp_path / "fresh" / "notes")
    with kbdb.open(tmp_path / "fresh", create=True) as fresh:
        learned = fresh.learn([tmp_path / "fresh" / "notes"])
    assert {document.docid: document.source for document in learned.documents}.items() <= expected["sources"].items()
    assert set(learned.kbids) <= expected["sections"].keys()


def test_a_restored_secret_is_found_again(base: KnowledgeBase, expected: Any) -> None:
    forgotten = [kbid for kbid, state in expected["sections"].items() if state == "forgotten"]
    secret = next(kbid for kbid in forgotten if b"marzipan" in content(base, kbid))
    assert base.search("marzipan").hidden == 1
    base.restore(kbid=secret)
    assert [hit.kbid for hit in base.search("marzipan").hits] == [secret]


def content(base: KnowledgeBase, kbid: str) -> bytes:
    view = base.retrieve(kbid=kbid)
    assert isinstance(view, SectionView)
    return view.content


def test_truth_files_are_spelled_as_they_are_written_today(golden: Path) -> None:
    root = golden / "database"
    for path in (root / "sections").rglob("*.sec"):
        assert encode_section(decode_section(path.read_bytes(), path)) == path.read_bytes()
    for path in (root / "documents").glob("*.toml"):
        assert encode_manifest(decode_manifest(path.read_bytes(), path)) == path.read_bytes()
    for path in (root / "events").glob("*.jsonl"):
        assert b"".join(map(encode_event, decode_events(path.read_bytes(), path))) == path.read_bytes()
    path = root / "catalog.toml"
    assert encode_catalog(decode_catalog(path.read_bytes(), path)) == path.read_bytes()


def test_an_index_of_another_analysis_is_stale_and_made_anew(golden: Path, folder: Path, expected: Any) -> None:
    shutil.copytree(golden / "older-index", folder / ".kbdb" / "indexes")
    with kbdb.open(folder) as base:
        status = base.status()
        assert status.index.stale
        assert any("made anew" in warning for warning in status.warnings)
        assert found(base, expected) == expected["queries"]
        base.rebuild()
        assert not base.status().index.stale
    with kbdb.open(folder) as base:
        assert not base.status().index.stale
        assert base.check().ok
        assert found(base, expected) == expected["queries"]


@pytest.mark.parametrize("name", INDEX_FILES)
def test_an_index_file_of_another_version_is_stale_and_made_anew(folder: Path, name: str, expected: Any) -> None:
    with kbdb.open(folder) as base:
        base.rebuild()
    (path,) = (folder / ".kbdb" / "indexes").glob(f"*/{name}")
    path.write_bytes(with_version(path.read_bytes(), 1))
    with kbdb.open(folder) as base:
        assert base.status().index.stale
        assert found(base, expected) == expected["queries"]
        base.rebuild()
        assert base.check().ok


def with_version(data: bytes, version: int) -> bytes:
    """The container with another version, its header's checksum right (csrc/README.md, section 2)."""
    regions = int.from_bytes(data[6:8], "little")
    end = 32 + 16 * regions
    header = data[:4] + version.to_bytes(2, "little") + data[6:end]
    return header + crc32(header).to_bytes(4, "little") + data[end + 4 :]
