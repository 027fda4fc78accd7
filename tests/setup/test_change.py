"""kbdb.setup.change: entries added, updated and taken out of real files, and none of it when something is wrong."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import KbdbError, NotUtf8Error, SettingsFileError, StorageError
from kbdb.setup import files, toml_edit
from kbdb.setup.change import adding, entry_in, removing, snippet
from kbdb.setup.clients import CLIENTS, Client, Folders, Scope, client
from kbdb.setup.server import Server

SERVER = Server("/opt/bin/kbdb", ("mcp", "--db", "/data/my notes"), "/data/my notes/.kbdb")
ARGUMENTS = ["mcp", "--db", "/data/my notes"]
EVERYWHERE = [pytest.param(one, scope, id=f"{one.name}-{scope}") for one in CLIENTS for scope in one.scopes]
WANTED: dict[str, dict[str, Any]] = {
    "claude-code": {"mcpServers": {"kbdb": {"type": "stdio", "command": "/opt/bin/kbdb", "args": ARGUMENTS}}},
    "claude-desktop": {"mcpServers": {"kbdb": {"command": "/opt/bin/kbdb", "args": ARGUMENTS}}},
    "cursor": {"mcpServers": {"kbdb": {"command": "/opt/bin/kbdb", "args": ARGUMENTS}}},
    "vscode": {"servers": {"kbdb": {"type": "stdio", "command": "/opt/bin/kbdb", "args": ARGUMENTS}}},
    "codex": {"mcp_servers": {"kbdb": {"command": "/opt/bin/kbdb", "args": ARGUMENTS}}},
    "gemini": {"mcpServers": {"kbdb": {"command": "/opt/bin/kbdb", "args": ARGUMENTS}}},
    "opencode": {"mcp": {"kbdb": {"type": "local", "command": ["/opt/bin/kbdb", *ARGUMENTS], "enabled": True}}},
}


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Folders that nobody has written to."""
    return Folders(tmp_path / "p", tmp_path / "home", {}, "linux")


def first_file(of: Client, scope: Scope, folders: Folders) -> Path:
    return folders.file(of.files[scope][0])


