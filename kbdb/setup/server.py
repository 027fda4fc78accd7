"""What a program is told to start: kbdb's command, and the database where it would not find that by itself."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kbdb.paths import DATABASE_FOLDER, Location, locate_from
from kbdb.setup.clients import Client, Scope

_PROGRAM = "kbdb"


class Server(NamedTuple):
    """A command line.

    Attributes:
        command: the program, an absolute path.
        arguments: what follows it.
        database: which database it will use, in words.
        root: its ``.kbdb`` folder; None where that is not known here.
        named: whether ``--db`` named it for this entry; then it takes the place of the one the entry has.
    """

    command: str
    arguments: tuple[str, ...]
    database: str
    root: Path | None = None
    named: bool = False


def server(of: Client, scope: Scope, location: Location, project: Path) -> Server:
    """The command line for a program.

    Args:
        of: the program.
        scope: whether it is for one project or for all.
        location: the database that is meant here.
        project: the folder of the project.
    """
    command, *before = installed_command()
    pinned = not _finds_it(of, scope, location, project)
    after = ["--db", str(_named(location))] if pinned else []
    where = str(location.root) if pinned else f"the nearest to where {of.title} is used; here {location.root}"
    return Server(command, (*before, "mcp", *after), where, location.root, location.rule == "option")


def installed_command(
    started_as: str | None = None, scripts: Sequence[Path] | None = None, python: str = sys.executable
) -> tuple[str, ...]:
    """The words that start kbdb from anywhere: its console script, or this Python with ``-m kbdb`` where there is none.

    Args:
        started_as: what this process was started as; None to ask.
        scripts: folders that console scripts are installed to; None for this Python's.
        python: the Python that runs this.
    """
    given = Path(os.path.abspath(sys.argv[0] if started_as is None else started_as))
    if given.name.lower() in (_PROGRAM, f"{_PROGRAM}.exe"):
        for path in (given, given.with_suffix(".exe")):
            if _is_program(path):
                return (str(path),)
    for folder in _script_folders() if scripts is None else scripts:
        for name in (_PROGRAM, f"{_PROGRAM}.exe"):
            if _is_program(folder / name):
                return (str(folder / name),)
    return (os.path.abspath(python), "-m", "kbdb")


def same_program(command: object, ours: str) -> bool:
    """Whether a command, which may be a bare name, starts the program of a path."""
    if not isinstance(command, str):
        return False
    try:
        found = shutil.which(command) if os.path.basename(command) == command else command
        return found is not None and os.path.realpath(found) == os.path.realpath(ours)
    except ValueError:  # No system has a file of that name: NUL, or half a character.
        return False


def _finds_it(of: Client, scope: Scope, location: Location, project: Path) -> bool:
    """Whether a program that is used where this scope counts finds the database by itself.

    One that starts servers in the folder it is used in finds a project's own database, and the user's one where there
    is none nearer. It finds none that --db or $KBDB_DB names, nor that of one project when it is used in another.
    """
    if not of.follows or location.rule not in ("nearest", "user"):
        return False
    return location.rule == "user" if scope == "user" else locate_from(project).root == location.root


def _named(location: Location) -> Path:
    """What --db takes: the folder that holds the database, unless a database's own name would make that unclear."""
    return location.root if location.root.parent.name == DATABASE_FOLDER else location.root.parent


def _script_folders() -> list[Path]:
    user = f"{os.name}_user"
    schemes = [sysconfig.get_default_scheme(), *([user] if user in sysconfig.get_scheme_names() else [])]
    beside = Path(os.path.abspath(sys.executable)).parent
    return [beside, *(Path(sysconfig.get_path("scripts", scheme)) for scheme in schemes)]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
