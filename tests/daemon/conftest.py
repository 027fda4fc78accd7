"""Each test gets a runtime folder of its own, short enough for a socket's path."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Daemon, running


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kb") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "My notes – ü" / ".kbdb"


@pytest.fixture
def daemon(root: Path) -> Iterator[Daemon]:
    with running(root) as started:
        yield started
