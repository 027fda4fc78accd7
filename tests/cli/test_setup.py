"""setup: what it says, writes and answers, for every program and scope."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kbdb.setup.clients import CLIENTS, Client, Scope
from kbdb.setup.server import installed_command

EVERYWHERE = [pytest.param(one, scope, id=f"{one.name}-{scope}") for one in CLIENTS for scope in one.scopes]


@pytest.mark.parametrize(("of", "scope"), EVERYWHERE)
def test_set_up_is_shown_written_repeated_and_taken_back(kb: Any, of: Client, scope: Scope) -> None:
    words = ("setup", of.name, "--scope", scope, "--json")
    shown = kb(*words, "--dry-run").json
    assert (shown["action"], shown["changed"], shown["written"]) == ("add", True, False)
    assert not Path(shown["file"]).exists()
    done = kb(*words).json
    assert done == shown | {"written": True}
    text = Path(done["file"]).read_text(encoding="utf-8")
    held = tomllib.loads(text) if of.format == "toml" else json.loads(text)
    assert held == {of.key[0]: {"kbdb": done["entry"]}}
    again = kb(*words).json
    assert (again["action"], again["changed"], again["written"], again["diff"]) == ("none", False, False, "")
    gone = kb(*words, "--remove").json
    assert (gone["action"], gone["written"], gone["entry"]) == ("remove", True, done["entry"])
    none = kb(*words, "--remove")
    assert (none.code, none.json["action"]) == (0, "none")


def test_people_are_shown_the_change_the_file_and_what_to_do_next(kb: Any, folder: Path) -> None:
    ran = kb("setup", "claude-code")
    lines = ran.text.splitlines()
    assert (ran.code, ran.err) == (0, b"")
    assert lines[:2] == ["--- /dev/null", f"+++ {folder.resolve()}/.mcp.json"]
    assert f"added kbdb to {folder.resolve()}/.mcp.json" in lines
    assert lines[-1].startswith("next: ")
    again = kb("setup", "claude-code")
    assert again.code == 0
    assert again.text.startswith("nothing to change: Claude Code has kbdb already")
    assert (
        kb("setup", "claude-code", "--remove").text.splitlines()[-1] == f"took kbdb out of {folder.resolve()}/.mcp.json"
    )
    assert kb("setup", "claude-code", "--remove").text.startswith("nothing to change: Claude Code has no kbdb")


def test_print_writes_the_snippet_alone(kb: Any, folder: Path) -> None:
    ran = kb("setup", "cursor", "--print")
    assert json.loads(ran.out)["mcpServers"]["kbdb"]["args"][-2:] == ["--db", str(folder.resolve())]
    assert ran.err == b""
    assert kb("setup", "cursor", "--print", "--json").json["snippet"] == ran.text
    assert tomllib.loads(kb("setup", "codex", "--print").text)["mcp_servers"]["kbdb"]["command"]
    assert not (folder / ".cursor").exists()


def test_the_entry_starts_this_kbdb(kb: Any, environment: dict[str, str]) -> None:
    entry = kb("setup", "claude-code", "--json").json["entry"]
    assert [entry["command"], *entry["args"]] == [*installed_command(), "mcp"]
    told = [entry["command"], *entry["args"][:-1], "--version"]
    ran = subprocess.run(told, cwd=os.sep, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("kbdb ")


def test_a_database_that_is_named_gets_into_the_entry(run: Any, folder: Path) -> None:
    entry = run("setup", "claude-code", "--db", "x y", "--dry-run", "--json").json["entry"]
    assert entry["args"][-2:] == ["--db", str(folder.resolve() / "x y")]
    assert run("setup", "claude-code", "--dry-run", "--json", env={"KBDB_DB": str(folder)}).json["entry"]["args"][
        -1
    ] == str(folder.resolve())


def test_set_up_again_a_server_that_may_only_read_may_still_only_read_and_it_is_said(kb: Any, folder: Path) -> None:
    file = folder / ".mcp.json"
    entry = {"type": "stdio", "command": "/old/kbdb", "args": ["mcp", "--tools", "all", "--read-only"]}
    file.write_text(json.dumps({"mcpServers": {"kbdb": entry}}), encoding="utf-8")
    ran = kb("setup", "claude-code")
    away = "kbdb setup claude-code --scope project --remove takes all out"
    assert f"kept of the entry: --tools all, --read-only; {away}" in ran.text
    after = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["kbdb"]
    assert after["args"][-4:] == entry["args"]
    again = kb("setup", "claude-code", "--json").json
    assert (again["action"], again["kept"]) == ("none", ["--tools all", "--read-only"])
    assert kb("setup", "claude-code", "--remove").code == 0
    fresh = kb("setup", "claude-code", "--json").json
    assert (fresh["entry"]["args"][-1], fresh["kept"]) == ("mcp", [])


def test_the_database_that_is_told_is_the_one_the_entry_will_use(kb: Any, folder: Path) -> None:
    file = folder / ".mcp.json"
    entry = {"command": "kbdb", "args": ["mcp"], "env": {"KBDB_DB": "/x"}}
    file.write_text(json.dumps({"mcpServers": {"kbdb": entry}}), encoding="utf-8")
    ran = kb("setup", "claude-code")
    assert "database: /x/.kbdb, by KBDB_DB in the entry" in ran.text
    assert "there is no database at /x/.kbdb yet: kbdb init --db /x creates it" in ran.text
    told = kb("setup", "claude-code", "--db", "y", "--json").json
    assert (told["entry"]["args"][-2:], told["entry"]["env"]) == (["--db", str(folder.resolve() / "y")], entry["env"])
    assert told["database"] == str(folder.resolve() / "y" / ".kbdb")


def test_what_mcp_does_not_take_is_said_to_go(kb: Any, folder: Path) -> None:
    entry = {"command": "kbdb", "args": ["mcp", "--fast"]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"kbdb": entry}}), encoding="utf-8")
    assert "left out, for kbdb mcp does not take it: --fast" in kb("setup", "claude-code").text


def test_where_there_is_no_database_yet_it_is_said_how_to_make_it(run: Any) -> None:
    assert "yet: kbdb init creates one here; then run this again" in run("setup", "gemini").text
    assert "yet: kbdb init --db x creates it" in run("setup", "gemini", "--db", "x").text


def test_of_a_file_on_one_long_line_only_the_change_is_shown(kb: Any, folder: Path) -> None:
    before = json.dumps({"a": "x" * 5000, "mcpServers": {}, "b": "y" * 5000})
    (folder / ".mcp.json").write_text(before, encoding="utf-8")
    ran = kb("setup", "claude-code")
    assert max(map(len, ran.text.splitlines())) < 1000
    assert '"mcpServers": {"kbdb": {"type": "stdio", ' in ran.text
    assert len(kb("setup", "claude-code", "--remove", "--json").json["diff"]) > 20_000


def test_a_project_s_file_is_made_where_git_says_the_project_begins(kb: Any, folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "a").mkdir()
    found = kb("setup", "vscode", "--json", cwd=folder / "a").json
    assert found["file"] == str(folder.resolve() / ".vscode" / "mcp.json")


def test_a_file_that_does_not_parse_is_told_and_left(run: Any, folder: Path) -> None:
    (folder / ".mcp.json").write_text('{\n  "a": 1,\n  b: 2\n}', encoding="utf-8")
    ran = run("setup", "claude-code", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "BAD_SETTINGS_FILE")
    assert ".mcp.json, line 3, column 3: " in ran.json["error"]["message"]
    assert (folder / ".mcp.json").read_text(encoding="utf-8") == '{\n  "a": 1,\n  b: 2\n}'


def test_what_is_in_a_file_cannot_steer_the_terminal(run: Any, folder: Path) -> None:
    (folder / ".mcp.json").write_text("{\n  // \x1b[2J\n}", encoding="utf-8")
    assert "\x1b" not in run("setup", "claude-code").text


def test_without_a_program_all_are_shown_with_what_is_here(kb: Any, folder: Path) -> None:
    (folder.parent / ".gemini").mkdir()
    (folder.parent / ".gemini" / "settings.json").write_text("{", encoding="utf-8")
    assert kb("setup", "claude-code").code == 0
    ran = kb("setup", "--json", env={"PATH": ""})
    found = {one["client"]: one for one in ran.json["clients"]}
    assert list(found) == [one.name for one in CLIENTS]
    assert [name for name, one in found.items() if one["installed"]] == ["gemini"]
    kept = {(name, setting["scope"]): setting["kbdb"] for name, one in found.items() for setting in one["settings"]}
    assert kept.pop(("claude-code", "project")) == "yes"
    assert kept.pop(("gemini", "user")) == "unreadable"
    assert set(kept.values()) == {"no"}
    text = kb("setup").text
    assert all(one.name in text for one in CLIENTS)
    assert "settings.json, line 1, column 2" in text


def test_an_older_entry_is_shown_as_different(kb: Any, folder: Path) -> None:
    (folder / ".mcp.json").write_text('{"mcpServers": {"kbdb": {"command": "/old/kbdb"}}}', encoding="utf-8")
    (setting, _) = kb("setup", "--json").json["clients"][0]["settings"]
    assert setting["kbdb"] == "differs"
