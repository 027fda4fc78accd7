"""Runs the real command in a folder and home of its own: ``run`` in this process, ``process`` in one of its own."""

from __future__ import annotations

import io
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
from kbdb.__main__ import main

PACKAGE_PARENT = str(Path(kbdb.__file__).parent.parent)
USERS_OWN = (
    *("KBDB_DB", "NO_COLOR", "COLUMNS", "TERM", "_KBDB_COMPLETE"),
    *("XDG_CONFIG_HOME", "APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME"),
)
"""Variables of whoever runs the tests that must not reach the command."""


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
def folder(tmp_path: Path) -> Path:
    """The folder that commands run in."""
    made = tmp_path / "home" / "project"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    """The environment of ``process``: own home, no terminal settings, no chosen database."""
    path = os.pathsep.join([PACKAGE_PARENT, *filter(None, [os.environ.get("PYTHONPATH")])])
    kept = {name: value for name, value in os.environ.items() if name not in USERS_OWN}
    return kept | {"HOME": str(folder.parent), "USERPROFILE": str(folder.parent), "PYTHONPATH": path, "PYTHONUTF8": "1"}


@pytest.fixture
def process(folder: Path, environment: dict[str, str]) -> Run:
    """Runs ``kbdb WORDS…`` as a process; keywords: ``stdin`` bytes, ``cwd``, ``env`` to add to the environment."""

    def process(
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

    return process


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``kbdb WORDS…`` in this process, which is faster; same keywords as ``process``."""

    def run(
        *words: str | bytes | Path, stdin: bytes = b"", cwd: Path = folder, env: dict[str, str] | None = None
    ) -> Ran:
        out, err = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            for name in USERS_OWN:
                patch.delenv(name, raising=False)
            for name, value in {"HOME": str(folder.parent), "USERPROFILE": str(folder.parent), **(env or {})}.items():
                patch.setenv(name, value)
            streams = [io.TextIOWrapper(stream, encoding="utf-8") for stream in (io.BytesIO(stdin), out, err)]
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            try:
                code = main([os.fsdecode(word) for word in words])
            except SystemExit as ended:  # how completion ends
                code = int(ended.code or 0)
            for stream in streams[1:]:
                stream.flush()
            return Ran(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def kb(run: Run) -> Run:
    """``run`` in a folder that holds an empty database."""
    assert run("init").code == 0
    return run
