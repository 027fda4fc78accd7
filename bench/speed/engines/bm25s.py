"""bm25s with its numba scorer: title and body as one text, no phrases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.speed.corpus import CorpusSection
from bench.speed.engines.api import LIMIT, Hit, Rank, folder_bytes

_WORD = re.compile(r"[a-z0-9]+")


class Bm25s:
    """Everything is loaded into memory."""

    has_phrases = False
    has_search = False

    def __init__(self) -> None:
        self._scorer: Any = None
        self._ids: list[str] = []
        self._stemmer: Any = None
        self._stems: dict[str, str] = {}

    def version(self) -> str:
        return f"{version('bm25s')} numba {version('numba')}"

    def prepare(self, folder: Path) -> None:
        del folder
        import bm25s
        import numba
        import Stemmer

        self._stemmer = Stemmer.Stemmer("english")
        del bm25s, numba

    def build(self, folder: Path, corpus: Iterable[CorpusSection]) -> None:
        import bm25s
        import Stemmer

        ids, texts = [], []
        for one in corpus:
            ids.append(one.id)
            texts.append(f"{one.title} {one.body}")
        stemmer = Stemmer.Stemmer("english")
        tokens = bm25s.tokenize(texts, stopwords=None, stemmer=stemmer, show_progress=False)
        scorer = bm25s.BM25(backend="numba")
        scorer.index(tokens, show_progress=False)
        scorer.save(str(folder / "index"))
        (folder / "ids.json").write_text(json.dumps(ids), encoding="ascii")

    def open(self, folder: Path) -> None:
        import bm25s

        self._scorer = bm25s.BM25.load(str(folder / "index"), mmap=False)
        self._scorer.backend = "numba"
        self._scorer.activate_numba_scorer()
        self._ids = json.loads((folder / "ids.json").read_text(encoding="ascii"))

    def open_bare(self, folder: Path) -> Rank:
        self.open(folder)
        return self.rank

    def rank(self, query: str) -> list[tuple[str, float]]:
        tokens = [[self._stem(word) for word in _WORD.findall(query.lower())]]
        found, scores = self._scorer.retrieve(tokens, k=LIMIT, show_progress=False, n_threads=0, sorted=True)
        pairs = zip(found[0], scores[0], strict=True)
        return [(self._ids[number], float(score)) for number, score in pairs if score > 0]

    def search(self, query: str) -> tuple[int, list[Hit]]:
        raise NotImplementedError

    def index_bytes(self, folder: Path) -> int:
        return folder_bytes(folder)

    def _stem(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            stem = self._stems[word] = self._stemmer.stemWord(word)
        return stem
