"""Learns a collection into a database, asks its questions in every mode, and judges the pages of hits.

What is measured is what users get: ``learn``, ``embed`` and the legs of ``search`` in a database with the settings of a
new one. Only the page is left out: a hundred snippets take twenty times as long as finding what they are of.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from bench.quality.collection import Document, Group, Query
from bench.quality.metrics import RECIPROCAL_DEPTH, Scores, scores_of
from kbdb.embed.api import EmbeddingProvider
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.core import Core
from kbdb.knowledge.legs import Question, by_both, by_meaning, by_words
from kbdb.query.parser import parse_query
from kbdb.query.resolve import resolve

Mode = Literal["lexical", "vector", "hybrid"]
MODES: tuple[Mode, ...] = ("lexical", "vector", "hybrid")

SETTINGS = """\
[search]
deadline_ms = 60000

[embedding]
provider = "onnx"
"""
"""A question that comes late on a busy machine would be answered by words alone."""


NO_TITLE = "-"
"""Has no words. Of a text that is learned without a title the first line would be it."""


def scores_by_mode(groups: Sequence[Group], provider: EmbeddingProvider | None) -> dict[Mode, list[Scores]]:
    """How well each question is answered in each mode, always in the same order.

    Args:
        groups: each becomes a database of its own.
        provider: gives the vectors; without one only words are searched.
    """
    modes = MODES if provider else MODES[:1]
    scores: dict[Mode, list[Scores]] = {mode: [] for mode in modes}
    for group in groups:
        with database_of(group.documents, provider) as database:
            for query in group.queries:
                for mode in modes:
                    scores[mode].append(scores_of(database.ranking(query, mode), query.grades))
    return scores


class Database:
    """Documents of a collection, learned.

    Attributes:
        kb: holds them.
    """

    def __init__(self, core: Core) -> None:
        self.kb = KnowledgeBase(core)
        self._core = core
        self._documents: dict[str, list[str]] = {}

    def learn(self, document: Document) -> None:
        """Stores a document as one section; one without text is none, and one that is there already shares its."""
        if not document.text.strip():
            return
        learned = self.kb.learn(content=document.text, title=document.title or NO_TITLE, type="text/plain")
        for kbid in learned.kbids:
            self._documents.setdefault(kbid, []).append(document.id)

    def ranking(self, query: Query, mode: Mode) -> list[str]:
        """The ids of the documents found, best first, deep enough for every measure."""
        taken_out = sum(grade < 0 for grade in query.grades.values())
        snapshot = self._core.snapshot()
        parsed = parse_query(query.text)
        # No question of the collections has filters.
        asked = Question(parsed, resolve(parsed, snapshot.lexicon), None, 0, RECIPROCAL_DEPTH + taken_out)
        if mode == "lexical":
            found = by_words(snapshot, asked)
        else:
            found = (by_meaning if mode == "vector" else by_both)(self._core, snapshot, asked)
        return self.documents_of(hit.kbid for hit in found.page)

    def documents_of(self, kbids: Iterable[str]) -> list[str]:
        """The ids of the documents that are these sections."""
        return list(dict.fromkeys(document for kbid in kbids for document in self._documents[kbid]))


@contextmanager
def database_of(documents: Sequence[Document], provider: EmbeddingProvider | None) -> Iterator[Database]:
    """A database of these documents, which is gone after the block.

    Args:
        documents: what it holds.
        provider: gives the vectors instead of the one that the settings mean; None: there are none.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / ".kbdb"
        KnowledgeBase.create(root).close()
        if provider:
            (root / "worker.toml").write_text(SETTINGS, encoding="utf-8")
        core = Core.open(root)
        if provider:
            core.embedding.provider = provider
        database = Database(core)
        with database.kb:
            for document in documents:
                database.learn(document)
            if provider:
                database.kb.embed()
            yield database
