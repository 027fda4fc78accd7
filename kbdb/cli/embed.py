"""``embed``: the model that vectors come from."""

from __future__ import annotations

import os
import sys

import typer

from kbdb.cli.exits import Exit
from kbdb.cli.output import write_text
from kbdb.cli.progress import ProgressBar
from kbdb.cli.render.embed import draw_fetched
from kbdb.cli.session import Db, Json, Session
from kbdb.paths import Layout


def fetch(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Download the embedding model from embedding.model_url.

    It goes to a folder of the user's that all databases share. A download that was stopped goes on where it ended; the
    file is used only if its SHA-256 is right.
    """
    from kbdb.config import load
    from kbdb.embed.fetch import fetch as get

    session = Session.of(context, db, as_json_)
    config = load(Layout(session.existing()).config).embedding
    with ProgressBar(sys.stderr) as bar:
        fetched = get(config, os.environ, bar.show)
    session.answer(fetched, draw_fetched)
    return Exit.DONE


def embed_help(context: typer.Context) -> None:
    """Get the model that gives searches by meaning their vectors."""
    if context.invoked_subcommand is None:
        write_text(context.get_help() + "\n")
