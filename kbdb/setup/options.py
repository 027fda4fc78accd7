"""Which options of ``kbdb mcp`` an entry gives already, and what it starts when they are kept.

``kbdb.mcp.command`` reads the same options when the server starts.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kbdb.errors import KbdbError
from kbdb.paths import DATABASE_VARIABLE, database_root, locate_from
from kbdb.setup.clients import Client, Entry
from kbdb.setup.server import Server, same_program

_ALONE = ("--read-only", "--json")
_WITH_VALUE = ("--db", "--tools")
_TOOLS = ("core", "all")
_OURS = re.compile(r"(?:.*[\\/])?kbdb(?:\.exe)?(?:@.*)?", re.IGNORECASE | re.DOTALL)

Option = tuple[str, ...]
"""An option's words as they are written: with its value in one, or in two."""


class Merged(NamedTuple):
    """A server with what an entry adds to it.

    Attributes:
        server: what the entry will start, and which database that uses.
        kept: the options that the entry has and the server alone would not give.
        left_out: words of the entry that ``kbdb mcp`` does not take.
    """

    server: Server
    kept: tuple[str, ...]
    left_out: tuple[str, ...]


class _Given(NamedTuple):
    """A command line, read.

    Attributes:
        launcher: the words that start kbdb; none where it is not clear which do.
        options: those of ``kbdb mcp``.
        unknown: the words that are none.
    """

    launcher: tuple[str, ...]
    options: tuple[Option, ...]
    unknown: tuple[str, ...]


def merged(of: Client, there: Entry, server: Server) -> Merged:
    """A server with the options of an entry, and with its database unless one was named for this.

    Args:
        of: the program that the entry is for.
        there: the entry; not one with the address of a server.
        server: what would be started without it.
    """
    words = _words(there)
    given = _read(words)
    at = server.arguments.index("mcp") + 1
    before, ours = server.arguments[:at], server.arguments[at:]
    database = _last_database(given.options)
    options = given.options
    if server.named and database is not None and _root(database) != _root(ours[-1]):
        options, database = tuple(option for option in options if not _is_database(option)), None
    variable = _variable(there)
    added = () if database is not None or (variable and not server.named) else ours
    launcher = (server.command, *before[:-1])
    if options == given.options and not added and not given.unknown and _same(given.launcher, launcher):
        arguments = tuple(words[1:])
    else:
        arguments = (*before, *added, *(word for option in options for word in option))
    new = server._replace(arguments=arguments)
    if database is not None:
        new = _told(of, new, database, "")
    elif not added and variable:
        new = _told(of, new, variable, f", by {DATABASE_VARIABLE} in the entry")
    elif not added and isinstance(folder := there.get("cwd"), str) and folder:
        new = _told_folder(of, new, folder)
    return Merged(new, tuple(" ".join(option) for option in options if option != ours), given.unknown)


def _words(there: Entry) -> list[str]:
    command, arguments = there.get("command", ""), there.get("args")
    words = [*(command if isinstance(command, list) else [command])]
    words += arguments if isinstance(arguments, list) else [arguments] if isinstance(arguments, str) else []
    return [word if isinstance(word, str) else str(word) for word in words]


def _read(words: Sequence[str]) -> _Given:
    """A command line, which may also be a shell's, in one word."""
    given = _read_words(words) or _read_words(_split(words), launcher=False) or _Given((), (), tuple(words[1:]))
    if any("--read-only" in word for word in given.unknown) and ("--read-only",) not in given.options:
        # Written in some way that is not understood; a server that was meant to read alone must not come to write.
        return given._replace(options=(*given.options, ("--read-only",)))
    return given


def _split(words: Sequence[str]) -> list[str]:
    line = " ".join(words)
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _read_words(words: Sequence[str], launcher: bool = True) -> _Given | None:
    """The options before and behind ``mcp``; around the first one where nothing before it looks like kbdb."""
    for at in [at for at, word in enumerate(words) if _OURS.fullmatch(word)]:
        found, unknown = _options(words[at + 1 :], until="mcp")
        behind = at + 1 + sum(map(len, found))
        if not unknown and words[behind : behind + 1] == ["mcp"]:
            more, unknown = _options(words[behind + 1 :])
            return _Given(tuple(words[: at + 1]) if launcher else (), (*found, *more), unknown)
    if "mcp" not in words:
        return None
    at = words.index("mcp")
    start = next(start for start in range(at + 1) if not _options(words[start:at])[1])
    found, unknown = _options(words[at + 1 :])
    return _Given(tuple(words[:start]) if launcher else (), (*_options(words[start:at])[0], *found), unknown)


def _options(words: Sequence[str], until: str | None = None) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """The options that are understood, and the words that are not."""
    found: list[Option] = []
    unknown: list[str] = []
    left = list(words)
    while left and left[0] != until:
        word = left.pop(0)
        name, written, value = word.partition("=")
        if name in _WITH_VALUE and not written and left:
            value = left.pop(0)
        option = (word,) if written or name not in _WITH_VALUE else (word, value)
        if word in _ALONE or (name == "--db" and value) or (name == "--tools" and value in _TOOLS):
            found.append(option)
        else:
            unknown += [word for word in option if word]
    return tuple(found), tuple(unknown)


def _is_database(option: Option) -> bool:
    return option[0].partition("=")[0] == "--db"


def _last_database(options: Sequence[Option]) -> str | None:
    values = [option[-1].removeprefix("--db=") for option in options if _is_database(option)]
    return values[-1] if values else None


def _variable(there: Entry) -> str:
    """$KBDB_DB as the entry sets it; opencode has another name for the table."""
    for name in ("env", "environment"):
        table = there.get(name)
        if isinstance(table, dict) and isinstance(value := table.get(DATABASE_VARIABLE), str) and value:
            return value
    return ""


def _same(launcher: tuple[str, ...], ours: tuple[str, ...]) -> bool:
    return launcher[1:] == ours[1:] and bool(launcher) and same_program(launcher[0], ours[0])


def _root(path: str) -> Path | None:
    """The database that a path names; None where that depends on where a program starts its servers."""
    try:
        return database_root(path) if os.path.isabs(os.path.expanduser(path)) else None
    except (KbdbError, OSError, RuntimeError, ValueError):
        return None


def _told(of: Client, server: Server, path: str, why: str) -> Server:
    """The server with a database of the entry's."""
    if of.variables and re.search(of.variables, path):
        return server._replace(database=f"{path}, as {of.title} fills it in{why}", root=None)
    root = _root(path)
    where = f"{path}, from where {of.title} starts it" if root is None else str(root)
    return server._replace(database=f"{where}{why}", root=root)


def _told_folder(of: Client, server: Server, folder: str) -> Server:
    """The server with the folder that the entry starts it in."""
    known = os.path.isabs(folder) and not (of.variables and re.search(of.variables, folder))
    root = locate_from(Path(folder)).root if known else None
    here = f"; {root}" if root else ""
    return server._replace(database=f"the nearest to {folder}, where the entry starts it{here}", root=root)
