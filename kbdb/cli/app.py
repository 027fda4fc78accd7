"""The ``kbdb`` command line: every command in the order help shows them, and the edge where errors become text.

Commands parse, call one ``KnowledgeBase`` method and print; they return an exit code and raise ``KbdbError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core

from kbdb.cli.exits import Exit, exit_for
from kbdb.cli.output import write_error, write_json, write_text
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import InterruptedByUserError, KbdbError, StorageError, UsageError


class Commands(typer.core.TyperGroup):
    """A command group in which Ctrl-C is an error like any other, and so has an answer."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the chosen command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise InterruptedByUserError("interrupted", "what was acknowledged before is stored") from error


COMMANDS = {
    "init": "admin.init",
    "learn": "learn.learn",
    "search": "search.search",
    "similar": "search.similar",
    "recall": "read.recall",
    "retrieve": "read.retrieve",
    "list": "read.list_",
    "unlearn": "learn.unlearn",
    "restore": "learn.restore",
    "group": "group.group",
    "ungroup": "group.ungroup",
    "status": "admin.status",
    "check": "admin.check",
    "rebuild": "admin.rebuild",
    "gc": "admin.gc",
    "export": "transfer.export",
    "import": "transfer.import_",
    "mcp": "mcp.mcp",
    "where": "about.where",
    "config": "about.config",
    "doctor": "doctor.doctor",
    "setup": "setup.setup",
}
"""Every command, in the order help lists them, with the function in this folder that is it; ``GROUPS`` follow.

Only the module of the command that was typed is loaded: all of them take as long as a search.
"""

CLASSES = {"search": "search.SearchCommand"}
"""Commands that are more than a function."""

GROUPS = {
    "daemon": (
        "daemon.daemon_help",
        {
            "start": "daemon.start",
            "stop": "daemon.stop",
            "restart": "daemon.restart",
            "status": "daemon.status",
            "logs": "daemon.logs",
            "run": "daemon.run",
        },
    ),
    "skill": (
        "skill.skill_help",
        {"add": "skill.add", "list": "skill.list_", "show": "skill.show", "remove": "skill.remove"},
    ),
    "agent": (
        "agent.agent_help",
        {"add": "agent.add", "list": "agent.list_", "show": "agent.show", "remove": "agent.remove"},
    ),
    "embed": ("embed.embed_help", {"fetch": "embed.fetch"}),
    "db": ("admin.db_help", {"init": "admin.init"}),
}
"""Commands that have commands: what explains the group, and what is in it."""


def command_line(only: str = "") -> typer.Typer:
    """The whole command line, or what one command needs of it: reading all signatures takes longer than most commands.

    Args:
        only: a name of ``COMMANDS``; empty for all.
    """
    app = typer.Typer(
        name="kbdb",
        cls=Commands,
        help="A second brain for AI agents and for the people who work with them.",
        epilog="The database: --db, else $KBDB_DB, else the nearest .kbdb upwards, else ~/.local/share/kbdb. "
        "Exit codes: 0 done, 1 failed, 2 usage, 3 nothing found, 4 partly done, 130 interrupted.",
        context_settings={"help_option_names": ["-h", "--help"]},
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(before_command)
    for name in [only] if only else COMMANDS:
        app.command(name, cls=_named(CLASSES[name]) if name in CLASSES else None)(_named(COMMANDS[name]))
    for name in () if only else GROUPS:
        explain, commands = GROUPS[name]
        group = typer.Typer(cls=Commands, invoke_without_command=True, rich_markup_mode=None)
        group.callback()(_named(explain))
        for word, command in commands.items():
            group.command(word)(_named(command))
        app.add_typer(group, name=name)
    return app


def _named(place: str) -> Any:
    """A command's function or class."""
    module, _, name = place.partition(".")
    return getattr(import_module(f"kbdb.cli.{module}"), name)


def before_command(
    context: typer.Context,
    db: Db = None,
    as_json: Json = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> int:
    """Takes the options that may stand before the command."""
    context.obj = Session(db, as_json)
    if version:
        from kbdb import __version__

        write_text(f"kbdb {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        if as_json:
            raise UsageError("no command given", "kbdb --help lists the commands")
        write_text(context.get_help() + "\n")
    return Exit.DONE


def run(arguments: Sequence[str]) -> int:
    """Runs one command line.

    Args:
        arguments: the words after the program's name.

    Returns:
        The exit code.
    """
    only = arguments[0] if arguments and arguments[0] in COMMANDS else ""
    try:
        command = typer.main.get_command(command_line(only))
        code = command.main(args=list(arguments), prog_name="kbdb", standalone_mode=False)
        return int(code or Exit.DONE)
    except KbdbError as error:
        return _refuse(error, arguments)
    except typer.TyperException as error:
        return _refuse(_usage_error(error), arguments)
    except typer.Abort:
        return _refuse(InterruptedByUserError("interrupted"), arguments)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _refuse(StorageError(f"{place}{error.strerror or error}"), arguments)
    except Exception as error:
        import traceback

        traceback.print_exc()
        hint = "this is a fault of kbdb's; please report it with the lines on stderr"
        return _refuse(KbdbError(f"{type(error).__name__}: {error}", hint), arguments)


def _refuse(error: KbdbError, arguments: Sequence[str]) -> int:
    """Tells an error the way the command line asked for.

    The words are searched for ``--json`` because a command line that cannot be parsed must be answered, too.
    """
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    if "--json" in options:
        write_json(error.as_dict())
    else:
        write_error(error)
    return exit_for(error)


def _usage_error(error: typer.TyperException) -> UsageError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "kbdb"
    return UsageError(error.format_message().rstrip("."), f"{command} --help shows what it takes")
