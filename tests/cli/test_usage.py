"""Wrong command lines, missing databases, help and version: one plain line, a hint, the promised exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kbdb

WRONG = [
    ["serch", "x"],
    ["search"],
    ["search", "x", "--limit", "0"],
    ["search", "x", "--limit", "ten"],
    ["search", "x", "--mode", "fuzzy"],
    ["search", "x", "--colour"],
    ["learn"],
    ["learn", "a.md", "-"],
    ["learn", "a.md", ""],
    ["export", ""],
    ["import", ""],
    ["recall", "x", "--depth", "4"],
    ["list", "--state", "gone"],
    ["retrieve", "a", "b"],
    ["db", "drop"],
    ["where", "--db", ""],
    ["setup", "emacs"],
    ["setup", "--remove"],
    ["setup", "claude-desktop", "--scope", "project"],
    ["setup", "cursor", "--print", "--remove"],
]


def test_no_arguments_show_help(run: Any) -> None:
    ran = run()
    assert (ran.code, ran.err) == (0, b"")
    assert "search" in ran.text
    assert run("--help").out == run("-h").out == ran.out


def test_the_version(run: Any, process: Any) -> None:
    assert process("--version").text == f"kbdb {kbdb.__version__}\n"
    assert run("--version").text == f"kbdb {kbdb.__version__}\n"
    assert run("--version", "--json").json == run("--json", "--version").json == {"version": kbdb.__version__}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_command_line_is_told_in_one_line_with_a_hint(run: Any, words: list[str]) -> None:
    ran = run(*words)
    assert (ran.code, ran.out) == (2, b"")
    first, second = ran.errors.splitlines()
    assert first.startswith("error: ")
    assert second.startswith("hint: ")


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_command_line_is_answered_in_json_when_asked(run: Any, words: list[str]) -> None:
    ran = run(*words, "--json")
    assert (ran.code, ran.err) == (2, b"")
    assert ran.json["error"].keys() == {"code", "message", "hint"}
    assert ran.json["error"]["code"] == "USAGE"


def test_json_after_two_dashes_is_a_word(run: Any) -> None:
    ran = run("nonsense", "--", "--json")
    assert (ran.code, ran.out) == (2, b"")


def test_a_misspelt_command_is_answered_with_the_right_one(run: Any) -> None:
    assert "'search'" in run("serch").errors


@pytest.mark.parametrize(
    "words",
    [
        ["search", "x"],
        ["list"],
        ["status"],
        ["check"],
        ["rebuild"],
        ["gc"],
        ["export"],
        ["import", "x"],
        ["learn", "x"],
        ["retrieve", "x"],
        ["recall", "x"],
        ["unlearn", "x"],
        ["restore", "x"],
    ],
    ids=" ".join,
)
def test_without_a_database_each_command_says_so_and_creates_none(run: Any, folder: Path, words: list[str]) -> None:
    ran = run(*words, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "NOT_A_DATABASE")
    assert "kbdb init" in ran.json["error"]["hint"]
    assert list(folder.rglob(".kbdb")) == []


def test_a_named_place_without_a_database_is_told_with_the_reason(run: Any, folder: Path) -> None:
    ran = run("--db", folder / "other", "status")
    assert ran.code == 1
    assert str(folder / "other") in ran.errors
    assert "--db names it" in ran.errors


def test_options_may_stand_before_the_command(run: Any, folder: Path) -> None:
    assert run("--json", "where").json == run("where", "--json").json
    assert run("--db", "learn", "where").text == run("where", "--db", folder / "learn").text


def test_completion_is_offered_for_the_shells(run: Any) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_KBDB_COMPLETE" in run("--show-completion", shell).text


def test_completion_knows_commands_and_options(run: Any) -> None:
    env = {"_KBDB_COMPLETE": "complete_bash", "COMP_WORDS": "kbdb sea", "COMP_CWORD": "1"}
    assert run(env=env).text.split() == ["search"]
    env = {"_KBDB_COMPLETE": "complete_bash", "COMP_WORDS": "kbdb search --mo", "COMP_CWORD": "2"}
    assert run(env=env).text.split() == ["--mode"]
    env = {"_KBDB_COMPLETE": "complete_bash", "COMP_WORDS": "kbdb search --mode ", "COMP_CWORD": "3"}
    assert run(env=env).text.split() == ["lexical", "vector", "hybrid"]