def written(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def loaded(of: Client, path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if of.format == "toml" else json.loads(text)


@pytest.mark.parametrize(("of", "scope"), EVERYWHERE)
def test_an_entry_comes_into_a_new_file_stays_and_goes(of: Client, scope: Scope, folders: Folders) -> None:
    path = first_file(of, scope, folders)
    change = adding(of, scope, folders, SERVER)
    assert (change.action, change.file, change.before) == ("add", path, None)
    assert not path.exists()
    change.write()
    assert loaded(of, path) == WANTED[of.name]
    assert path.stat().st_mode & 0o077 == (0 if scope == "user" else 0o666 & ~umask() & 0o077)
    again = adding(of, scope, folders, SERVER)
    assert (again.action, again.diff) == ("none", "")
    assert entry_in(of, scope, folders) == again.entry
    gone = removing(of, scope, folders)
    assert (gone.action, gone.entry) == ("remove", again.entry)
    gone.write()
    assert path.read_bytes() == (b"" if of.format == "toml" else b"{}\n")
    assert removing(of, scope, folders).action == "none"


def umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


THEIRS = {
    "json": """\ufeff// mine
{
\t"theme" : "dark", /* x */
\t"KEY": {
\t\t"other": {"command": "x"}, // y
\t},
}""",
    "toml": """\ufeff# mine
model = "o"

[KEY.other] # y
command = 'x'""",
}


@pytest.mark.parametrize(("of", "scope"), EVERYWHERE)
def test_what_others_wrote_stays_to_the_byte(of: Client, scope: Scope, folders: Folders) -> None:
    before = THEIRS[of.format].replace("KEY", of.key[0]).replace("\n", "\r\n").encode()
    path = written(first_file(of, scope, folders), before)
    path.chmod(0o640)
    adding(of, scope, folders, SERVER).write()
    after = path.read_bytes()
    assert b"kbdb" in after
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert path.stat().st_mode & 0o777 == 0o640
    removing(of, scope, folders).write()
    assert path.read_bytes() == before


@pytest.mark.parametrize(("of", "scope"), EVERYWHERE)
def test_an_entry_that_differs_is_updated_and_what_was_added_to_it_stays(
    of: Client, scope: Scope, folders: Folders
) -> None:
    old = json.loads(json.dumps(WANTED[of.name]))
    entry = old[of.key[0]]["kbdb"]
    entry["command"] = ["/old/kbdb", "mcp"] if of.name == "opencode" else "/old/kbdb"
    entry["env"] = {"A": "b"}
    path = first_file(of, scope, folders)
    if of.format == "toml":
        written(path, '[mcp_servers.kbdb]\ncommand = "/old/kbdb" # here\nenv = { A = "b" }\n')
    else:
        written(path, json.dumps(old, indent=2))
    change = adding(of, scope, folders, SERVER)
    assert change.action == "update"
    assert "-" in change.diff
    assert "/old/kbdb" in change.diff
    change.write()
    wanted = WANTED[of.name][of.key[0]]["kbdb"] | {"env": {"A": "b"}}
    assert loaded(of, path) == {of.key[0]: {"kbdb": wanted}} == {of.key[0]: {"kbdb": change.entry}}


@pytest.mark.parametrize(("of", "scope"), EVERYWHERE)
def test_options_that_somebody_added_stay_when_it_is_set_up_again(of: Client, scope: Scope, folders: Folders) -> None:
    options = ["--tools", "all", "--read-only"]
    path = first_file(of, scope, folders)
    if of.format == "toml":
        written(path, '[mcp_servers.kbdb]\ncommand = "/old/kbdb"\nargs = ["mcp", "--tools", "all", "--read-only"]\n')
    else:
        line = ["/old/kbdb", "mcp", *options]
        entry = {"command": line} if of.name == "opencode" else {"command": line[0], "args": line[1:]}
        written(path, json.dumps({of.key[0]: {"kbdb": entry}}))
    change = adding(of, scope, folders, SERVER)
    assert (change.action, change.kept) == ("update", ("--tools all", "--read-only"))
    change.write()
    entry = loaded(of, path)[of.key[0]]["kbdb"]
    assert (entry["command"] if of.name == "opencode" else entry["args"])[-3:] == options
    assert adding(of, scope, folders, SERVER).action == "none"


@pytest.mark.parametrize("enabled", [True, False, None])
def test_whether_opencode_s_entry_is_switched_on_stays(enabled: bool | None, folders: Folders) -> None:
    of = client("opencode")
    switch = {} if enabled is None else {"enabled": enabled}
    entry = {"type": "local", "command": ["/old/kbdb", "mcp"], **switch}
    path = written(first_file(of, "project", folders), json.dumps({"mcp": {"kbdb": entry}}))
    change = adding(of, "project", folders, SERVER)
    change.write()
    assert loaded(of, path)["mcp"]["kbdb"] == entry | {"command": ["/opt/bin/kbdb", *ARGUMENTS]}
    assert change.kept == (("enabled: false",) if enabled is False else ())


@pytest.mark.parametrize("of", CLIENTS, ids=lambda of: of.name)
@pytest.mark.parametrize("switch", [{"enabled": False}, {"disabled": True}], ids=["enabled", "disabled"])
@pytest.mark.parametrize(
    "entry", [{"command": "x"}, {"url": "https://example.org"}, {}], ids=["program", "url", "none"]
)
def test_what_is_switched_off_stays_off_and_it_is_said(
    of: Client, switch: dict[str, bool], entry: dict[str, str], folders: Folders
) -> None:
    path = first_file(of, of.scopes[0], folders)
    lines = [f"{name} = {json.dumps(value)}" for name, value in (entry | switch).items()]
    as_toml = "\n".join(["[mcp_servers.kbdb]", *lines, ""])
    written(path, as_toml if of.format == "toml" else json.dumps({of.key[0]: {"kbdb": entry | switch}}))
    change = adding(of, of.scopes[0], folders, SERVER)
    change.write()
    after = loaded(of, path)[of.key[0]]["kbdb"]
    assert switch.items() <= after.items()
    assert "/opt/bin/kbdb" in (after["command"], after["command"][0])
    assert change.kept == tuple(f"{name}: {json.dumps(value)}" for name, value in switch.items())
    assert adding(of, of.scopes[0], folders, SERVER).action == "none"


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_options_without_a_program_stay(name: str, folders: Folders) -> None:
    of = client(name)
    toml = '[mcp_servers.kbdb.env]\nA = "b"\n[mcp_servers.kbdb]\nargs = ["mcp", "--read-only"]\n'
    text = '{"mcpServers": {"kbdb": {"args": ["mcp", "--read-only"], "env": {"A": "b"}}}}'
    path = written(first_file(of, of.scopes[0], folders), toml if of.format == "toml" else text)
    adding(of, of.scopes[0], folders, SERVER).write()
    after = loaded(of, path)[of.key[0]]["kbdb"]
    assert (after["args"], after["env"]) == ([*ARGUMENTS, "--read-only"], {"A": "b"})


def test_opencode_s_entry_in_the_usual_place_is_found_beside_the_newer_one(folders: Folders) -> None:
    of = client("opencode")
    text = '{"mcp": {"servers": {"x": {"command": ["x"]}}, "kbdb": {"command": ["/old/kbdb", "mcp", "--read-only"]}}}'
    path = written(first_file(of, "project", folders), text)
    adding(of, "project", folders, SERVER).write()
    assert list(loaded(of, path)["mcp"]["servers"]) == ["x"]
    assert loaded(of, path)["mcp"]["kbdb"]["command"] == ["/opt/bin/kbdb", *ARGUMENTS, "--read-only"]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_an_entry_with_an_address_is_replaced_as_a_whole(name: str, folders: Folders) -> None:
    of = client(name)
    entry = '[mcp_servers.kbdb]\nurl = "https://example.org"\n'
    text = entry if of.format == "toml" else '{"mcpServers": {"kbdb": {"type": "http", "url": "https://example.org"}}}'
    path = written(first_file(of, of.scopes[0], folders), text)
    adding(of, of.scopes[0], folders, SERVER).write()
    assert loaded(of, path) == WANTED[name]


def test_a_bare_command_that_leads_to_the_same_program_is_left(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = written(tmp_path / "bin" / "kbdb", "")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))
    of, server = client("claude-code"), Server(str(script), ("mcp",), "")
    entry = {"type": "stdio", "command": "kbdb", "args": ["mcp"]}
    written(first_file(of, "project", folders), json.dumps({"mcpServers": {"kbdb": entry}}))
    assert adding(of, "project", folders, server).action == "none"
    assert adding(of, "project", folders, SERVER).action == "update"


def test_opencode_s_newer_place_for_servers_is_used_where_a_file_has_it(folders: Folders) -> None:
    of = client("opencode")
    text = '{"mcp": {"servers": {"x": {"type": "local", "command": ["x"]}}}}'
    path = written(first_file(of, "project", folders), text)
    adding(of, "project", folders, SERVER).write()
    entry = {"type": "local", "command": ["/opt/bin/kbdb", *ARGUMENTS]}
    assert loaded(of, path)["mcp"]["servers"]["kbdb"] == entry
    assert adding(of, "project", folders, SERVER).action == "none"
    removing(of, "project", folders).write()
    assert path.read_text(encoding="utf-8") == text


def test_of_several_files_the_one_with_the_entry_is_meant_then_the_one_that_is_there(folders: Folders) -> None:
    of = client("opencode")
    second = written(folders.project / "opencode.jsonc", "{}")
    assert adding(of, "project", folders, SERVER).file == second
    adding(of, "project", folders, SERVER).write()
    written(folders.project / "opencode.json", "{}")
    assert adding(of, "project", folders, SERVER).file == second
    assert removing(of, "project", folders).file == second


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("claude-code", '{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ("claude-code", "[]", "line 1, column 1"),
        ("codex", "a = 1\nb = \n", "line 2, column 5"),
    ],
)
def test_a_file_that_is_not_sound_is_told_and_left(name: str, text: str, place: str, folders: Folders) -> None:
    of = client(name)
    path = written(first_file(of, of.scopes[0], folders), text)
    for call in (lambda: adding(of, of.scopes[0], folders, SERVER), lambda: removing(of, of.scopes[0], folders)):
        with pytest.raises(SettingsFileError) as caught:
            call()
        assert f"{path}, {place}: " in caught.value.message
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [("claude-code", '{"mcpServers": 1}', "line 1, column 16"), ("codex", "mcp_servers = 1\n", "line 1, column 1")],
)
def test_servers_of_another_shape_are_told_and_left(name: str, text: str, place: str, folders: Folders) -> None:
    of = client(name)
    path = written(first_file(of, of.scopes[0], folders), text)
    with pytest.raises(SettingsFileError, match=f"{place}: .* must be"):
        adding(of, of.scopes[0], folders, SERVER)
    assert removing(of, of.scopes[0], folders).action == "none"
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_is_not_utf8_is_told_and_left(folders: Folders) -> None:
    of = client("claude-code")
    path = written(first_file(of, "project", folders), '{"a": 1}'.encode("utf-16"))
    with pytest.raises(NotUtf8Error, match="from byte 0 on"):
        adding(of, "project", folders, SERVER)
    assert path.read_bytes() == '{"a": 1}'.encode("utf-16")


