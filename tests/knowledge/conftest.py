"""An empty database in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import kbdb
from kbdb.knowledge import KnowledgeBase


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that holds the database, and what is learned."""
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def kb(home: Path) -> Iterator[KnowledgeBase]:
    """The open database."""
    with kbdb.init(home) as opened:
        yield opened
