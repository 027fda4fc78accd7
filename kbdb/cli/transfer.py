"""``export`` and ``import``: a database's truth as plain files, out and in."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kbdb.cli.arguments import path_of
from kbdb.cli.exits import Exit
from kbdb.cli.progress import ProgressBar
from kbdb.cli.render.admin import draw_exported, draw_imported
from kbdb.cli.session import Db, Json, Session


def export(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Folder to write.")] = "kbdb-export",
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Write sections, documents and events to a folder.

    A list of hashes goes with them; indexes do not.
    """
    session = Session.of(context, db, as_json_)
    folder = path_of(path)
    with session.open() as kb:
        with ProgressBar(sys.stderr) as progress:
            result = kb.export(folder, progress.show)
        session.answer(result, draw_exported)
    return Exit.DONE


def import_(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Folder that export wrote.", show_default=False)],
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Add what an export holds.

    All hashes are verified before anything is written.
    """
    session = Session.of(context, db, as_json_)
    folder = path_of(path)
    with session.open() as kb:
        with ProgressBar(sys.stderr) as progress:
            result = kb.import_(folder, progress.show)
        session.answer(result, draw_imported)
    return Exit.DONE
