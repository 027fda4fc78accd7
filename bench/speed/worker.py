"""One engine in a process of its own: takes requests as JSON lines on standard input, answers on standard output.

    python -m bench.speed.worker ENGINE SIZE WORK

A request is ``{"call": name, ...arguments}``; the calls are the methods of ``Worker``. So imports and memory of
different engines, and of different phases of one, do not mix.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.speed import engines, store
from bench.speed.corpus import CorpusSection, read_lines
from bench.speed.engines.api import Engine
from bench.speed.places import Places
from bench.speed.queries import SETS, as_written
from bench.speed.resources import MB, measured, private_mb

HELD_SECTIONS = 200_000
"""Up to so many, texts to be indexed are held in memory."""


class Worker:
    """An engine, where it keeps its index, and the queries it is asked."""

    def __init__(self, name: str, size: int, work: Path) -> None:
        self.places = Places(work)
        self.size = size
        self.folder = self.places.index(name, size)
        self.engine: Engine = engines.make(name)

    def version(self) -> str:
        return self.engine.version()

    def build(self) -> dict[str, Any]:
        """Indexes the corpus into an empty folder and gives what that used.

        The texts are read before, unless they are too many to hold.
        """
        self.engine.prepare(self.folder)
        corpus: Iterable[CorpusSection] = read_lines(self.places.corpus_file(self.size))
        if self.size <= HELD_SECTIONS:
            corpus = list(corpus)
        self.places.fresh_folder(self.folder)
        return measured(lambda: self.engine.build(self.folder, corpus))

    def index_bytes(self) -> int:
        return self.engine.index_bytes(self.folder)

    def open(self) -> None:
        """Opens the index and answers one query, so that later calls are warm."""
        self.engine.prepare(self.folder)
        self.engine.open(self.folder)
        self.engine.rank("of")

    def one_pass(self, kind: str, which: str) -> dict[str, Any]:
        """Asks every query of a set once.

        Args:
            kind: ``rank`` or ``search``.
            which: the set.

        Returns:
            ``seconds`` of each query and the number of ``hits`` of each.
        """
        call: Callable[[str], Any] = getattr(self.engine, kind)
        seconds, hits = [], []
        with _without_collector():
            for query in self._queries(which):
                began = perf_counter()
                answer = call(query)
                seconds.append(perf_counter() - began)
                hits.append(len(answer) if kind == "rank" else answer[0])
        return {"seconds": seconds, "hits": hits}

    def first(self, query: str, bare: bool) -> dict[str, float]:
        """Opens the index in this fresh process and asks one query; imports and settings do not count.

        Args:
            query: as people write it.
            bare: open the index alone, else all that the engine's users open.

        Returns:
            Seconds: ``open`` and ``first``.
        """
        self.engine.prepare(self.folder)
        with _without_collector():
            began = perf_counter()
            if bare:
                rank = self.engine.open_bare(self.folder)
            else:
                self.engine.open(self.folder)
                rank = self.engine.rank
            opened = perf_counter()
            rank(query)
            ended = perf_counter()
        return {"open": opened - began, "first": ended - opened}

    def memory(self) -> dict[str, float] | None:
        """Private memory in MB that an open index and a thousand queries add; None where the system does not tell."""
        self.engine.prepare(self.folder)
        asked = [query for which in SETS for query in self._queries(which)]
        gc.collect()
        before = private_mb()
        rank = self.engine.open_bare(self.folder)
        opened = private_mb()
        for query in asked:
            rank(query)
        gc.collect()
        after = private_mb()
        if before is None or opened is None or after is None:
            return None
        return {"opened_mb": opened - before, "queried_mb": after - before, "index_mb": self.index_bytes() / MB}

    def _queries(self, which: str) -> list[str]:
        return [as_written(which, query) for query in self.places.read_queries()[which]]


class KbdbWorker(Worker):
    """What only kbdb is asked for."""

    def __init__(self, name: str, size: int, work: Path) -> None:
        super().__init__(name, size, work)
        self.clone = self.folder.with_name(f"{self.folder.name}-clone")
        self._learning: store.Learning | None = None

    def settle(self) -> None:
        store.settle(self.folder)

    def rebuild(self) -> dict[str, Any]:
        return store.rebuild(self.folder)

    def begin_learning(self) -> None:
        """Opens a clone to learn in."""
        self._learning = store.Learning(self._make_clone())

    def learn(self, number: int) -> dict[str, float]:
        """Learns one section; see ``store.Learning.learn``."""
        assert self._learning is not None
        return self._learning.learn(number)

    def end_learning(self) -> None:
        """Removes the clone."""
        assert self._learning is not None
        self._learning.close()
        shutil.rmtree(self.clone)

    def upkeep(self) -> dict[str, Any]:
        """Supersedes, collects and checks in a clone, which is removed afterwards."""
        found = store.supersede_and_collect(self._make_clone(), self.places.corpus_file(self.size))
        shutil.rmtree(self.clone)
        return found

    def _make_clone(self) -> Path:
        store.clone(self.folder, self.clone)
        return self.clone


@contextmanager
def _without_collector() -> Iterator[None]:
    """Python's cycle collector would run in some queries and not in others."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def serve(worker: Worker) -> None:
    """Answers requests until standard input ends. What a call raises ends the process, with its traceback."""
    # What an engine prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(worker, request.pop("call"))(**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    kind = KbdbWorker if sys.argv[1] == "kbdb" else Worker
    serve(kind(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
