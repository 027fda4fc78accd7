"""tantivy: one writer thread, English stems, title boosted; with and without stored text."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.speed.corpus import CorpusSection
from bench.speed.engines.api import LIMIT, TITLE_WEIGHT, Hit, Rank, folder_bytes

WRITER_BYTES = 256 << 20
FIELDS = ["title", "body"]
BOOSTS = {"title": TITLE_WEIGHT, "body": 1.0}


class Tantivy:
    """Only the id is stored."""

    has_phrases = True
    has_search = False
    stores_text = False

    def __init__(self) -> None:
        self._index: Any = None
        self._searcher: Any = None

    def version(self) -> str:
        return version("tantivy")

    def prepare(self, folder: Path) -> None:
        del folder
        import tantivy  # noqa: F401

    def build(self, folder: Path, corpus: Iterable[CorpusSection]) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        schema.add_text_field("title", stored=self.stores_text, tokenizer_name="en_stem")
        schema.add_text_field("body", stored=self.stores_text, tokenizer_name="en_stem")
        index = tantivy.Index(schema.build(), path=str(folder))
        writer = index.writer(heap_size=WRITER_BYTES, num_threads=1)
        for one in corpus:
            writer.add_document(tantivy.Document(id=one.id, title=one.title, body=one.body))
        writer.commit()
        writer.wait_merging_threads()

    def open(self, folder: Path) -> None:
        import tantivy

        self._index = tantivy.Index.open(str(folder))
        self._searcher = self._index.searcher()

    def open_bare(self, folder: Path) -> Rank:
        self.open(folder)
        return self.rank

    def rank(self, query: str) -> list[tuple[str, float]]:
        searcher = self._searcher
        parsed = self._index.parse_query(query, FIELDS, field_boosts=BOOSTS)
        hits = searcher.search(parsed, LIMIT, count=False).hits
        return [(searcher.doc(address).get_first("id"), score) for score, address in hits]

    def search(self, query: str) -> tuple[int, list[Hit]]:
        raise NotImplementedError

    def index_bytes(self, folder: Path) -> int:
        return folder_bytes(folder)


class TantivyStored(Tantivy):
    """Title and body are stored too, and snippets cut from the body."""

    has_search = True
    stores_text = True

    def search(self, query: str) -> tuple[int, list[Hit]]:
        import tantivy

        searcher = self._searcher
        parsed = self._index.parse_query(query, FIELDS, field_boosts=BOOSTS)
        found = searcher.search(parsed, LIMIT, count=True)
        snippets = tantivy.SnippetGenerator.create(searcher, parsed, self._index.schema, "body")
        hits = []
        for score, address in found.hits:
            document = searcher.doc(address)
            snippet = snippets.snippet_from_doc(document).to_html()
            hits.append((document.get_first("id"), document.get_first("title"), score, snippet))
        return found.count, hits
