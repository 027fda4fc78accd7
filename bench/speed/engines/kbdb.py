"""kbdb: a database whose sections were learned from Markdown files, through the Python interface people use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import kbdb
from bench.speed.corpus import CorpusSection, write_markdown
from bench.speed.engines.api import LIMIT, Hit, Rank
from kbdb.config import load
from kbdb.index.api import Searcher, Segment
from kbdb.index.engine import engine, stemmer
from kbdb.knowledge import KnowledgeBase
from kbdb.languages import stop_words
from kbdb.paths import Layout, database_root
from kbdb.plan import Params, Plan
from kbdb.query.lexicon import Analysis, Lexicon
from kbdb.query.parser import parse_query
from kbdb.query.resolve import resolve
from kbdb.query.synonyms import load_synonyms
from kbdb.store import index_files

DOCUMENTS = "docs"
"""The folder of the Markdown files, beside ``.kbdb``."""

INDEX_FILES = ("terms.idx", "positions.idx", "corpus.dat")


class BareIndex:
    """The one segment of a rebuilt index, without journal, truth files and events; ranks as ``KnowledgeBase`` does.

    Attributes:
        segment: the open segment.
        searcher: over the entries that some manifest lists.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        layout = Layout(database_root(folder))
        meta = index_files.read_meta(layout)
        if meta is None or len(meta.folders) != 1:
            raise ValueError(f"{layout.indexes} does not hold one segment: rebuild")
        files = index_files.map_segment(layout, meta.folders[0])
        self.segment: Segment = engine().Segment(*files, fingerprint=meta.fingerprint)
        self.searcher: Searcher = engine().Searcher([self.segment], [self.segment.listed()], settings.params)
        self._lexicon = Lexicon(self.searcher, settings.analysis)

    def plan(self, query: str) -> Plan:
        """The query as the engine gets it."""
        return resolve(parse_query(query), self._lexicon).plan

    def rank(self, query: str) -> list[tuple[str, float]]:
        """Ids and scores of the best sections."""
        return self.searcher.rank(self.plan(query), LIMIT)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a database configures and no index holds."""

    params: Params
    analysis: Analysis

    @classmethod
    def read(cls, folder: Path) -> Settings:
        """The settings of the database in a folder; the defaults where there is none."""
        layout = Layout(database_root(folder))
        config = load(layout.config)
        stem = stemmer(config.analysis.language)
        synonyms = load_synonyms(layout.synonyms, stem)
        dropped = stop_words(config.analysis.language)
        return cls(config.search.params(), Analysis(engine().tokenise, stem, dropped, synonyms))


class Kbdb:
    """``KnowledgeBase.rank`` and ``KnowledgeBase.search``."""

    has_phrases = True
    has_search = True

    def __init__(self) -> None:
        self._base: KnowledgeBase | None = None
        self._settings: Settings | None = None

    def version(self) -> str:
        return f"{kbdb.__version__} ({engine().IMPLEMENTATION})"

    def prepare(self, folder: Path) -> None:
        self._settings = Settings.read(folder)

    def build(self, folder: Path, corpus: Iterable[CorpusSection]) -> None:
        write_markdown(folder / DOCUMENTS, corpus)
        with kbdb.open(folder, create=True) as base:
            base.learn(folder / DOCUMENTS)

    def open(self, folder: Path) -> None:
        self._base = KnowledgeBase.open(database_root(folder))

    def open_bare(self, folder: Path) -> Rank:
        assert self._settings is not None
        return BareIndex(folder, self._settings).rank

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
