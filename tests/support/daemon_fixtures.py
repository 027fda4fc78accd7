"""Fixtures of tests with daemons: a runtime folder of the test's own, a database, and a daemon that ends with the test.

A ``conftest.py`` imports those it wants.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Daemon, running


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The runtime folder, short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="kb", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the database's folder is, or may be made."""
    return tmp_path / "My notes – ü" / ".kbdb"


@pytest.fixture
def daemon(root: Path) -> Iterator[Daemon]:
    """A daemon of a new database."""
    with running(root) as started:
        yield started