def test_an_argument_that_is_no_text_stays_where_it_is_or_is_told(folders: Folders) -> None:
    of = client("claude-code")
    text = '{"mcpServers": {"kbdb": {"command": "/old/kbdb", "args": ["mcp", "--db", "\\ud800"]}}}'
    path = written(first_file(of, "project", folders), text)
    change = adding(of, "project", folders, SERVER)
    assert change.after is not None
    assert b'"args": ["mcp", "--db", "\\ud800"]' in change.after
    path = written(path, text.replace('"--db"', '"--fast", "--db"'))
    before = path.read_bytes()
    with pytest.raises(SettingsFileError, match=r"\.mcp\.json: the entry holds '.ud800'"):
        adding(of, "project", folders, SERVER)
    assert path.read_bytes() == before


def test_a_folder_in_the_place_of_the_file_is_told(folders: Folders) -> None:
    of = client("claude-code")
    first_file(of, "project", folders).mkdir(parents=True)
    with pytest.raises(StorageError, match=r"cannot read .*\.mcp\.json"):
        adding(of, "project", folders, SERVER)


def test_a_file_in_the_place_of_its_folder_is_told(folders: Folders) -> None:
    of = client("cursor")
    written(folders.project / ".cursor", "")
    with pytest.raises(StorageError, match=r"cannot (read|write) .*mcp\.json"):
        adding(of, "project", folders, SERVER).write()


