"""``group`` and ``ungroup``: documents made of sections that are stored already."""

from __future__ import annotations

from typing import Annotated

import typer

from kbdb.cli.arguments import comma_list
from kbdb.cli.exits import Exit
from kbdb.cli.render.group import draw_grouped, draw_ungrouped
from kbdb.cli.session import Db, Json, Session


def group(
    context: typer.Context,
    kbids: Annotated[
        list[str], typer.Argument(metavar="KBID...", help="Sections, in the order to list them.", show_default=False)
    ],
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the grouping.", show_default=False)],
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it is about.")] = "",
    tags: Annotated[str | None, typer.Option("--tags", metavar="A,B", help="Tags, divided by commas.")] = None,
    docid: Annotated[
        str | None, typer.Option("--docid", metavar="DOCID", help="Id of the grouping to make or change.")
    ] = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """List stored sections in a further document, in an order of its own.

    They also stay where they are. A grouping of the same title or docid gets these sections instead of those it had.
    """
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        wanted = [kbid.strip().lower() for kbid in kbids]
        grouped = kb.group(wanted, title, docid=docid, description=description, tags=comma_list(tags))
    session.answer(grouped, draw_grouped)
    return Exit.DONE


def ungroup(
    context: typer.Context,
    docid: Annotated[
        str, typer.Argument(metavar="DOCID", help="A grouping, or another document without a file.", show_default=False)
    ],
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """End a grouping; sections that stand nowhere else get documents of their own."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        session.answer(kb.ungroup(docid.strip()), draw_ungrouped)
    return Exit.DONE
