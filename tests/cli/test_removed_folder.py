"""Commands in a folder that was removed: what needs it says so, everything else works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kbdb

RUN = """
import json, os, sys
from kbdb.__main__ import main
os.rmdir(os.getcwd())
for words in json.loads(sys.argv[1]):
    main([*words, "--json"])
"""

NOTES = "# Notes\n\nwritten down\n"


@pytest.fixture
def tell(folder: Path, environment: dict[str, str]) -> Any:
    """Runs commands, one after the other, in a folder that is gone; gives the JSON of each."""

    def tell(commands: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
        gone = folder / "gone"
        gone.mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", RUN, json.dumps(commands)],
            cwd=gone,
            env=environment,
            input=b"said",
            stdout=subprocess.PIPE,
            check=True,
        )
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return tell


def test_with_absolute_paths_every_command_works(tell: Any, folder: Path) -> None:
    database, export, notes = (str(folder / name) for name in ("database", "export", "notes.md"))
    Path(notes).write_text(NOTES, encoding="utf-8")
    with kbdb.init(database) as kb:
        (learned,) = kb.learn(notes).documents
    commands = [
        *(
            ["where"],
            ["config"],
            ["doctor"],
            ["status"],
            ["search", "written"],
            ["list"],
            ["check"],
            ["rebuild"],
            ["gc"],
        ),
        *(["learn", notes], ["learn", "-"], ["retrieve", learned.docid], ["recall", learned.kbids[0]]),
        *(["unlearn", learned.docid], ["restore", learned.docid], ["group", learned.kbids[0], "--title", "Group"]),
        *(["export", export], ["import", export], ["daemon", "status"], ["daemon", "logs"]),
    ]
    answers = tell([["init", "--db", str(folder / "new")], *([*words, "--db", database] for words in commands)])
    assert len(answers) == len(commands) + 1
    assert [answer["error"] for answer in answers if "error" in answer] == []


def test_a_relative_path_is_named_as_what_leads_nowhere(tell: Any, folder: Path) -> None:
    database = str(folder / "database")
    kbdb.init(database).close()
    commands = [
        *([word, "--db", "here"] for word in ("where", "config", "doctor", "status", "check", "init")),
        *(["learn", "notes.md", "--db", database], ["learn", ".", "--db", database], ["export", "--db", database]),
        *(["import", "export", "--db", database], ["init"]),
    ]
    for answer, words in zip(tell(commands), commands, strict=True):
        assert answer["error"]["code"] == "STORAGE_ERROR", words
        assert answer["error"]["message"].endswith(" leads from the current folder, which was removed"), words
        assert "absolute path" in answer["error"]["hint"]


def test_without_a_path_the_users_database_is_meant_and_why_is_told(tell: Any) -> None:
    where, status = tell([["where"], ["status"]])
    assert where["reason"] == "the current folder is gone, so the user's database is meant"
    assert "the current folder is gone" in status["error"]["message"]


def test_relative_folders_that_python_looks_in_are_left_out_for_the_daemon(
    folder: Path, environment: dict[str, str]
) -> None:
    (folder / "gone").mkdir()
    script = "import os; from kbdb import platform; os.rmdir(os.getcwd()); print(platform.python_environment())"
    paths = os.pathsep.join(["src", environment["PYTHONPATH"]])
    told = subprocess.check_output(
        [sys.executable, "-c", script], cwd=folder / "gone", env=environment | {"PYTHONPATH": paths}, text=True
    )
    assert environment["PYTHONPATH"] in told
    assert "src" + os.pathsep not in told
