"""``init``, ``status``, ``check``, ``rebuild`` and ``gc``: keeping a database."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kbdb.cli.exits import Exit
from kbdb.cli.progress import ProgressBar
from kbdb.cli.render.admin import draw_check, draw_created, draw_gc, draw_rebuilt, draw_status
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import UsageError
from kbdb.paths import locate_new


def init(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Create a database.

    It is made in the current folder, or where --db or $KBDB_DB says.
    """
    session = Session.of(context, db, as_json_)
    import kbdb

    with kbdb.init(locate_new(session.db).root) as kb:
        status = kb.status()
    session.answer({"database": status.database, "path": status.path}, draw_created, dict)
    return Exit.DONE


def status(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Show what the database holds, its size and what is stale."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        session.answer(kb.status(), draw_status)
    return Exit.DONE


def check(
    context: typer.Context,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Also report sections that mean nearly the same; needs their vectors.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", metavar="COSINE", help="How near they must be, up to 1; 0.95 by default.", show_default=False
        ),
    ] = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Verify every file and checksum, and the index against them.

    Duplicates are no faults: they leave the exit code alone. Among 100,000
    sections, looking for them takes a minute or more.
    """
    session = Session.of(context, db, as_json_)
    if threshold is not None and not duplicates:
        raise UsageError("--threshold goes with --duplicates", "kbdb check --duplicates --threshold 0.9")
    # One that is no number is none in JSON either, so that the daemon could not tell what was meant.
    if threshold is not None and not 0.0 < threshold <= 1.0:
        raise UsageError(f"--threshold is {threshold}", "use a cosine above 0 and up to 1, such as 0.95")
    with session.open() as kb, ProgressBar(sys.stderr) as progress:
        result = kb.check(progress.show, duplicates=duplicates, threshold=threshold)
    session.answer(result, draw_check)
    return Exit.DONE if result.ok else Exit.FAILED


def rebuild(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Make the index anew from the truth files alone.

    Where an embedding provider is configured, all sections are embedded again: that takes long, and a service may
    charge for it.
    """
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        with ProgressBar(sys.stderr) as progress:
            result = kb.rebuild(progress.show)
        session.answer(result, draw_rebuilt)
    return Exit.PARTLY_DONE if result.vector_embedding_failed else Exit.DONE


def gc(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be removed.")] = False,
    keep_days: Annotated[
        int | None,
        typer.Option("--keep-days", metavar="N", min=0, help="Days to keep what was retired; as worker.toml says."),
    ] = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Remove sections that nothing lists or may need again."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        with ProgressBar(sys.stderr) as progress:
            result = kb.gc(dry_run=dry_run, keep_days=keep_days, progress=progress.show)
        session.answer(result, draw_gc)
    return Exit.DONE


def db_help(context: typer.Context) -> None:
    """Manage databases."""
    if context.invoked_subcommand is None:
        from kbdb.cli.output import write_text

        write_text(context.get_help() + "\n")
