"""``daemon``: the process that answers for a database. Commands start it themselves; these are for people who look."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbdb.cli.exits import Exit
from kbdb.cli.output import write_text
from kbdb.cli.render.daemon import draw_daemon, draw_logs
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import DaemonLostError, DaemonStartError

if TYPE_CHECKING:
    from pathlib import Path

    from kbdb.client.client import Client

STOP_PATIENCE_S = 60.0
"""How long a daemon may take to end: it finishes what it took on, and writes the index."""

STOP_PAUSE_S = 0.05


def start(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Start the daemon; nothing happens where one runs."""
    session = Session.of(context, db, as_json_)
    return _answer(session, _started(session.existing()))


def stop(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Stop the daemon, once it has done what it took on."""
    session = Session.of(context, db, as_json_)
    was_running = _stop(session.existing())
    _answer(session, None)
    return Exit.DONE if was_running else Exit.NOTHING_FOUND


def restart(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Stop the daemon and start it again, as after a change of worker.toml or synonyms.toml."""
    session = Session.of(context, db, as_json_)
    root = session.existing()
    _stop(root)
    return _answer(session, _started(root))


def status(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Show whether a daemon runs, and what it is doing."""
    session = Session.of(context, db, as_json_)
    running = _running(session.existing())
    if running is None:
        _answer(session, None)
        return Exit.NOTHING_FOUND
    with running:
        return _answer(session, dict(running.daemon_status()))


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
    """Run the daemon here, in the foreground, until Ctrl-C."""
    from kbdb.daemon.process import run as serve

    return serve(Session.of(context, db, as_json_).existing())


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
        return dict(client.daemon_status())


def _running(root: Path) -> Client | None:
    from kbdb.client.client import Client

    try:
        return Client(root, start=False)
    except DaemonLostError:
        return None


def _stop(root: Path) -> bool:
    """Stops the daemon and waits until the database is free; false where none ran."""
    from kbdb.client.address import owner

    running = _running(root)
    if running is None:
        return False
    pid = running.daemon_pid
    running.shutdown()
    until = time.monotonic() + STOP_PATIENCE_S
    while (found := owner(root)) is not None and found.pid == pid:
        if time.monotonic() > until:
            raise DaemonStartError(
                f"process {pid} has not ended within {STOP_PATIENCE_S:.0f} s", f"it may be writing: kill {pid} stops it"
            )
        time.sleep(STOP_PAUSE_S)
    return True
