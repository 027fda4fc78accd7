"""``daemon``: the process that answers for a database. Commands start it themselves; these are for people who look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbdb.cli.exits import Exit
from kbdb.cli.output import write_text
from kbdb.cli.render.daemon import draw_daemon, draw_logs, draw_stopped
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import DaemonLostError

if TYPE_CHECKING:
    from pathlib import Path


STATUS_PATIENCE_S = 2.0
"""How long a daemon may take to tell what it is doing; one that works does so at once."""


def start(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Start the daemon; nothing happens where one runs."""
    session = Session.of(context, db, as_json_)
    return _answer(session, _started(session.existing()))


def stop(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Stop the daemon; exit code 3 where none ran.

    A learn under way ends after the current document and tells what it stored; other long runs end and change nothing.
    """
    from kbdb.client.stop import stop as end

    session = Session.of(context, db, as_json_)
    stopped = end(session.existing())
    session.answer({"running": False, "stopped": stopped}, draw_stopped, dict)
    return Exit.DONE if stopped else Exit.NOTHING_FOUND


def restart(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Stop the daemon and start it again, as after a change of worker.toml or synonyms.toml."""
    from kbdb.client.stop import stop as end
    from kbdb.config import load
    from kbdb.paths import Layout

    session = Session.of(context, db, as_json_)
    root = session.existing()
    # With a setting that is not allowed, the daemon that runs is better than none.
    load(Layout(root).config)
    end(root)
    return _answer(session, _started(root))


def status(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Show whether a daemon runs, and what it is doing; exit code 3 where none runs."""
    session = Session.of(context, db, as_json_)
    facts = status_of(session.existing())
    _answer(session, facts)
    return Exit.NOTHING_FOUND if facts is None else Exit.DONE


def logs(
    context: typer.Context,
    lines: Annotated[int, typer.Option("--lines", "-n", metavar="N", min=1, help="How many lines from its end.")] = 50,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Show the end of the daemon's log."""
    from kbdb.client.address import log_path
    from kbdb.daemon.log import last_lines

    session = Session.of(context, db, as_json_)
    path = log_path(session.existing())
    told = last_lines(path, lines)
    session.answer({"path": str(path), "lines": told}, draw_logs, dict)
    return Exit.DONE if told else Exit.NOTHING_FOUND


def run(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Run the daemon here, in the foreground, until Ctrl-C.

    Its log goes to standard error, too; --json tells once that it is ready, as daemon start does.
    """
    from kbdb.daemon.process import run as serve

    session = Session.of(context, db, as_json_)
    root = session.existing()
    told = []

    def ready(facts: dict[str, Any]) -> None:
        told.append(facts)
        if session.as_json:
            _answer(session, {"answers": True, **facts})

    code = serve(root, ready=ready)
    if not told:
        _answer(session, status_of(root))
    return code


def daemon_help(context: typer.Context) -> None:
    """Look after the process that answers for a database."""
    if context.invoked_subcommand is None:
        write_text(context.get_help() + "\n")


def _answer(session: Session, facts: dict[str, Any] | None) -> int:
    session.answer({"running": facts is not None, **(facts or {})}, draw_daemon, dict)
    return Exit.DONE


def _started(root: Path) -> dict[str, Any]:
    from kbdb.client.client import Client

    with Client(root) as client:
        return {"answers": True, **client.daemon_status()}


def status_of(root: Path) -> dict[str, Any] | None:
    """What the daemon tells, or that it does not answer; None where there is none.

    ``settings_current`` says whether worker.toml and synonyms.toml are as it read them.
    """
    from kbdb.client.address import owner
    from kbdb.client.client import Client
    from kbdb.config import settings_digest
    from kbdb.paths import Layout

    try:
        with Client(root, start=False, timeout_s=STATUS_PATIENCE_S) as client:
            told = client.daemon_status()
            current = told.get("settings") == settings_digest(Layout(root))
            return {"answers": True, **told, "settings_current": current}
    except DaemonLostError:
        found = owner(root)
        if found is None or not found.is_daemon:
            return None
        return {"answers": False, "pid": found.pid}