@pytest.mark.parametrize("there", [None, "{}"])
def test_a_change_by_somebody_else_meanwhile_is_not_written_over(there: str | None, folders: Folders) -> None:
    of = client("claude-code")
    path = first_file(of, "project", folders)
    if there is not None:
        written(path, there)
    change = adding(of, "project", folders, SERVER)
    written(path, '{"theirs": 1}')
    with pytest.raises(SettingsFileError, match="changed by another program"):
        change.write()
    assert path.read_text(encoding="utf-8") == '{"theirs": 1}'
    assert os.listdir(path.parent) == [path.name]


def test_a_link_stays_a_link(folders: Folders, tmp_path: Path) -> None:
    of = client("claude-code")
    real = written(tmp_path / "dotfiles" / "claude.json", "{}")
    path = first_file(of, "user", folders)
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    adding(of, "user", folders, SERVER).write()
    assert path.is_symlink()
    assert loaded(of, real) == WANTED["claude-code"]
    assert os.listdir(real.parent) == [real.name]


def test_a_link_to_a_file_that_is_not_there_makes_it(folders: Folders, tmp_path: Path) -> None:
    path = folders.project / ".mcp.json"
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "later" / "mcp.json")
    adding(client("claude-code"), "project", folders, SERVER).write()
    assert (tmp_path / "later" / "mcp.json").is_file()


