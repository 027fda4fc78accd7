"""The programs that kbdb can be set up in: where each keeps its settings, and what an entry looks like there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kbdb.errors import UsageError
from kbdb.platform import user_config_dir, xdg_config_dir

NAME = "kbdb"
"""What the entry is called everywhere."""

Scope = Literal["project", "user"]
Base = Literal["project", "home", "config", "xdg", "claude", "codex"]
Entry = dict[str, Any]


class Place(NamedTuple):
    """A file, named from one of the folders in ``Folders``."""

    base: Base
    path: str


@dataclass(frozen=True, slots=True)
class Client:
    """One program.

    Attributes:
        name: what it is called on the command line.
        title: what it calls itself.
        format: of its settings.
        key: the names that lead to its table of servers.
        files: for each scope it has, the default first, the files it may keep them in, the usual one first.
        shape: makes an entry from a command and its arguments.
        programs: what it is started by; where one is on the PATH it seems to be installed.
        traces: files or folders that it makes.
        follows: whether it starts servers in the folder it is used in.
        variables: what in a value it takes for a variable of its own; None where it does not look.
        afterwards: what to do for a new entry to take effect.
    """

    name: str
    title: str
    format: Literal["json", "toml"]
    key: tuple[str, ...]
    files: Mapping[Scope, tuple[Place, ...]]
    shape: Callable[[str, Sequence[str]], Entry]
    programs: tuple[str, ...]
    traces: tuple[Place, ...]
    follows: bool
    variables: str | None
    afterwards: str

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Those it has, the default first."""
        return tuple(self.files)


class Folders(NamedTuple):
    """What the places of files are named from.

    Attributes:
        project: the folder of the project that setup is called in.
        home: the user's.
        environ: the environment; some programs take another folder from there.
        system: as ``sys.platform`` names it.
    """

    project: Path
    home: Path
    environ: Mapping[str, str]
    system: str

    def file(self, place: Place) -> Path:
        """The path of a file."""
        return self._base(place.base).joinpath(*place.path.split("/"))

    def _base(self, base: Base) -> Path:
        if base == "project":
            return self.project
        if base == "config":
            return user_config_dir(self.home, self.environ, self.system)
        if base == "xdg":
            return xdg_config_dir(self.home, self.environ)
        if base == "claude":
            return Path(self.environ.get("CLAUDE_CONFIG_DIR") or self.home)
        if base == "codex":
            return Path(self.environ.get("CODEX_HOME") or self.home / ".codex")
        return self.home


def _plain(command: str, arguments: Sequence[str]) -> Entry:
    return {"command": command, "args": list(arguments)}


def _typed(command: str, arguments: Sequence[str]) -> Entry:
    return {"type": "stdio", "command": command, "args": list(arguments)}


def _opencode(command: str, arguments: Sequence[str]) -> Entry:
    return {"type": "local", "command": [command, *arguments], "enabled": True}


CLIENTS = (
    Client(
        name="claude-code",
        title="Claude Code",
        format="json",
        key=("mcpServers",),
        files={"project": (Place("project", ".mcp.json"),), "user": (Place("claude", ".claude.json"),)},
        shape=_typed,
        programs=("claude",),
        traces=(Place("claude", ".claude.json"), Place("home", ".claude")),
        follows=True,
        variables=r"\$\{",
        afterwards="start Claude Code anew; it asks before it uses a server of a project",
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        format="json",
        key=("mcpServers",),
        files={"user": (Place("config", "Claude/claude_desktop_config.json"),)},
        shape=_plain,
        programs=("claude-desktop",),
        traces=(Place("config", "Claude"),),
        follows=False,
        variables=None,
        afterwards="quit Claude Desktop and start it again",
    ),
    Client(
        name="cursor",
        title="Cursor",
        format="json",
        key=("mcpServers",),
        files={"project": (Place("project", ".cursor/mcp.json"),), "user": (Place("home", ".cursor/mcp.json"),)},
        shape=_plain,
        programs=("cursor", "cursor-agent"),
        traces=(Place("home", ".cursor"),),
        follows=False,
        variables=r"\$\{",
        afterwards="switch kbdb on in Cursor's settings, under MCP",
    ),
    Client(
        name="vscode",
        title="VS Code",
        format="json",
        key=("servers",),
        files={"project": (Place("project", ".vscode/mcp.json"),), "user": (Place("config", "Code/User/mcp.json"),)},
        shape=_typed,
        programs=("code",),
        traces=(Place("config", "Code/User"),),
        follows=False,
        variables=r"\$\{",
        afterwards="start the server where VS Code shows it above the entry, or reload the window",
    ),
    Client(
        name="codex",
        title="Codex",
        format="toml",
        key=("mcp_servers",),
        files={"user": (Place("codex", "config.toml"),), "project": (Place("project", ".codex/config.toml"),)},
        shape=_plain,
        programs=("codex",),
        traces=(Place("codex", ""),),
        follows=True,
        variables=None,
        afterwards="start Codex anew; of a project's settings it reads only those it was told to trust",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        format="json",
        key=("mcpServers",),
        files={
            "project": (Place("project", ".gemini/settings.json"),),
            "user": (Place("home", ".gemini/settings.json"),),
        },
        shape=_plain,
        programs=("gemini",),
        traces=(Place("home", ".gemini"),),
        follows=True,
        variables=r"\$[A-Za-z_{]",
        afterwards="start Gemini CLI anew",
    ),
    Client(
        name="opencode",
        title="opencode",
        format="json",
        key=("mcp",),
        files={
            "project": (
                Place("project", "opencode.json"),
                Place("project", "opencode.jsonc"),
                Place("project", ".opencode/opencode.json"),
                Place("project", ".opencode/opencode.jsonc"),
            ),
            "user": (Place("xdg", "opencode/opencode.json"), Place("xdg", "opencode/opencode.jsonc")),
        },
        shape=_opencode,
        programs=("opencode",),
        traces=(Place("xdg", "opencode"),),
        follows=True,
        variables=r"\{(?:env|file):",
        afterwards="start opencode anew",
    ),
)
"""Every program, in the order in which they are listed."""


def client(name: str) -> Client:
    """The program of a name.

    Raises:
        UsageError: there is none; lists them all.
    """
    for known in CLIENTS:
        if known.name == name.strip().lower():
            return known
    raise UsageError(f"kbdb knows no program {name!r}", f"it is one of {', '.join(known.name for known in CLIENTS)}")


def scope_of(of: Client, wanted: str | None) -> Scope:
    """The scope that is meant: the wanted one, else the program's default.

    Raises:
        UsageError: the program has no such scope; names those it has.
    """
    for scope in of.scopes:
        if scope == (wanted or of.scopes[0]):
            return scope
    raise UsageError(f"{of.title} has no scope {wanted!r}", f"it has {' and '.join(of.scopes)}")


def check_values(of: Client, values: Sequence[str]) -> None:
    """Makes sure that a program takes values as they are.

    Raises:
        UsageError: it would take part of one for a variable, or no settings file can hold it.
    """
    for value in values:
        if of.variables and re.search(of.variables, value):
            raise UsageError(f"{of.title} would take part of {value!r} for a variable", "use a path without it")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise UsageError(f"{os.fsencode(value)!r} is not UTF-8", "no settings file can hold it; use another path")


def project_folder(here: Path, home: Path) -> Path:
    """The folder of the project that a folder is in: the nearest with ``.git``, home aside; else the folder itself."""
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return here if folder == home else folder
    return here
