"""Where things are: the files inside a database, and which database a command means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from kbdb.errors import InvalidArgumentError, StorageError

DATABASE_FOLDER = ".kbdb"
FORMAT = 1
"""The version of every truth file's format; files of a newer one are refused, never guessed at."""

DATABASE_VARIABLE = "KBDB_DB"
USER_DATABASE = Path(".local", "share", "kbdb")
"""The folder, under the user's home, that holds the database used where none is nearer."""


_ELSEWHERE = "go to a folder that is there, or name an absolute path"


class Layout(NamedTuple):
    """The paths inside one database folder (DESIGN: on disk).

    Attributes:
        root: the ``.kbdb`` folder itself.
    """

    root: Path

    @property
    def home(self) -> Path:
        """The folder that holds ``.kbdb``; relative source paths are relative to it."""
        return self.root.parent

    @property
    def catalog(self) -> Path:
        return self.root / "catalog.toml"

    @property
    def config(self) -> Path:
        return self.root / "worker.toml"

    @property
    def synonyms(self) -> Path:
        return self.root / "synonyms.toml"

    @property
    def sections(self) -> Path:
        return self.root / "sections"

    @property
    def documents(self) -> Path:
        return self.root / "documents"

    @property
    def events(self) -> Path:
        return self.root / "events"

    @property
    def journal(self) -> Path:
        return self.root / "journal.log"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def daemon(self) -> Path:
        """Where the owner listens."""
        return self.root / "daemon"

    @property
    def indexes(self) -> Path:
        return self.root / "indexes"

    @property
    def index_meta(self) -> Path:
        return self.indexes / "meta.toml"

    # Of single truth files: text, since a commit and a rebuild make many, and a Path costs more than reading one.

    def section(self, kbid: str) -> str:
        return f"{self.root}/sections/{kbid[:2]}/{kbid}.sec"

    def manifest(self, docid: str) -> str:
        return f"{self.root}/documents/{docid}.toml"

    def event_file(self, name: str) -> str:
        return f"{self.root}/events/{name}"


Rule = Literal["option", "environment", "nearest", "user", "here"]


class Location(NamedTuple):
    """Which database a command means, and why.

    Attributes:
        root: the ``.kbdb`` folder, need not exist; absolute, symbolic links resolved up to the folder that holds it.
        rule: what decided.
        reason: the same in words, to follow a path in a sentence.
    """

    root: Path
    rule: Rule
    reason: str

    @property
    def exists(self) -> bool:
        """Whether a database folder is there; whether it is sound is for opening it to tell."""
        return os.path.isdir(self.root)


def absolute(path: str | os.PathLike[str]) -> str:
    """The same file, named so that a process in another folder finds it; ``..`` stays, for it may follow a link.

    Raises:
        StorageError: the path is relative, and the current folder was removed.
    """
    named = os.fsdecode(path)
    if os.path.isabs(named):
        return named
    here = _current_folder()
    if here is None:
        raise StorageError(f"{named} leads from the current folder, which was removed", _ELSEWHERE)
    return os.path.join(here, named)


def database_root(path: str | os.PathLike[str]) -> Path:
    """The ``.kbdb`` folder that a path names: itself, or the one in the folder it names.

    Raises:
        InvalidArgumentError: the path is empty.
        StorageError: it is relative, and the current folder was removed.
    """
    if not os.fspath(path):
        raise InvalidArgumentError("the path of the database is empty", "name the folder that holds .kbdb")
    named = Path(absolute(Path(path).expanduser()))
    folder = (named.parent if named.name == DATABASE_FOLDER else named).resolve()
    return folder if folder.name == DATABASE_FOLDER else folder / DATABASE_FOLDER


def locate(named: str | os.PathLike[str] | None = None, environ: Mapping[str, str] = os.environ) -> Location:
    """The database a command means: the named one, else $KBDB_DB, else the nearest upwards, else the user's.

    Args:
        named: the value of ``--db``, if given.
        environ: the environment to look in.
    """
    return _explicit(named, environ) or locate_from(_current_folder())


def locate_from(here: Path | None) -> Location:
    """The database that a command without ``--db`` and $KBDB_DB means: the nearest upwards, else the user's.

    Args:
        here: the folder it runs in; None when that was deleted.
    """
    for folder in (here, *here.parents) if here else ():
        if os.path.isdir(folder / DATABASE_FOLDER):
            reason = "it is in the current folder" if folder == here else "it is the nearest above the current folder"
            return Location(database_root(folder), "nearest", reason)
    why = (
        f"neither the current folder nor one above it has a {DATABASE_FOLDER}" if here else "the current folder is gone"
    )
    reason = f"{why}, so the user's database is meant"
    return Location(database_root(Path.home() / USER_DATABASE), "user", reason)


def locate_new(named: str | os.PathLike[str] | None = None, environ: Mapping[str, str] = os.environ) -> Location:
    """Where ``init`` creates a database: as named, else $KBDB_DB, else in the current folder."""
    return _explicit(named, environ) or Location(database_root(os.curdir), "here", "it is the current folder")


def _explicit(named: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> Location | None:
    if named is not None:
        return Location(database_root(named), "option", "--db names it")
    if value := environ.get(DATABASE_VARIABLE):
        return Location(database_root(value), "environment", f"${DATABASE_VARIABLE} names it")
    return None


def _current_folder() -> Path | None:
    """The current folder, or None when it was deleted under us."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None
