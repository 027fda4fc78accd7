"""Which programs seem to be installed here, and which of them start kbdb already."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kbdb.errors import KbdbError
from kbdb.paths import Location
from kbdb.setup.change import adding
from kbdb.setup.clients import CLIENTS, Client, Folders, Scope
from kbdb.setup.server import server

State = Literal["yes", "no", "differs", "unreadable"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One settings file of a program.

    Attributes:
        scope: whose settings they are.
        file: where they are or would be.
        exists: whether they are there.
        state: whether kbdb is in it; ``differs`` where ``setup`` would change its entry.
        fault: why it is unreadable; else empty.
    """

    scope: Scope
    file: Path
    exists: bool
    state: State
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """One program: whether it seems to be installed, and its settings."""

    client: Client
    installed: bool
    settings: tuple[Setting, ...]


def overview(folders: Folders, location: Location) -> tuple[Seen, ...]:
    """Every program that kbdb can be set up in.

    Args:
        folders: where their files are looked for.
        location: the database that is meant here.
    """
    return tuple(Seen(one, _is_installed(one, folders), tuple(_settings(one, folders, location))) for one in CLIENTS)


def _is_installed(of: Client, folders: Folders) -> bool:
    path = folders.environ.get("PATH")
    on_path = any(shutil.which(program, path=path) for program in of.programs)
    return on_path or any(folders.file(trace).exists() for trace in of.traces)


def _settings(of: Client, folders: Folders, location: Location) -> Iterator[Setting]:
    states: dict[str, State] = {"add": "no", "update": "differs", "none": "yes"}
    for scope in of.scopes:
        try:
            change = adding(of, scope, folders, server(of, scope, location, folders.project))
        except KbdbError as error:
            usual = folders.file(of.files[scope][0])
            yield Setting(scope, usual, usual.exists(), "unreadable", error.message)
        else:
            yield Setting(scope, change.file, change.before is not None, states[change.action])