def test_a_write_that_fails_leaves_the_file_and_no_other(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_source: object, _target: object) -> None:
        raise OSError(28, "No space left on device")

    path = written(folders.project / ".mcp.json", "{}")
    monkeypatch.setattr(files, "replace", refuse)
    with pytest.raises(StorageError, match=r"cannot write .*\.mcp\.json: No space left on device"):
        adding(client("claude-code"), "project", folders, SERVER).write()
    assert path.read_text(encoding="utf-8") == "{}"
    assert os.listdir(path.parent) == [path.name]


def test_the_diff_shows_the_lines_around_a_change_where_they_stand(folders: Folders) -> None:
    lines = [f'  "k{n}": {n},\n' for n in range(50)]
    path = written(folders.project / ".mcp.json", "{\n" + "".join(lines) + '  "mcpServers": {}\n}')
    assert adding(client("claude-code"), "project", folders, SERVER).diff == (
        f"--- {path}\n+++ {path}\n@@ -49,5 +49,11 @@\n"
        '   "k47": 47,\n   "k48": 48,\n   "k49": 49,\n-  "mcpServers": {}\n'
        '+  "mcpServers": {\n+    "kbdb": {\n+      "type": "stdio",\n+      "command": "/opt/bin/kbdb",\n'
        '+      "args": ["mcp", "--db", "/data/my notes"]\n+    }\n+  }\n }\n\\ No newline at end of file\n'
    )


@pytest.mark.parametrize("of", CLIENTS, ids=lambda of: of.name)
def test_a_snippet_is_a_whole_file(of: Client, tmp_path: Path) -> None:
    text, entry = snippet(of, SERVER)
    assert loaded(of, written(tmp_path / "snippet", text)) == WANTED[of.name]
    assert entry == WANTED[of.name][of.key[0]]["kbdb"]


def test_what_cannot_be_written_as_it_is_is_refused_before_anything_is_read(folders: Folders) -> None:
    written(folders.project / ".gemini" / "settings.json", "no JSON")
    with pytest.raises(KbdbError, match="for a variable"):
        adding(client("gemini"), "project", folders, Server("/bin/kbdb", ("mcp", "--db", "/a/$HOME"), ""))


WORDS = st.sampled_from(["kbdb", "mcp", "--read-only", "--tools", "all", "--db", "/x", "", "é \u2028", "${X}"])
VALUES = st.recursive(
    st.one_of(WORDS, st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["type", "command", "args", "env", "environment", "cwd", "enabled", "disabled", "url", "servers"]
)


@given(st.one_of(VALUES, st.dictionaries(NAMES, VALUES)), st.sampled_from(CLIENTS), st.booleans())
def test_an_entry_of_any_shape_is_set_up_once_and_goes(
    tmp_path_factory: pytest.TempPathFactory, entry: Any, of: Client, named: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    folders = Folders(folder / "p", folder / "home", {}, "linux")
    scope, server = of.scopes[0], SERVER._replace(named=named)
    path = first_file(of, scope, folders)
    key = (*of.key, "kbdb")
    written(path, toml_edit.snippet(key, entry) if of.format == "toml" else json.dumps({of.key[0]: {"kbdb": entry}}))
    change = adding(of, scope, folders, server)
    change.write()
    after = loaded(of, path)[of.key[0]]["kbdb"]
    assert after == change.entry
    assert adding(of, scope, folders, server).action == "none"
    removing(of, scope, folders).write()
    assert loaded(of, path) in ({}, {of.key[0]: {}})
