"""``where`` and ``config``: which database and which settings are in force, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from kbdb.cli.daemon import status_of
from kbdb.cli.exits import Exit
from kbdb.cli.render.about import draw_config, draw_where
from kbdb.cli.session import Db, Json, Session
from kbdb.paths import Layout, Location

if TYPE_CHECKING:
    from kbdb.config import Config


@dataclass(frozen=True, slots=True)
class Settings:
    """The effective configuration, the file it may stand in, and what the daemon that runs tells, if one answers."""

    path: str
    exists: bool
    config: Config
    daemon: dict[str, Any] | None


def where(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Say which database is meant, and why.

    The exit code is 3 when it does not exist.
    """
    session = Session.of(context, db, as_json_)
    location = session.locate()
    session.answer(location, draw_where, where_as_json)
    return Exit.DONE if location.exists else Exit.NOTHING_FOUND


def config(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Show each setting in force and where it came from."""
    session = Session.of(context, db, as_json_)
    from kbdb.config import load

    location = session.locate()
    path = Layout(location.root).config
    settings = load(path)
    daemon = status_of(location.root) if location.exists else None
    answering = daemon if daemon and daemon["answers"] else None
    session.answer(Settings(str(path), path.is_file(), settings, answering), draw_config, config_as_json)
    return Exit.DONE


def where_as_json(location: Location) -> dict[str, Any]:
    """``path``, ``exists``, ``rule`` (option, environment, nearest, user) and ``reason``."""
    return {
        "path": str(location.root),
        "exists": location.exists,
        "rule": location.rule,
        "reason": location.reason,
    }


def config_as_json(settings: Settings) -> dict[str, Any]:
    """``path``, ``exists``, for each key its ``value`` and ``origin``, and whether a daemon that answers has these."""
    config = settings.config
    values = {key: {"value": value, "origin": config.origins[key]} for key, value in config.values.items()}
    told = settings.daemon and {name: settings.daemon[name] for name in ("pid", "settings_current")}
    return {"path": settings.path, "exists": settings.exists, "values": values, "daemon": told}
