"""What must hold of a database after a crash or a failure, whatever was being done to it."""

from __future__ import annotations

from pathlib import Path

import kbdb
from kbdb.knowledge import KnowledgeBase
from kbdb.paths import Layout
from kbdb.store.files import TMP_SUFFIX
from kbdb.store.index_files import read_meta
from kbdb.store.journal import HEADER_BYTES
from tests.crash.commands import View, open_or_make, view_of

AFTER = "# After\n\nThe moon, once more.\n"


def check_left_over(folder: Path, known: dict[int, View], acknowledged: int | None) -> None:
    """Asserts that a database is in a known state, not behind what was acknowledged, sound, and goes on working.

    Args:
        folder: holds the database.
        known: the states it may be in, by generation.
        acknowledged: the last generation that was acknowledged; None: not even that there is a database.
    """
    if acknowledged is not None:
        assert Layout(folder / ".kbdb").catalog.exists()
    with open_or_make(folder) as kb:
        assert kb.generation >= (acknowledged or 0)
        assert kb.generation in known
        assert view_of(kb) == known[kb.generation]
        check_sound(kb)
        before = kb.generation
    check_tidy(folder)
    with kbdb.open(folder) as kb:
        kb.learn(content=AFTER)
    check_tidy(folder)
    with kbdb.open(folder) as kb:
        assert kb.generation == before + 1
        view = view_of(kb)
        assert known[before].documents.items() <= view.documents.items()
        assert [content for docid, (_, content) in view.documents.items() if docid not in known[before].documents] == [
            AFTER.encode()
        ]
        kb.rebuild()
        assert view_of(kb) == view
        check_sound(kb)
    check_tidy(folder)


def check_sound(kb: KnowledgeBase) -> None:
    """Asserts that ``check`` finds no fault."""
    result = kb.check()
    assert result.ok, result.errors


def check_tidy(folder: Path) -> None:
    """Asserts that a database that was closed has nothing half done, or left behind, in its folders."""
    layout = Layout(folder / ".kbdb")
    assert not list(layout.root.rglob(f"*{TMP_SUFFIX}"))
    assert not list(layout.sections.rglob("*.*.*"))
    meta = read_meta(layout)
    assert meta is not None
    assert sorted(p.name for p in layout.indexes.iterdir()) == sorted([*map(str, meta.folders), "meta.toml"])
    assert layout.journal.stat().st_size == HEADER_BYTES
