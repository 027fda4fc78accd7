"""retrieve, list and status: what is stored, and how it stands."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from knowledge_base import GUIDE, docid, kbid, write

import kbdb
from kbdb.errors import (
    CorruptError,
    DocumentNotFoundError,
    InvalidArgumentError,
    InvalidIdError,
    NotADatabaseError,
    SectionNotFoundError,
)
from kbdb.knowledge import KnowledgeBase
from kbdb.model.embedding import EmbeddingStatus
from kbdb.model.read import DocumentView, SectionView
from kbdb.query.parser import parse_query


@pytest.fixture
def shelf(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """A guide, a text, a skill, a picture; one section forgotten, one superseded, one dropped, one document retired."""
    kb.learn([write(home / "guide.md", GUIDE)])
    kb.unlearn(kbid(kb, "Pears"))
    kb.learn([write(home / "docs" / "b.txt", "plain words\n")], tags=["Fruit", "x"])
    write(home / "docs" / "b.txt", "other words\n")
    kb.learn([home / "docs" / "b.txt"])
    kb.learn(content="old way", title="Press", section_type="skill", docid="press")
    kb.learn(content="new way", title="Press", docid="press", replace=True)
    kb.learn([write(home / "picture.png", b"\x89PNG")])
    source = write(home / "gone" / "g.md", "# G\n\nretired\n")
    kb.learn([source])
    source.unlink()
    kb.learn([home / "gone"], prune=True)
    return kb


def test_a_section_is_shown_with_every_place(kb: KnowledgeBase, home: Path) -> None:
    first = kb.learn([write(home / "a.md", "# A\n\n## Shared\n\ntext\n")], description="d", tags=["x"])
    second = kb.learn([write(home / "b.md", "intro\n\n## Shared\n\ntext\n")])
    kb.unlearn(docid=docid(second))
    view = kb.retrieve(kbid(kb, "Shared"))
    assert isinstance(view, SectionView)
    assert (view.title, view.content, view.state, view.tags) == ("Shared", b"## Shared\n\ntext", "active", ("x",))
    places = {(p.docid, p.source, p.heading_path, p.line, p.line_end, p.document_state) for p in view.places}
    assert places == {
        (docid(first), "a.md", ("A",), 3, 5, "live"),
        (docid(second), "b.md", (), 3, 5, "forgotten"),
    }


def test_a_document_is_shown_with_its_state(shelf: KnowledgeBase) -> None:
    (item,) = shelf.list(state="retired").items
    view = shelf.retrieve(docid=item.docid)
    assert isinstance(view, DocumentView)
    assert (view.state, view.content) == ("retired", b"# G\n\nretired\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["", "docs/b.txt", "gone/g.md", "guide.md", "picture.png"]),
        ({"state": "live"}, ["", "docs/b.txt", "guide.md", "picture.png"]),
        ({"state": "retired"}, ["gone/g.md"]),
        ({"state": "forgotten"}, []),
        ({"tags": ["fruit"]}, ["docs/b.txt", "guide.md"]),
        ({"tags": ["fruit", "X"]}, ["docs/b.txt"]),
        ({"type": "text/markdown"}, ["", "gone/g.md", "guide.md"]),
        ({"section_type": "skill"}, [""]),
        ({"docid": "press"}, [""]),
        ({"docid": "none"}, []),
        ({"docid": "press", "section_type": "default"}, []),
    ],
)
def test_documents_are_listed_by_source(shelf: KnowledgeBase, options: dict[str, object], expected: list[str]) -> None:
    found = shelf.list(**options)
    assert [item.source for item in found.items] == expected
    assert found.total == len(expected)
    assert all(item.kbid == "" for item in found.items)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["Apples", "G", "Pears", "Press", "Press", "Pressing", "b", "b", "picture.png"]),
        ({"state": "active"}, ["Apples", "Press", "Pressing", "b", "picture.png"]),
        ({"state": "forgotten"}, ["Pears"]),
        ({"state": "superseded"}, ["Press"]),
        ({"state": "unlisted"}, ["G", "b"]),
        ({"tags": ["fruit"], "state": "active"}, ["Apples", "Pressing", "b"]),
        ({"type": "text/plain"}, ["b", "b"]),
        ({"section_type": "skill"}, ["Press", "Press"]),
        ({"docid": "press"}, ["Press"]),
    ],
)
def test_sections_are_listed_by_kbid(shelf: KnowledgeBase, options: dict[str, object], expected: list[str]) -> None:
    found = shelf.list("sections", **options)
    assert sorted(item.title for item in found.items) == expected
    assert [item.kbid for item in found.items] == sorted(item.kbid for item in found.items)
    assert found.total == len(expected)


def test_a_section_type_is_found_by_the_name_of_a_type(kb: KnowledgeBase) -> None:
    kb.learn(content="# Reviewer\n\nReviews.\n", section_type="agent", docid="reviewer")
    kb.learn(content="How to review.", title="Review", section_type="skill", docid="review")
    kb.learn(content="A fact.", title="Fact", docid="fact")
    parts = [kbid(kb, title) for title in ("Fact", "Review", "Reviewer")]
    kb.group(parts, "All", docid="all")

    def listed(what: str, **options: str) -> list[str]:
        return sorted(item.docid if what == "documents" else item.title for item in kb.list(what, **options).items)

    assert listed("documents", type="agent") == listed("documents", section_type="agent") == ["all", "reviewer"]
    assert listed("documents", type="skill") == ["all", "review"]
    assert listed("documents", type="default") == ["all", "fact"]
    assert listed("documents", type="agent", section_type="agent") == ["all", "reviewer"]
    assert listed("sections", type="agent") == ["Reviewer"]
    with pytest.raises(InvalidArgumentError, match="section_type is 'skill'"):
        kb.list(type="agent", section_type="skill")


def test_several_sections_are_read_and_what_could_not_be_is_told(shelf: KnowledgeBase) -> None:
    apples, b = kbid(shelf, "Apples"), kbid(shelf, "b")
    forgotten = shelf.list("sections", state="forgotten").items[0].kbid
    found = shelf.read_sections([b, "0" * 26, forgotten, apples])
    assert [view.kbid for view in found.sections] == [b, forgotten, apples]
    assert found.sections[2] == shelf.retrieve(apples)
    assert (found.missing, found.unreadable) == (("0" * 26,), ())
    path = shelf.root / "sections" / apples[:2] / f"{apples}.sec"
    path.write_bytes(path.read_bytes()[:-1])
    damaged = shelf.read_sections((apples, b))
    assert [view.kbid for view in damaged.sections] == [b]
    assert [(one.kbid, one.path) for one in damaged.unreadable] == [(apples, str(path))]
    assert shelf.read_sections([]).sections == ()
    with pytest.raises(InvalidArgumentError):
        shelf.read_sections(b)


def test_content_is_the_bytes_alone(shelf: KnowledgeBase) -> None:
    assert shelf.content(kbid(shelf, "b")) == b"other words"
    assert shelf.content(docid=shelf.list(docid="guide.md").items[0].docid) == GUIDE.encode()
    with pytest.raises(InvalidArgumentError):
        shelf.content()
    with pytest.raises(SectionNotFoundError):
        shelf.content("0" * 26)
    with pytest.raises(DocumentNotFoundError):
        shelf.content(docid="none")


def test_a_documents_sections_are_listed_in_its_order(shelf: KnowledgeBase) -> None:
    (guide,) = (item for item in shelf.list().items if item.source == "guide.md")
    items = shelf.list("sections", docid=guide.docid).items
    assert [item.title for item in items] == ["Apples", "Pressing", "Pears"]
    assert {(item.docid, item.source, item.sections) for item in items} == {(guide.docid, "guide.md", 1)}
    with pytest.raises(DocumentNotFoundError):
        shelf.list("sections", docid="none")


@pytest.mark.parametrize("absolute", [False, True])
def test_a_document_is_named_by_its_path_too(shelf: KnowledgeBase, home: Path, absolute: bool) -> None:
    def path(source: str) -> str:
        return str(home / source) if absolute else source

    (guide,) = shelf.list(docid=path("guide.md")).items
    assert guide.source == "guide.md"
    sections = shelf.list("sections", docid=path("docs/../guide.md")).items
    assert [item.title for item in sections] == ["Apples", "Pressing", "Pears"]
    assert shelf.list("sections", docid=guide.docid).items == sections
    assert [item.source for item in shelf.list(docid=path("gone/g.md")).items] == ["gone/g.md"]
    assert shelf.list(docid=path("guide")).items == ()
    with pytest.raises(DocumentNotFoundError, match="guide"):
        shelf.list("sections", docid=path("guide"))
    empty = docid(shelf.learn([write(home / "empty.md", "")]))
    named = docid(shelf.learn([write(home / "named.md", "# N\n\ntext\n")], docid="my-own"))
    found = [[item.docid for item in shelf.list(docid=path(f"{name}.md")).items] for name in ("empty", "named")]
    assert found == [[empty], [named]]


def test_a_damaged_manifest_is_left_out_of_the_list_and_told(shelf: KnowledgeBase) -> None:
    (guide,) = shelf.list(docid="guide.md").items
    path = shelf.root / "documents" / f"{guide.docid}.toml"
    path.write_bytes(path.read_bytes()[:-20])
    found = shelf.list()
    assert [item.source for item in found.items] == ["", "docs/b.txt", "gone/g.md", "picture.png"]
    assert (found.total, [path.name in warning for warning in found.warnings]) == (4, [True])
    assert shelf.list("sections").total == 9
    with pytest.raises(CorruptError, match=guide.docid):
        shelf.list("sections", docid=guide.docid)


def test_lists_come_in_pages(shelf: KnowledgeBase) -> None:
    whole = shelf.list("sections").items
    pages = [shelf.list("sections", limit=4, offset=offset) for offset in (0, 4, 8, 12)]
    assert [item for page in pages for item in page.items] == list(whole)
    assert {page.total for page in pages} == {len(whole)}


@pytest.mark.parametrize(
    "options", [{"limit": 0}, {"offset": -1}, {"state": "gone"}, {"state": "superseded"}, {"what": "x"}, {"tags": "a"}]
)
def test_impossible_lists_are_refused(kb: KnowledgeBase, options: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        kb.list(**options)


def test_status_counts_by_state(shelf: KnowledgeBase) -> None:
    status = shelf.status()
    assert (status.sections, status.documents, status.generation) == (9, 5, shelf.generation)
    assert status.states == {"active": 5, "forgotten": 1, "superseded": 1, "unlisted": 2}
    assert status.path == str(shelf.root)
    assert status.engine.implementation
    assert status.embedding == EmbeddingStatus(provider="none")
    assert status.journal_bytes > 0


def test_status_tells_sizes_once_the_index_is_written(shelf: KnowledgeBase, home: Path) -> None:
    shelf.close()
    with kbdb.open(home) as again:
        status = again.status()
        index = status.index
        assert (index.segments, index.stale, index.vectors_idx_bytes) == (1, False, 0)
        written = {path.name: path.stat().st_size for path in (again.root / "indexes").glob("*/*.*")}
        assert index.terms_idx_bytes == written["terms.idx"]
        assert index.positions_idx_bytes == written["positions.idx"]
        assert index.corpus_dat_bytes == written["corpus.dat"]
        assert index.references_idx_bytes == written["references.idx"]
        assert status.warnings == ()


def test_a_new_database_is_empty_and_not_stale(kb: KnowledgeBase) -> None:
    status = kb.status()
    assert (status.sections, status.documents, status.states, status.generation) == (0, 0, {}, 0)
    assert (status.index.segments, status.index.stale) == (0, False)
    assert kb.search("anything").verdict == "unanswered"
    assert kb.check().ok
    assert kb.rebuild().sections == 0


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize(
    "ask",
    [
        lambda kb: kb.search("guide"),
        lambda kb: kb.search("nothing of the kind"),
        lambda kb: kb.rank("guide"),
        lambda kb: kb.recall("0" * 26),
        lambda kb: kb.list(),
        lambda kb: kb.status(),
        lambda kb: kb.skills(),
    ],
)
def test_what_is_asked_of_a_database_that_was_removed_is_an_error_and_no_answer(
    shelf: KnowledgeBase, home: Path, ask: Callable[[KnowledgeBase], object], moved: bool
) -> None:
    reading = shelf.reading()
    ask(reading)
    shelf.root.rename(home / "elsewhere") if moved else shutil.rmtree(shelf.root)
    for asked in (shelf, reading):
        with pytest.raises(NotADatabaseError, match="was removed"):
            ask(asked)


def test_a_search_during_which_the_database_is_removed_is_an_error(
    shelf: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "kbdb.knowledge.search.parse_query", lambda query: shutil.rmtree(shelf.root) or parse_query(query)
    )
    with pytest.raises(NotADatabaseError, match="was removed"):
        shelf.search("guide")


@pytest.mark.parametrize("verb", ["retrieve", "content", "unlearn", "restore"])
def test_a_path_in_the_place_of_a_docid_is_told_the_docid(kb: KnowledgeBase, home: Path, verb: str) -> None:
    learned = docid(kb.learn([write(home / "docs" / "guide.md", GUIDE), home / "docs"]))
    plain = docid(kb.learn([write(home / "makefile", "all: nothing\n")]))
    for path in ("docs/guide.md", str(home / "docs" / "guide.md")):
        with pytest.raises(InvalidIdError) as told:
            getattr(kb, verb)(docid=path)
        assert f"learned as {learned}" in told.value.hint
    with pytest.raises(DocumentNotFoundError) as missing:
        getattr(kb, verb)(docid="makefile")
    assert f"learned as {plain}" in missing.value.hint
    with pytest.raises(InvalidIdError) as unknown:
        getattr(kb, verb)(docid="docs/other.md")
    assert "such as notes-" in unknown.value.hint
