"""Runs the real command, as a process of its own, in a folder and home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import kbdb

PACKAGE_PARENT = str(Path(kbdb.__file__).parent.parent)


@dataclass(frozen=True)
class Ran:
    """What a command gave."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode("utf-8")

    @property
    def errors(self) -> str:
        return self.err.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment without anything of the user's: own home, no terminal settings, no chosen database."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("KBDB_DB", "NO_COLOR", "COLUMNS", "TERM", "XDG_RUNTIME_DIR")
    }
    path = os.pathsep.join([PACKAGE_PARENT, *filter(None, [os.environ.get("PYTHONPATH")])])
    return kept | {"HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": path, "PYTHONUTF8": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that commands run in."""
    made = tmp_path / "home" / "project"
    made.mkdir(parents=True, exist_ok=True)
    return made


@pytest.fixture
def run(folder: Path, environment: dict[str, str]) -> Run:
    """Runs ``kbdb WORDS…``; keywords: ``stdin`` bytes, ``cwd``, ``env`` to add to the environment."""

    def run(
        *words: str | bytes | Path, stdin: bytes = b"", cwd: Path = folder, env: dict[str, str] | None = None
    ) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "kbdb", *words],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env=environment | (env or {}),
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def kb(run: Run) -> Run:
    """``run`` in a folder that holds an empty database."""
    assert run("init").code == 0
    return run
