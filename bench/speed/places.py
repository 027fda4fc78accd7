"""Where the benchmark keeps what it makes once: corpora, query sets, each engine's index, results."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.speed.corpus import sections, write_lines
from bench.speed.queries import queries


@dataclass(frozen=True, slots=True)
class Places:
    """The work folder.

    Attributes:
        work: the folder; can grow to some hundred times the size of the corpus's index.
    """

    work: Path

    @property
    def queries_file(self) -> Path:
        return self.work / "queries.json"

    @property
    def results_file(self) -> Path:
        return self.work / "results.json"

    def corpus_file(self, size: int) -> Path:
        return self.work / f"corpus-{size}.jsonl"

    def index(self, engine: str, size: int) -> Path:
        """The engine's folder for the corpus of this size."""
        return self.work / f"{engine}-{size}"

    def ensure_corpus(self, size: int) -> Path:
        """The corpus of this size, made where it is missing."""
        path = self.corpus_file(size)
        if not path.exists():
            self.work.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".tmp")
            write_lines(unfinished, sections(size))
            unfinished.rename(path)
        return path

    def ensure_queries(self) -> Mapping[str, list[str]]:
        """The query sets, made where they are missing."""
        if not self.queries_file.exists():
            self.work.mkdir(parents=True, exist_ok=True)
            self.queries_file.write_text(json.dumps(queries(), indent=0), encoding="ascii")
        return self.read_queries()

    def read_queries(self) -> Mapping[str, list[str]]:
        """The query sets as ``ensure_queries`` left them."""
        read: dict[str, list[str]] = json.loads(self.queries_file.read_text(encoding="ascii"))
        return read

    def fresh_folder(self, path: Path) -> Path:
        """The folder, empty."""
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path
