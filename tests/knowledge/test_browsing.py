"""complete and documents: names by their first letters, and documents page by page, whatever the segments."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from knowledge_base import write

import kbdb
from kbdb.errors import InvalidArgumentError
from kbdb.knowledge import KnowledgeBase, view


@pytest.fixture
def shelf(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """Documents in several segments: one written and read again, some in memory, one gone, one relearned."""
    for number in range(5):
        kb.learn(content=f"first {number}", title=f"Alpha {number}", docid=f"alpha-{number}", tags=["Fruit", "a b"])
    kb.settle()
    kb.learn(content="pears", title="Beta", docid="beta", tags=["fröhlich"])
    kb.learn(content="first 0", title="Alpha 0", docid="alpha-0b")
    kb.unlearn(docid="alpha-3")
    kb.learn(content="other", title="Alpha 4", docid="alpha-4", replace=True, tags=["z"])
    kb.learn([write(home / "empty.md", "")])
    return kb


def test_docids_of_live_documents_are_completed(shelf: KnowledgeBase) -> None:
    assert shelf.complete("docid", "alpha").values == ("alpha-0", "alpha-0b", "alpha-1", "alpha-2", "alpha-4")
    assert (shelf.complete("docid", "c").values, shelf.complete("docid", "Alpha").values) == ((), ())


def test_tags_of_live_sections_are_completed_whatever_their_case(shelf: KnowledgeBase) -> None:
    assert shelf.complete("tag", "").values == ("a b", "fruit", "fröhlich", "z")
    assert shelf.complete("tag", "FR").values == ("fruit", "fröhlich")


def test_kbids_of_live_sections_are_completed(shelf: KnowledgeBase) -> None:
    live = sorted(item.kbid for item in shelf.list("sections", state="active", limit=1000).items)
    assert tuple(live) == shelf.complete("kbid", "").values
    for length in (1, 5, 26):
        wanted = live[1][:length]
        assert tuple(kbid for kbid in live if kbid.startswith(wanted)) == shelf.complete("kbid", wanted).values


def test_more_than_the_limit_is_said(shelf: KnowledgeBase) -> None:
    assert shelf.complete("docid", "alpha", 2) == kbdb.model.read.Completion(("alpha-0", "alpha-0b"), True)
    assert not shelf.complete("docid", "alpha", 5).has_more


@pytest.mark.parametrize(("what", "limit"), [("title", 1), ("docid", 0), ("tag", 1001)])
def test_what_cannot_be_completed_is_refused(kb: KnowledgeBase, what: str, limit: int) -> None:
    with pytest.raises(InvalidArgumentError):
        kb.complete(what, "", limit)  # type: ignore[arg-type]


def test_documents_come_page_by_page_each_once(shelf: KnowledgeBase) -> None:
    expected = sorted(item.docid for item in shelf.list(state="live").items if item.sections)
    for limit in (1, 2, 3, 50):
        found, after = [], ""
        while True:
            page = shelf.documents(after, limit)
            found += [item.docid for item in page.items]
            after = page.after
            if not after:
                break
        assert expected == found


def test_a_page_goes_on_past_a_document_that_is_gone_by_then(shelf: KnowledgeBase) -> None:
    page = shelf.documents(limit=2)
    shelf.unlearn(docid=page.after)
    assert [item.docid for item in shelf.documents(page.after, 2).items] == ["alpha-1", "alpha-2"]


def test_a_damaged_manifest_is_left_out_with_a_warning(shelf: KnowledgeBase) -> None:
    shelf.settle()
    (shelf.root / "documents" / "beta.toml").write_bytes(b"nonsense")
    page = shelf.documents()
    assert ("beta" in {item.docid for item in page.items}, len(page.warnings)) == (False, 1)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.text("abA ", min_size=1, max_size=3), st.booleans()), max_size=8), st.text("ab", max_size=2)
)
def test_completions_are_what_a_look_at_everything_finds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bool]], prefix: str
) -> None:
    with kbdb.init(tmp_path_factory.mktemp("kb")) as kb:
        for number, (tag, settle) in enumerate(steps):
            kb.learn(content=f"text {number % 4}", title="t", docid=f"d{number % 3}", tags=[tag], replace=True)
            if settle:
                kb.settle()
        sections = kb.list("sections", state="active", limit=1000).items
        tags = sorted({tag.casefold() for item in sections for tag in item.tags})
        assert [tag for tag in tags if tag.startswith(prefix)] == list(kb.complete("tag", prefix).values)


def test_keys_are_taken_a_few_at_a_time(shelf: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "KEYS_AT_ONCE", 1)
    assert shelf.complete("docid", "alpha").values == ("alpha-0", "alpha-0b", "alpha-1", "alpha-2", "alpha-4")
