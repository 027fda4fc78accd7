"""Four trees of real documentation, in three languages, learned whole: read back, found, verified."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import kbdb
from kbdb.knowledge import KnowledgeBase
from kbdb.model.learn import AddSectionResult
from kbdb.model.read import DocumentView

pytestmark = pytest.mark.large

TREES = ("fastapi-en", "fastapi-ja", "fastapi-zh", "prometheus")
KEYWORD_SHARE = 0.9
"""Of the questions that name an identifier or a term, at least so many show a page with the answer among ten hits."""


@pytest.fixture(scope="module")
def trees(shared_data: Path) -> list[Path]:
    return [shared_data / "markdown" / tree for tree in TREES]


@pytest.fixture(scope="module")
def learned(
    tmp_path_factory: pytest.TempPathFactory, trees: list[Path]
) -> Iterator[tuple[KnowledgeBase, AddSectionResult]]:
    with kbdb.open(tmp_path_factory.mktemp("trees"), create=True) as opened:
        yield opened, opened.learn(trees)


@pytest.fixture(scope="module")
def base(learned: tuple[KnowledgeBase, AddSectionResult]) -> KnowledgeBase:
    return learned[0]


@pytest.fixture(scope="module")
def questions(shared_data: Path) -> dict[str, set[str]]:
    """Questions by keyword, and the files whose sections answer them."""
    files: dict[str, set[str]] = {}
    with (shared_data / "docs-qa" / "qrels.tsv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if int(row["grade"]) > 0:
                files.setdefault(row["query-id"], set()).add(row["doc-id"].partition("#")[0])
    lines = (shared_data / "docs-qa" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [question for question in map(json.loads, lines) if question["category"] == "keyword"]
    return {question["text"]: files[question["id"]] for question in asked}


def pages(base: KnowledgeBase, query: str) -> list[str]:
    """The files of the first ten hits, as the collections name them."""
    return [hit.source.partition("/markdown/")[2] for hit in base.search(query, limit=10).hits]


def test_every_file_is_learned(learned: tuple[KnowledgeBase, AddSectionResult], trees: list[Path]) -> None:
    files = {path for tree in trees for path in tree.rglob("*") if path.is_file()}
    assert {document.status for document in learned[1].documents} == {"added"}
    assert len(learned[1].documents) == len(files) == 530


def test_every_document_reads_back_byte_for_byte(learned: tuple[KnowledgeBase, AddSectionResult]) -> None:
    base, result = learned
    for document in result.documents:
        view = base.retrieve(docid=document.docid)
        assert isinstance(view, DocumentView)
        assert view.content == Path(document.source).read_bytes(), document.source


def test_learning_again_changes_nothing(base: KnowledgeBase, trees: list[Path]) -> None:
    generation = base.status().generation
    assert {document.status for document in base.learn(trees).documents} == {"unchanged"}
    assert base.status().generation == generation


def test_questions_by_keyword_find_their_page(base: KnowledgeBase, questions: dict[str, set[str]]) -> None:
    missed = [question for question, files in questions.items() if not files & set(pages(base, question))]
    assert len(missed) <= (1 - KEYWORD_SHARE) * len(questions), missed


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("跨域资源共享", "fastapi-zh/tutorial/cors.md"),
        ("依赖注入", "fastapi-zh/tutorial/dependencies/index.md"),
        ("数据库", "fastapi-zh/tutorial/sql-databases.md"),
        ("中间件", "fastapi-zh/tutorial/middleware.md"),
        ("オリジン", "fastapi-ja/tutorial/cors.md"),
        ("データベース", "fastapi-ja/tutorial/sql-databases.md"),
        ("ミドルウェア", "fastapi-ja/tutorial/middleware.md"),
        ("セキュリティ", "fastapi-ja/tutorial/security/index.md"),
    ],
)
def test_pages_are_found_in_their_own_language(base: KnowledgeBase, words: str, page: str) -> None:
    result = base.search(words, limit=10)
    assert (result.match, result.verdict) == ("all", "answered")
    assert page in pages(base, words)


@pytest.mark.parametrize("character", ["源", "字", "水", "型", "列"])
def test_one_character_is_a_query(base: KnowledgeBase, character: str) -> None:
    result = base.search(character, content=True)
    assert result.total > 0
    assert all(character in f"{hit.title}{hit.content}{hit.heading_path}" for hit in result.hits)


def test_the_grown_index_answers_like_one_made_anew(base: KnowledgeBase, questions: dict[str, set[str]]) -> None:
    grown = {question: base.rank(question, limit=50) for question in questions}
    base.rebuild()
    assert {question: base.rank(question, limit=50) for question in questions} == grown


def test_check_finds_nothing_wrong(base: KnowledgeBase) -> None:
    assert base.check().errors == ()
