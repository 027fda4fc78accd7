"""A database folder, a runtime folder of its own, and daemons that are closed in the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_daemon import Listen, ScriptedDaemon

from kbdb import platform


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The runtime folder: short enough for sockets, whatever the path of the tests'."""
    made = Path(tempfile.mkdtemp(prefix="kbdb-test-", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(made))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test starts a process unless it says so."""

    def refuse(*_: object) -> None:
        pytest.fail("a daemon was started")

    monkeypatch.setattr(platform, "spawn_detached", refuse)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A ``.kbdb`` folder with nothing in it."""
    made = (tmp_path / ".kbdb").resolve()
    made.mkdir()
    return made


@pytest.fixture
def listen(root: Path) -> Iterator[Listen]:
    """Makes scripted daemons."""
    made: list[ScriptedDaemon] = []

    def listen(at: Path = root, **told: object) -> ScriptedDaemon:
        made.append(ScriptedDaemon(at, **told))  # type: ignore[arg-type]
        return made[-1]

    yield listen
    for daemon in made:
        daemon.close()


@pytest.fixture
def daemon(listen: Listen) -> ScriptedDaemon:
    """One that listens, and answers every call with its params."""
    return listen()
