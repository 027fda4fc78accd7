"""``mcp``: the server that an agent's host starts. Plain command lines do not come here (``kbdb.__main__``)."""

from __future__ import annotations

from typing import Annotated

import typer

from kbdb.cli.session import Db, Json, Session
from kbdb.mcp.command import Options, ToolSet, serve


def mcp(
    context: typer.Context,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that writes.")] = False,
    tools: Annotated[
        ToolSet, typer.Option("--tools", help="Which tools to offer: all has those of maintenance, too.")
    ] = "core",
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Serve an agent's host over stdin and stdout, by the Model Context Protocol."""
    return serve(Options(Session.of(context, db, as_json).db, read_only, tools))
