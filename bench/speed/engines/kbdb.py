"""kbdb: a database whose sections were learned from Markdown files, through the Python interface people use."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import kbdb
from bench.speed.corpus import CorpusSection, write_markdown
from bench.speed.engines.api import LIMIT, Hit, Rank
from kbdb.config import load
from kbdb.index.engine import engine, stemmer
from kbdb.knowledge import KnowledgeBase
from kbdb.languages import stop_words
from kbdb.paths import Layout, database_root
from kbdb.query.parser import parse_query
from kbdb.query.resolve import resolve
from kbdb.query.synonyms import load_synonyms
from kbdb.store import index_files

DOCUMENTS = "docs"
"""The folder of the Markdown files, beside ``.kbdb``."""

INDEX_FILES = ("terms.idx", "positions.idx", "corpus.dat")


class Kbdb:
    """``KnowledgeBase.rank`` and ``KnowledgeBase.search``."""

    has_phrases = True
    has_search = True

    def __init__(self) -> None:
        self._base: KnowledgeBase | None = None
        self._settings: dict[str, Any] = {}

    def version(self) -> str:
        return f"{kbdb.__version__} ({engine().IMPLEMENTATION})"

    def prepare(self, folder: Path) -> None:
        layout = Layout(database_root(folder))
        config = load(layout.config)
        stem = stemmer(config.analysis.language)
        self._settings = {
            "params": config.search.params(),
            "stem": stem,
            "stop_words": stop_words(config.analysis.language),
            "synonyms": load_synonyms(layout.synonyms, stem),
        }

    def build(self, folder: Path, corpus: Iterable[CorpusSection]) -> None:
        write_markdown(folder / DOCUMENTS, corpus)
        with kbdb.open(folder, create=True) as base:
            base.learn(folder / DOCUMENTS)

    def open(self, folder: Path) -> None:
        self._base = kbdb.open(folder)

    def open_bare(self, folder: Path) -> Rank:
        """Maps and opens the one segment of a rebuilt index, without journal, truth files and events."""
        settings = self._settings
        layout = Layout(database_root(folder))
        meta = index_files.read_meta(layout)
        assert meta is not None
        segments = [
            engine().Segment(*index_files.map_segment(layout, number), fingerprint=meta.fingerprint)
            for number in meta.folders
        ]
        assert len(segments) == 1, "an index of several segments needs to know which entries are current: rebuild"
        searcher = engine().Searcher(segments, [one.listed() for one in segments], settings["params"])
        tokenise, stem = engine().tokenise, settings["stem"]
        dropped, synonyms = settings["stop_words"], settings["synonyms"]

        def rank(query: str) -> list[tuple[str, float]]:
            resolved = resolve(parse_query(query), searcher, tokenise, stem, dropped, synonyms)
            return searcher.rank(resolved.plan, LIMIT)

        return rank

    @property
    def base(self) -> KnowledgeBase:
        """The open database."""
        assert self._base is not None
        return self._base

    def rank(self, query: str) -> list[tuple[str, float]]:
        return self.base.rank(query, LIMIT)

    def search(self, query: str) -> tuple[int, list[Hit]]:
        found = self.base.search(query, limit=LIMIT)
        return found.total, [(hit.kbid, hit.title, hit.score, hit.snippet) for hit in found.hits]

    def index_bytes(self, folder: Path) -> int:
        files = (folder / ".kbdb" / "indexes").glob("*/*")
        return sum(path.stat().st_size for path in files if path.name in INDEX_FILES)
