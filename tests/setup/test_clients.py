"""kbdb.setup.clients and server: where each program's file is on each system, and what it is told to start."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest

from kbdb.errors import UsageError
from kbdb.paths import Location, locate, locate_from
from kbdb.platform import user_config_dir
from kbdb.setup.clients import CLIENTS, Folders, Scope, check_values, client, project_folder, scope_of
from kbdb.setup.server import installed_command, same_program, server

HOME, PROJECT = Path("/home/you"), Path("/home/you/p")


def files(name: str, scope: Scope, system: str = "linux", environ: Mapping[str, str] | None = None) -> list[str]:
    """The files of a program, as paths below / with forward slashes."""
    folders = Folders(PROJECT, HOME, environ or {}, system)
    return [str(PurePosixPath(folders.file(place))) for place in client(name).files[scope]]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
    ],
)
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_a_project_s_file_is_in_its_folder_on_every_system(name: str, file: str, system: str) -> None:
    assert files(name, "project", system)[0] == f"/home/you/p/{file}"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", ".config/opencode/opencode.json"),
    ],
)
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_a_user_s_file_in_the_home_folder_is_the_same_on_every_system(name: str, file: str, system: str) -> None:
    assert files(name, "user", system)[0] == f"/home/you/{file}"


@pytest.mark.parametrize(
    ("system", "environ", "folder"),
    [
        ("linux", {}, "/home/you/.config"),
        ("linux", {"XDG_CONFIG_HOME": "/elsewhere"}, "/elsewhere"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "/home/you/.config"),
        ("darwin", {"XDG_CONFIG_HOME": "/elsewhere"}, "/home/you/Library/Application Support"),
        ("win32", {"APPDATA": "/users/you/roaming"}, "/users/you/roaming"),
        ("win32", {}, "/home/you/AppData/Roaming"),
    ],
)
def test_where_desktop_programs_keep_settings(system: str, environ: dict[str, str], folder: str) -> None:
    assert user_config_dir(HOME, environ, system) == Path(folder)
    assert files("claude-desktop", "user", system, environ) == [f"{folder}/Claude/claude_desktop_config.json"]
    assert files("vscode", "user", system, environ) == [f"{folder}/Code/User/mcp.json"]


def test_programs_that_can_be_told_another_folder_are_followed_there() -> None:
    environ = {"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d", "XDG_CONFIG_HOME": "/x"}
    assert files("codex", "user", environ=environ) == ["/c/config.toml"]
    assert files("claude-code", "user", environ=environ) == ["/d/.claude.json"]
    assert files("opencode", "user", "darwin", environ)[0] == "/x/opencode/opencode.json"


def test_an_unknown_program_is_answered_with_all_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        client("emacs")
    assert all(known.name in caught.value.hint for known in CLIENTS)
    assert client(" Claude-Code ").name == "claude-code"


def test_a_scope_that_a_program_lacks_is_answered_with_those_it_has() -> None:
    assert scope_of(client("claude-code"), None) == "project"
    assert scope_of(client("codex"), None) == "user"
    assert scope_of(client("cursor"), "user") == "user"
    with pytest.raises(UsageError, match="Claude Desktop has no scope 'project'") as caught:
        scope_of(client("claude-desktop"), "project")
    assert caught.value.hint == "it has user"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("claude-code", "/a/${HOME}"),
        ("vscode", "${x}"),
        ("gemini", "/a/$HOME"),
        ("opencode", "{env:X}"),
        ("codex", "\udcff"),
    ],
)
def test_a_path_that_a_program_would_change_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError):
        check_values(client(name), ["/bin/kbdb", value])


def test_a_project_is_what_git_says_or_the_folder_itself(tmp_path: Path) -> None:
    deep = tmp_path / "home" / "repo" / "a" / "b"
    deep.mkdir(parents=True)
    home = tmp_path / "home"
    assert project_folder(deep, home) == deep
    (home / ".git").mkdir()
    assert project_folder(deep, home) == deep, "a home kept in git is no project"
    (home / "repo" / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    assert project_folder(deep, home) == home / "repo"


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_command_is_the_console_script_that_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = program(tmp_path / "bin" / "kbdb")
    monkeypatch.chdir(tmp_path)
    assert installed_command(str(script), []) == (str(script),)
    assert installed_command("bin/kbdb", []) == (str(script),)
    windows = program(tmp_path / "Scripts" / "kbdb.exe")
    assert installed_command(str(windows.with_suffix("")), []) == (str(windows),)


def test_the_command_is_else_the_script_of_this_python_and_else_the_python(tmp_path: Path) -> None:
    assert installed_command("/x/kbdb/__main__.py", [tmp_path], "/usr/bin/python3") == (
        "/usr/bin/python3",
        "-m",
        "kbdb",
    )
    script = program(tmp_path / "kbdb")
    assert installed_command("/x/kbdb/__main__.py", [tmp_path / "none", tmp_path]) == (str(script),)
    assert Path(installed_command()[0]).is_absolute()
    assert installed_command("-c", [], sys.executable)[1:] == ("-m", "kbdb")


def test_a_bare_name_is_the_same_program_where_it_leads_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = program(tmp_path / "a" / "kbdb")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "kbdb").symlink_to(script)
    monkeypatch.setenv("PATH", str(tmp_path / "b"))
    assert same_program("kbdb", str(script))
    assert same_program(str(tmp_path / "b" / "kbdb"), str(script))
    assert not same_program("uvx", str(script))
    assert not same_program(["kbdb"], str(script))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a database, in a home of its own."""
    made = tmp_path / "home" / "p"
    (made / ".kbdb").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return made


def arguments(name: str, scope: Scope, location: Location, project: Path) -> tuple[str, ...]:
    found = server(client(name), scope, location, project).arguments
    return found[found.index("mcp") :]


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "opencode"])
def test_a_program_that_starts_servers_in_the_project_finds_its_database(name: str, project: Path) -> None:
    here = locate_from(project)
    assert arguments(name, "project", here, project) == ("mcp",)
    assert arguments(name, "user", here, project) == ("mcp", "--db", str(project))
    assert str(project / ".kbdb") in server(client(name), "project", here, project).database


@pytest.mark.parametrize("name", ["cursor", "vscode", "claude-desktop"])
def test_a_program_that_starts_them_anywhere_is_told_the_database(name: str, project: Path) -> None:
    for location in (locate_from(project), locate_from(project.parent)):
        wanted = ("mcp", "--db", str(location.root.parent))
        assert [arguments(name, scope, location, project) for scope in client(name).scopes] == [
            wanted for _ in client(name).scopes
        ]


@pytest.mark.parametrize("scope", ["project", "user"])
def test_a_database_that_was_named_is_always_told(scope: Scope, project: Path) -> None:
    for location in (locate(str(project)), locate(None, {"KBDB_DB": str(project)})):
        assert arguments("claude-code", scope, location, project) == ("mcp", "--db", str(project))


@pytest.mark.parametrize("scope", ["project", "user"])
def test_the_user_s_database_is_found_where_there_is_no_nearer(scope: Scope, project: Path) -> None:
    elsewhere = project.parent / "q"
    elsewhere.mkdir()
    assert arguments("claude-code", scope, locate_from(elsewhere), elsewhere) == ("mcp",)


def test_a_database_below_the_project_s_folder_is_told(project: Path) -> None:
    (project / "sub" / ".kbdb").mkdir(parents=True)
    assert arguments("claude-code", "project", locate_from(project / "sub"), project) == (
        "mcp",
        "--db",
        str(project / "sub"),
    )
