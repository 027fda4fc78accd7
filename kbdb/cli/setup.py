"""``setup``: puts kbdb's server into the settings of a program that talks to agents, or takes it out."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbdb.cli.exits import Exit
from kbdb.cli.output import write_json, write_text
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import UsageError

if TYPE_CHECKING:
    from kbdb.setup.change import Change
    from kbdb.setup.clients import Client, Folders, Scope
    from kbdb.setup.overview import Seen
    from kbdb.setup.server import Server


@dataclass(frozen=True, slots=True)
class Done:
    """What ``setup`` did to one file, or would.

    Attributes:
        change: what it is.
        written: whether the file was.
        missing: how to make the database that the entry uses; empty where there is one.
    """

    change: Change
    written: bool
    missing: str


def setup(
    context: typer.Context,
    client: Annotated[
        str | None,
        typer.Argument(
            metavar="[CLIENT]",
            help="claude-code, claude-desktop, cursor, vscode, codex, gemini or opencode; without one, shows them all.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option("--scope", metavar="project|user", help="For this project, or for all of the user's."),
    ] = None,
    print_: Annotated[bool, typer.Option("--print", help="Only write what to paste by hand.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change, and write nothing.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take kbdb out again.")] = False,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Let an agent's program start kbdb: put its server into the program's settings.

    The rest of the file stays as it is, to the byte. Saying it twice changes nothing the second time. Options
    of kbdb mcp that are in the entry stay, such as --read-only; --remove takes them out with it.
    """
    session = Session.of(context, db, as_json_)
    if print_ and (dry_run or remove):
        raise UsageError("--print stands alone", "--dry-run shows the change, also of --remove")
    if client is None:
        if scope or print_ or dry_run or remove:
            raise UsageError("which program?", "name it: kbdb setup claude-code; kbdb setup lists them all")
        from kbdb.cli.render.setup import draw_overview
        from kbdb.setup.overview import overview

        session.answer(overview(_folders(), session.locate()), draw_overview, overview_as_json)
        return Exit.DONE
    from kbdb.setup.clients import client as client_of

    chosen = client_of(client)
    if print_:
        return _print(session, chosen, scope)
    from kbdb.cli.render.setup import draw_done

    session.answer(_change(session, chosen, scope, write=not dry_run, remove=remove), draw_done, done_as_json)
    return Exit.DONE


def _change(session: Session, of: Client, wanted: str | None, *, write: bool, remove: bool) -> Done:
    from kbdb.setup.change import adding, removing
    from kbdb.setup.clients import scope_of

    scope, folders = scope_of(of, wanted), _folders()
    if remove:
        change = removing(of, scope, folders)
    else:
        change = adding(of, scope, folders, _server(session, of, scope, folders))
    if write:
        change.write()
    return Done(change, write and bool(change.diff), _missing(session, change))


def _print(session: Session, of: Client, wanted: str | None) -> int:
    from kbdb.setup.change import snippet
    from kbdb.setup.clients import scope_of

    scope, folders = scope_of(of, wanted), _folders()
    text, entry = snippet(of, _server(session, of, scope, folders))
    if session.as_json:
        file = str(folders.file(of.files[scope][0]))
        write_json({"client": of.name, "scope": scope, "file": file, "entry": entry, "snippet": text})
    else:
        write_text(text)
    return Exit.DONE


def _server(session: Session, of: Client, scope: Scope, folders: Folders) -> Server:
    from kbdb.setup.server import server

    return server(of, scope, session.locate(), folders.project)


def _missing(session: Session, change: Change) -> str:
    """How to make the database that an entry uses, where there is none yet."""
    root = change.server.root if change.server else None
    if root is None or os.path.isdir(root):
        return ""
    location = session.locate()
    by = "kbdb init creates one here; then run this again"
    if root != location.root:
        by = f"kbdb init --db {root.parent} creates it; kbdb setup {change.client.name} --db PATH takes another"
    elif location.rule == "option":
        by = f"kbdb init --db {session.db} creates it"
    elif location.rule == "environment":
        by = "kbdb init creates it"
    return f"there is no database at {root} yet: {by}"


def _folders() -> Folders:
    from kbdb.setup.clients import Folders, project_folder

    home = Path.home()
    return Folders(project_folder(Path.cwd(), home), home, os.environ, sys.platform)


def done_as_json(done: Done) -> dict[str, Any]:
    """``client scope file action changed written diff entry kept[] left_out[] database``."""
    change = done.change
    return {
        "client": change.client.name,
        "scope": change.scope,
        "file": str(change.file),
        "action": change.action,
        "changed": bool(change.diff),
        "written": done.written,
        "diff": change.diff,
        "entry": change.entry,
        "kept": list(change.kept),
        "left_out": list(change.left_out),
        "database": change.server.database if change.server else None,
    }


def overview_as_json(seen: tuple[Seen, ...]) -> dict[str, Any]:
    """``clients[]``: ``client title installed settings[]``; a setting: ``scope file exists kbdb fault``."""
    return {
        "clients": [
            {
                "client": one.client.name,
                "title": one.client.title,
                "installed": one.installed,
                "settings": [
                    {
                        "scope": setting.scope,
                        "file": str(setting.file),
                        "exists": setting.exists,
                        "kbdb": setting.state,
                        "fault": setting.fault,
                    }
                    for setting in one.settings
                ],
            }
            for one in seen
        ]
    }
