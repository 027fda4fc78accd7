"""``agent``: a persona with skills, which agents' hosts show as a prompt."""

from __future__ import annotations

from typing import Annotated

import typer

from kbdb.cli.arguments import Description, Prompt, Reason, TextFile, Values, text_at, values_of
from kbdb.cli.exits import Exit
from kbdb.cli.output import write_text
from kbdb.cli.render.learn import draw_unlearned
from kbdb.cli.render.skill import draw_added_agent, draw_agent, draw_agents
from kbdb.cli.session import Db, Json, Session

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Its name, in kebab-case: code-reviewer.", show_default=False)
]


def add(
    context: typer.Context,
    name: Name,
    path: TextFile,
    description: Description = None,
    skills: Annotated[
        list[str] | None,
        typer.Option(
            "--skill",
            metavar="NAME|KBID",
            help="A skill that it has; may be repeated, in their order. Without any, it keeps those it had.",
        ),
    ] = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Store an agent; its persona takes the place of the one of that name."""
    session = Session.of(context, db, as_json_)
    persona = text_at(path)
    with session.open() as kb:
        added = kb.add_agent(name, persona, description=description, skills=skills or None)
    session.answer(added, draw_added_agent)
    return Exit.PARTLY_DONE if added.suppressed else Exit.DONE


def list_(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """List all agents; exit code 3 where there is none."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        found = kb.agents()
    session.answer(found, draw_agents)
    return Exit.DONE if found.items else Exit.NOTHING_FOUND


def show(
    context: typer.Context,
    name: Name,
    arg: Values = None,
    prompt: Prompt = False,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Show an agent, or the prompt that it makes."""
    session = Session.of(context, db, as_json_)
    values = values_of(arg) if arg or prompt else None
    with session.open() as kb:
        agent = kb.agent(name, values)
    if agent.prompt is not None and not session.as_json:
        write_text(agent.prompt)
    else:
        session.answer(agent, draw_agent)
    return Exit.DONE


def remove(context: typer.Context, name: Name, reason: Reason = "", db: Db = None, as_json_: Json = False) -> int:
    """Take an agent out of all answers; its skills stay. See restore."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        session.answer(kb.remove_agent(name, reason=reason), draw_unlearned)
    return Exit.DONE


def agent_help(context: typer.Context) -> None:
    """Keep personas and the skills that go with them."""
    if context.invoked_subcommand is None:
        write_text(context.get_help() + "\n")
