"""What only kbdb does: rebuild from truth files, learn one section durably, supersede, collect, check."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import kbdb
from bench.speed.corpus import CorpusSection, read_lines, section, write_markdown
from bench.speed.engines.kbdb import DOCUMENTS
from bench.speed.latency import MS
from bench.speed.resources import measured
from kbdb.knowledge import KnowledgeBase
from kbdb.paths import Layout, database_root
from kbdb.store import index_files

NEW = 10_000_000
"""Sections from this number on are in no corpus."""

PROBE_BYTES = 2048
SUPERSEDED_EVERY = 10
"""One section in ten gets another text."""

_NEVER_IN_PLACE = {"sections", "documents", "indexes"}
"""kbdb replaces files of these folders as a whole; a clone may share them by hard links."""


def settle(folder: Path) -> None:
    """Leaves the index on disk as a rebuild by this version does, if it is not so."""
    with kbdb.open(folder) as base:
        # A stale index is made anew when first asked, and written at the end.
        base.rank("of")
    meta = index_files.read_meta(Layout(database_root(folder)))
    if meta is None or len(meta.folders) != 1:
        rebuild(folder)


def rebuild(folder: Path) -> dict[str, Any]:
    """Makes the index anew from the section files; writing it is part of it."""
    with kbdb.open(folder) as base:
        return measured(base.rebuild)


class Learning:
    """Learns sections one at a time in an open database; beside each, a file is written durably.

    Args:
        folder: a database that may be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._base = KnowledgeBase.open(database_root(folder))
        self._base.rank("of")

    def learn(self, number: int) -> dict[str, float]:
        """Learns a new section, which a search must find at once.

        Args:
            number: of the section; each can be learned once.

        Returns:
            Milliseconds: ``learned``, its ``cpu``, ``found`` (learning and searching), and ``file``: write, fsync and
            rename of a file of 2 KiB in the same folder just before.
        """
        new = section(NEW + number)
        word = _marker(number)
        content = new.body[:PROBE_BYTES]
        file = _write_durably(self._folder / "probe", content.encode())
        cpu, began = process_time(), perf_counter()
        kbid = self._base.learn(content=content, title=f"{new.title} {word}").kbids[0]
        stored, used = perf_counter(), process_time() - cpu
        best = self._base.rank(word, 1)
        ended = perf_counter()
        if [one for one, _ in best] != [kbid]:
            raise AssertionError(f"{word} was learned as {kbid}, and a search found {best}")
        return {
            "learned": (stored - began) * MS,
            "cpu": used * MS,
            "found": (ended - began) * MS,
            "file": file,
        }

    def close(self) -> None:
        self._base.close()


def supersede_and_collect(folder: Path, corpus: Path) -> dict[str, Any]:
    """Learns every file again with one section in ten rewritten, then removes what was superseded, then checks.

    Args:
        folder: a database that may be written to, without its Markdown files.
        corpus: the corpus it was made of.
    """
    write_markdown(folder / DOCUMENTS, _rewritten(read_lines(corpus)))
    with kbdb.open(folder) as base:
        learned = measured(lambda: base.learn(folder / DOCUMENTS, replace=True))
        began = perf_counter()
        collected = base.gc(keep_days=0)
        gc_s = perf_counter() - began
        began = perf_counter()
        checked = base.check()
        check_s = perf_counter() - began
    return {
        "supersede_s": learned["wall_s"],
        "gc_s": gc_s,
        "check_s": check_s,
        "removed": collected.removed,
        "check_ok": checked.ok,
    }


def clone(source: Path, target: Path) -> None:
    """Copies a database by hard links where nothing is written in place; its Markdown files are left out.

    Folders keep their times: kbdb takes a changed folder of manifests for a change by somebody else.
    """
    shutil.rmtree(target, ignore_errors=True)
    top = source / ".kbdb"
    for path, folders, files in os.walk(top):
        here = Path(path)
        there = target / here.relative_to(source)
        there.mkdir(parents=True)
        folders.sort()
        parts = here.relative_to(top).parts
        for name in files:
            if parts and parts[0] in _NEVER_IN_PLACE:
                os.link(here / name, there / name)
            else:
                shutil.copy2(here / name, there / name)
    for path, _, _ in os.walk(top, topdown=False):
        shutil.copystat(path, target / Path(path).relative_to(source))
    # Else the first fsync of what is measured would write all of this.
    os.sync()


def _rewritten(corpus: Iterator[CorpusSection]) -> Iterator[CorpusSection]:
    for number, one in enumerate(corpus):
        yield one if number % SUPERSEDED_EVERY else replace(one, body=section(NEW + number).body)


def _marker(number: int) -> str:
    """A word that is in no corpus."""
    return "zq" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _write_durably(path: Path, data: bytes) -> float:
    """Milliseconds that write, fsync and rename of a file take."""
    temporary = path.with_suffix(".tmp")
    began = perf_counter()
    descriptor = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    os.rename(temporary, path)
    return (perf_counter() - began) * MS
