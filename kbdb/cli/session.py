"""What every command shares: which database is meant, whether the answer is JSON, opening and answering."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from kbdb.cli.output import write_json, write_text
from kbdb.cli.render.paper import Paper
from kbdb.errors import NotADatabaseError, UsageError
from kbdb.paths import Location, locate

if TYPE_CHECKING:
    from pathlib import Path

    from kbdb.client.client import Client
    from kbdb.knowledge import KnowledgeBase

Value = TypeVar("Value")

DAEMON_VARIABLE = "KBDB_DAEMON"

Db = Annotated[
    str | None,
    typer.Option("--db", metavar="PATH", help="The folder that holds .kbdb, or .kbdb itself.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")]


@dataclass(frozen=True, slots=True)
class Session:
    """One command's surroundings.

    Attributes:
        db: the value of ``--db``, None when not given.
        as_json: whether ``--json`` was.
    """

    db: str | None = None
    as_json: bool = False

    @classmethod
    def of(cls, context: typer.Context, db: str | None, as_json: bool) -> Session:
        """Unites the options given after the command with those before it."""
        before = context.find_object(Session) or Session()
        chosen = before.db if db is None else db
        if chosen == "":
            raise UsageError("--db is empty", "name the folder that holds .kbdb")
        return cls(chosen, as_json or before.as_json)

    def locate(self) -> Location:
        """The database that is meant; it need not exist."""
        return locate(self.db)

    def existing(self) -> Path:
        """The ``.kbdb`` folder of the database that is meant.

        Raises:
            NotADatabaseError: there is none; says why it was looked for there.
        """
        location = self.locate()
        if not location.exists:
            raise NotADatabaseError(
                f"no database at {location.root} ({location.reason})",
                "kbdb init creates one in the current folder; --db PATH or $KBDB_DB names another place",
            )
        return location.root

    def open(self) -> KnowledgeBase | Client:
        """The database that is meant: by its daemon, which is started where none runs, unless that is switched off.

        Raises:
            NotADatabaseError: there is none.
            DaemonStartError: no daemon came up; says why.
        """
        root = self.existing()
        if wants_daemon():
            from kbdb.client.client import Client

            return Client(root)
        import kbdb

        return kbdb.open(root)

    def answer(
        self,
        value: Value,
        draw: Callable[[Value, Paper], str],
        as_object: Callable[[Value], dict[str, Any]] | None = None,
    ) -> None:
        """Writes a result to stdout.

        Args:
            value: the result.
            draw: makes its text for people.
            as_object: makes its JSON object, where that is not ``kbdb.model.as_json``.
        """
        import sys

        if self.as_json:
            write_json(as_object(value) if as_object else object_of(value))
        else:
            write_text(draw(value, Paper.for_stream(sys.stdout)))


def wants_daemon() -> bool:
    """Whether commands go through a daemon: they do, unless ``$KBDB_DAEMON`` is ``off``."""
    wish = os.environ.get(DAEMON_VARIABLE, "")
    if wish not in ("", "on", "off"):
        raise UsageError(f"${DAEMON_VARIABLE} is {wish!r}", "it may be on or off")
    return wish != "off"


def object_of(value: Any) -> dict[str, Any]:
    """The JSON object of a model value."""
    from kbdb.model.to_json import as_json

    answer: dict[str, Any] = as_json(value)
    return answer
