"""``skill``: templates with ``{{argument}}`` markers, which agents' hosts show as prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from kbdb.cli.arguments import Description, Prompt, Reason, TextFile, Values, comma_list, text_at, values_of
from kbdb.cli.exits import Exit
from kbdb.cli.output import write_text
from kbdb.cli.render.learn import draw_unlearned
from kbdb.cli.render.skill import draw_added_skill, draw_skill, draw_skills
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import UsageError

if TYPE_CHECKING:
    from kbdb.model.skill import ArgumentType, SkillArgument

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Its name, in kebab-case: deploy-service.", show_default=False)
]


def add(
    context: typer.Context,
    name: Name,
    path: TextFile,
    description: Description = None,
    arguments: Annotated[
        list[str] | None,
        typer.Option(
            "--argument",
            metavar="NAME[?][:TYPE[:TEXT]]",
            help="Says of an argument that it is a string, number or boolean, and what it is for; ? lets it be left "
            "out. May be repeated; what was said before of other arguments stays.",
        ),
    ] = None,
    tags: Annotated[str | None, typer.Option("--tags", metavar="A,B", help="Tags, divided by commas.")] = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Store a skill; it takes the place of the one of that name.

    Its arguments are the {{name}} markers in its text.
    """
    session = Session.of(context, db, as_json_)
    declared = tuple(map(_argument, arguments or ()))
    body = text_at(path)
    with session.open() as kb:
        added = kb.add_skill(name, body, description=description, arguments=declared, tags=comma_list(tags))
    session.answer(added, draw_added_skill)
    return Exit.PARTLY_DONE if added.suppressed else Exit.DONE


def list_(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """List all skills, those that come with kbdb first."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        session.answer(kb.skills(), draw_skills)
    return Exit.DONE


def show(
    context: typer.Context,
    name: Name,
    arg: Values = None,
    prompt: Prompt = False,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Show a skill, or the prompt that it makes."""
    session = Session.of(context, db, as_json_)
    values = values_of(arg) if arg or prompt else None
    with session.open() as kb:
        skill = kb.skill(name, values)
    if skill.prompt is not None and not session.as_json:
        write_text(skill.prompt if skill.prompt.endswith("\n") else skill.prompt + "\n")
    else:
        session.answer(skill, draw_skill)
    return Exit.DONE


def remove(context: typer.Context, name: Name, reason: Reason = "", db: Db = None, as_json_: Json = False) -> int:
    """Take a skill out of all answers; see restore."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        session.answer(kb.remove_skill(name, reason=reason), draw_unlearned)
    return Exit.DONE


def skill_help(context: typer.Context) -> None:
    """Keep templates that agents' hosts show as prompts."""
    if context.invoked_subcommand is None:
        write_text(context.get_help() + "\n")


def _argument(written: str) -> SkillArgument:
    """What ``NAME[?][:TYPE[:TEXT]]`` declares; whether it may be so is for the verb to say."""
    from kbdb.model.skill import SkillArgument

    name, _, rest = written.partition(":")
    kind, _, text = rest.partition(":")
    required = not name.endswith("?")
    kind = kind.strip() or "string"
    if not name.rstrip("?"):
        raise UsageError(f"--argument {written!r} has no name", "write it like --argument count:number:how many")
    if kind not in ("string", "number", "boolean"):
        raise UsageError(f"--argument {written!r} has the type {kind!r}", "use string, number or boolean")
    return SkillArgument(name.removesuffix("?"), cast("ArgumentType", kind), text.strip(), required)
