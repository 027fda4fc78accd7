"""The engines that are measured, each behind the same few calls; the one place that knows them by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from bench.speed.engines.api import Engine

_CLASSES = {
    "kbdb": ("kbdb", "Kbdb"),
    "tantivy": ("tantivy", "Tantivy"),
    "tantivy-stored": ("tantivy", "TantivyStored"),
    "bm25s": ("bm25s", "Bm25s"),
    "fts5": ("fts5", "Fts5"),
}
_NEEDS = {
    "kbdb": ("kbdb._engine",),
    "tantivy": ("tantivy",),
    "tantivy-stored": ("tantivy",),
    "bm25s": ("bm25s", "numba", "Stemmer"),
    "fts5": ("sqlite3",),
}
NAMES = tuple(_CLASSES)
"""``tantivy-stored`` keeps title and body as well, which its snippets need."""

INSTALL = "pip install -e '.[bench]'"


def make(name: str) -> Engine:
    """The engine of this name."""
    module, kind = _CLASSES[name]
    made: Engine = getattr(import_module(f"bench.speed.engines.{module}"), kind)()
    return made


def missing(name: str) -> str:
    """Why the engine cannot be measured here; empty where it can."""
    lacking = [module for module in _NEEDS[name] if find_spec(module) is None]
    if lacking:
        return f"{', '.join(lacking)} not installed: {INSTALL}"
    if name == "fts5" and not _has_fts5():
        return "this Python's SQLite was built without FTS5"
    return ""


def with_both_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """The engines asked for, ``tantivy`` standing for both of its kinds."""
    found = dict.fromkeys(names)
    if "tantivy" in found:
        found["tantivy-stored"] = None
    return tuple(found)


def _has_fts5() -> bool:
    import sqlite3

    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    return "ENABLE_FTS5" in options
