"""similar: the sections nearest in meaning to one, and why there may be none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from knowledge_base import kbid, write
from meanings import MeaningService

import kbdb
from kbdb.errors import (
    EmbeddingProviderNotConfiguredError,
    InvalidArgumentError,
    InvalidIdError,
    NoVectorError,
    SectionNotFoundError,
    StaleIndexError,
)
from kbdb.knowledge import KnowledgeBase

NOTES = """\
---
tags: [house]
---

# Storage

We chose Postgres because of JSONB.

# Kitchen

## Cellar

Apples and pears keep until spring.

## Press

The harvest of the orchard becomes juice: pears first.

# Lunch

The database of the canteen has a table for each fruit.
"""


@pytest.fixture
def kb(home: Path, service: MeaningService) -> Iterator[KnowledgeBase]:
    """A database whose sections have their vectors."""
    kbdb.init(home).close()
    service.configure(home)
    with kbdb.open(home) as opened:
        opened.learn([write(home / "notes.md", NOTES)])
        opened.embed()
        yield opened


def test_the_nearest_come_first_and_a_section_is_not_near_to_itself(kb: KnowledgeBase) -> None:
    found = kb.similar(kbid(kb, "Cellar"))
    assert (found.kbid, found.title, found.warnings, found.unreadable) == (kbid(kb, "Cellar"), "Cellar", (), ())
    assert [hit.title for hit in found.hits[:2]] == ["Press", "Lunch"]
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert found.hits[0].score == pytest.approx(1.0, abs=0.01)


def test_a_hit_says_where_it_stands(kb: KnowledgeBase) -> None:
    (hit,) = kb.similar(kbid(kb, "Cellar"), limit=1).hits
    assert (hit.kbid, hit.heading_path, hit.source, hit.tags) == (
        kbid(kb, "Press"),
        ("Kitchen",),
        "notes.md",
        ("house",),
    )
    assert NOTES.splitlines()[hit.line - 1] == "## Press"
    assert hit.line_end == hit.line + 2
    assert hit.docid == kb.list().items[0].docid


def test_a_limit_is_filled_also_where_others_have_the_same_vector(kb: KnowledgeBase) -> None:
    for title in ("One", "Two", "Three"):
        kb.learn(content="Apples and pears keep until spring.", title=title, wait_embeddings=True)
    assert len(kb.similar(kbid(kb, "Two"), limit=2).hits) == 2
    assert kbid(kb, "Two") not in [hit.kbid for hit in kb.similar(kbid(kb, "Two"), limit=10).hits]


def test_only_live_sections_are_near_but_one_that_is_not_can_be_asked_for(kb: KnowledgeBase) -> None:
    press = kbid(kb, "Press")
    kb.unlearn(press)
    assert "Press" not in [hit.title for hit in kb.similar(kbid(kb, "Cellar")).hits]
    assert kb.similar(press).hits[0].title == "Cellar"


def test_without_a_provider_there_is_an_error(tmp_path: Path) -> None:
    with kbdb.init(tmp_path) as plain:
        (one,) = plain.learn(content="apples").kbids
        with pytest.raises(EmbeddingProviderNotConfiguredError) as caught:
            plain.similar(one)
    assert (caught.value.message, "lexical" in caught.value.hint) == (
        "similar needs an embedding provider, and none is configured",
        False,
    )


def test_what_is_no_section_is_an_error(kb: KnowledgeBase) -> None:
    with pytest.raises(SectionNotFoundError):
        kb.similar("0" * 26)
    with pytest.raises(InvalidIdError):
        kb.similar("cellar")
    for limit in (0, 1001):
        with pytest.raises(InvalidArgumentError, match=f"limit is {limit}"):
            kb.similar(kbid(kb, "Cellar"), limit)


def test_a_section_without_a_vector_is_told_why(kb: KnowledgeBase, service: MeaningService) -> None:
    (waiting,) = kb.learn(content="A storm is coming.", title="Storm").kbids
    with pytest.raises(NoVectorError, match="has no vector yet") as caught:
        kb.similar(waiting)
    assert "kbdb status" in caught.value.hint
    assert kb.similar(kbid(kb, "Cellar")).warnings == ("1 section has no vector yet, and can be found by words alone",)
    service.refuse = "nettle"
    (refused,) = kb.learn(content="Soup of nettles.", title="Soup", wait_embeddings=True).kbids
    with pytest.raises(NoVectorError, match=r"got no vector: .*400"):
        kb.similar(refused)
    kb.unlearn(waiting)
    with pytest.raises(NoVectorError, match="only live sections get one"):
        kb.similar(waiting)


def test_vectors_of_another_model_are_an_error_that_names_the_cure(kb: KnowledgeBase, service: MeaningService) -> None:
    cellar = kbid(kb, "Cellar")
    kb.close()
    service.configure(kb.root.parent, model="newer")
    with kbdb.open(kb.root.parent) as again:
        with pytest.raises(StaleIndexError, match="made by meanings, and the model is newer now") as caught:
            again.similar(cellar)
        assert caught.value.hint == "run: kbdb rebuild"
        again.rebuild()
        assert again.similar(cellar).hits[0].title == "Press"


def test_a_section_whose_file_is_damaged_is_named(kb: KnowledgeBase) -> None:
    press = kbid(kb, "Press")
    kb.settle()
    path = kb.root / "sections" / press[:2] / f"{press}.sec"
    path.write_bytes(path.read_bytes().replace(b"juice", b"cider"))
    found = kb.similar(kbid(kb, "Cellar"))
    assert [fault.kbid for fault in found.unreadable] == [press]
    assert found.hits[0].title == "Lunch"
