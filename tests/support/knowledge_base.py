"""What the tests of the knowledge layer share: files to learn, short questions, answers to compare."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kbdb.knowledge import KnowledgeBase
from kbdb.model.learn import AddSectionResult
from kbdb.model.read import DocumentView, SectionView
from kbdb.model.search import PagedSearchResult

GUIDE = """\
---
title: Orchard guide
description: How to keep fruit.
tags: [fruit]
---

# Apples

Apples keep in a cool cellar until spring.

## Pressing

Press the apples within a day, then boil the juice.

# Pears

Pears ripen off the tree.
"""


def write(path: Path, content: str | bytes) -> Path:
    """A file with this content, in folders that are made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def titles(kb: KnowledgeBase, query: str, **options: Any) -> list[str]:
    """Titles of what a search finds, best first."""
    return [hit.title for hit in kb.search(query, **options).hits]


def kbid(kb: KnowledgeBase, title: str) -> str:
    """The kbid of the one live section of this title."""
    (found,) = {item.kbid for item in kb.list("sections", state="active", limit=10_000).items if item.title == title}
    return found


def docid(result: AddSectionResult) -> str:
    """The docid of the one document that a learn speaks of."""
    (document,) = result.documents
    return document.docid


def statuses(result: AddSectionResult) -> dict[str, str]:
    """What became of each source."""
    return {document.source: document.status for document in result.documents}


def read_back(kb: KnowledgeBase, docid: str) -> bytes:
    """A document's source as the store gives it back."""
    view = kb.retrieve(docid=docid)
    assert isinstance(view, DocumentView)
    return view.content


def state(kb: KnowledgeBase, kbid: str) -> str:
    """What is believed of a section."""
    view = kb.retrieve(kbid)
    assert isinstance(view, SectionView)
    return str(view.state)


def answer(kb: KnowledgeBase, query: str, **options: Any) -> PagedSearchResult:
    """A search's answer without what may differ: times, the generation, what happened on its own."""
    found = kb.search(query, limit=1000, explain=True, content=True, **options)
    return replace(found, generation=0, engine_ms=0.0, elapsed_ms=0.0, warnings=())


def answers(kb: KnowledgeBase, queries: Iterable[str]) -> dict[str, object]:
    """All that can be compared of a database: searches to the last bit, lists, documents."""
    sections = kb.list("sections", limit=10_000).items
    documents = kb.list(limit=10_000).items
    return {
        "searches": {query: answer(kb, query) for query in queries},
        "ranks": {query: kb.rank(query, 1000) for query in queries},
        "sections": sections,
        "documents": documents,
        "contents": {item.docid: read_back(kb, item.docid) for item in documents},
        "recalls": [kb.recall(item.kbid, depth=1) for item in sections],
        "states": kb.status().states,
    }


def without_index(root: Path, target: Path) -> Path:
    """A copy of a closed database's folder without its indexes; gives the folder that holds it."""
    shutil.copytree(root, target / ".kbdb", ignore=shutil.ignore_patterns("indexes", "lock", "daemon"))
    return target
