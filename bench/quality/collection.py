"""Reads a test collection: corpus.jsonl, queries.jsonl and qrels.tsv of one folder (../shared/data/README.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    """What is indexed as one section; ``heading`` holds the headings above it."""

    id: str
    title: str
    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A question and its judgements: grades by document id, at least one of them positive."""

    id: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that are searched together, and the questions asked of them."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]


def load_collection(folder: Path, *, split_titles: bool = False) -> tuple[Group, ...]:
    """The collection in a folder: one group, or one for each name that its documents give as ``group``.

    Args:
        folder: holds the three files.
        split_titles: read a title "page > heading" as the title "heading" under the heading "page", which is how kbdb
            learns such a page.
    """
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, judged, grade = line.split("\t")
        grades.setdefault(query, {})[judged] = int(grade)
    documents: dict[str, list[Document]] = {}
    for value in _lines(folder / "corpus.jsonl"):
        heading, _, title = value["title"].rpartition(" > ") if split_titles else ("", "", value["title"])
        document = Document(value["id"], title, value["text"], heading.replace(" > ", "\n"))
        documents.setdefault(value.get("group", ""), []).append(document)
    queries: dict[str, list[Query]] = {group: [] for group in documents}
    for value in _lines(folder / "queries.jsonl"):
        judgements = grades.get(value["id"], {})
        if any(grade > 0 for grade in judgements.values()):
            queries[value.get("group", "")].append(Query(value["id"], value["text"], judgements))
    return tuple(Group(tuple(documents[group]), tuple(queries[group])) for group in documents)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
