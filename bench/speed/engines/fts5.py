"""SQLite FTS5: title and body in one virtual table without content, ids beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from bench.speed.corpus import CorpusSection
from bench.speed.engines.api import LIMIT, TITLE_WEIGHT, Hit, Rank, folder_bytes

_RANK = (
    "SELECT ids.id, best.rank FROM (SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?) best "
    "JOIN ids ON ids.rowid = best.rowid"
)


class Fts5:
    """Its own bm25(), which puts better ones lower."""

    has_phrases = True
    has_search = False

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None

    def version(self) -> str:
        return sqlite3.sqlite_version

    def prepare(self, folder: Path) -> None:
        del folder

    def build(self, folder: Path, corpus: Iterable[CorpusSection]) -> None:
        connection = _connect(folder)
        connection.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(title, body, tokenize='porter unicode61', content='')"
        )
        connection.execute(f"INSERT INTO texts(texts, rank) VALUES('rank', 'bm25({TITLE_WEIGHT}, 1.0)')")
        connection.execute("CREATE TABLE ids(rowid INTEGER PRIMARY KEY, id TEXT)")
        connection.execute("BEGIN")
        for number, one in enumerate(corpus, 1):
            connection.execute("INSERT INTO texts(rowid, title, body) VALUES(?, ?, ?)", (number, one.title, one.body))
            connection.execute("INSERT INTO ids VALUES(?, ?)", (number, one.id))
        connection.execute("COMMIT")
        connection.execute("INSERT INTO texts(texts) VALUES('optimize')")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def open(self, folder: Path) -> None:
        self._connection = _connect(folder)

    def open_bare(self, folder: Path) -> Rank:
        self.open(folder)
        return self.rank

    def rank(self, query: str) -> list[tuple[str, float]]:
        assert self._connection is not None
        match = query if query.startswith('"') else " OR ".join(f'"{word}"' for word in query.split())
        return [(found, -score) for found, score in self._connection.execute(_RANK, (match, LIMIT))]

    def search(self, query: str) -> tuple[int, list[Hit]]:
        raise NotImplementedError

    def index_bytes(self, folder: Path) -> int:
        return folder_bytes(folder)


def _connect(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "texts.db", isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=NORMAL", "mmap_size=1073741824", "cache_size=-65536"):
        connection.execute(f"PRAGMA {setting}")
    return connection
