"""Ranks a collection's documents by meaning: exact cosines in numpy, which any engine can be held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bench.quality.collection import Document, Group, Query
from bench.quality.experiment import kbid_of
from kbdb.embed.api import EmbeddingProvider
from kbdb.ingest.embedding_input import embedding_input
from kbdb.model.truth import Section
from kbdb.query.rrf import RRF_DEPTH, RRF_K, fuse

if TYPE_CHECKING:
    import numpy as np

    from kbdb.embed.api import Vectors

Cut = Callable[[Document], Sequence[str]]
"""The texts of a document that are embedded; the nearest counts."""


def text_of(document: Document) -> str:
    """What kbdb embeds of a document."""
    return embedding_input(Section("", "default", "text/plain", document.title, document.text.encode()))


def whole(document: Document) -> Sequence[str]:
    """One text, of which the model reads the beginning; none of a document without words."""
    return [text] if (text := text_of(document)) else []


class Meaning:
    """The documents of a group as vectors."""

    def __init__(self, group: Group, provider: EmbeddingProvider, cut: Cut = whole) -> None:
        import numpy as np

        documents = sorted(group.documents, key=lambda document: kbid_of(document.id))
        texts = {document.id: listed for document in documents if (listed := cut(document))}
        self._provider = provider
        self._ids = list(texts)
        self._starts = np.cumsum([0, *map(len, texts.values())])[:-1]
        self._rows = provider.embed([text for listed in texts.values() for text in listed])

    def cosines(self, queries: Sequence[str]) -> Vectors:
        """One row for each query, one column for each document in the order of their kbids."""
        import numpy as np

        return np.maximum.reduceat(self._provider.embed(queries) @ self._rows.T, self._starts, axis=1)

    def answers(self, queries: Sequence[Query], depth: int = RRF_DEPTH) -> list[list[tuple[str, float]]]:
        """For each query the nearest documents and their cosines, best first, ties by kbid."""
        if not queries:
            return []
        return [self._best(row, depth) for row in self.cosines([query.text for query in queries])]

    def _best(self, row: np.ndarray[Any, Any], depth: int) -> list[tuple[str, float]]:
        best = (-row).argsort(kind="stable")[:depth]
        return [(self._ids[number], float(row[number])) for number in best]


def fused(lexical: Sequence[str], nearest: Sequence[str], k: int = RRF_K, depth: int = RRF_DEPTH) -> list[str]:
    """Both rankings of document ids as one, as kbdb fuses them."""
    names = {kbid_of(document).hex(): document for document in (*lexical, *nearest)}
    lists = [[kbid_of(document).hex() for document in ranking] for ranking in (lexical, nearest)]
    return [names[kbid] for kbid, _ in fuse(lists, k, depth)]
