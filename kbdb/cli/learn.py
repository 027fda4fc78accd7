"""``learn``, ``unlearn`` and ``restore``: what changes the knowledge."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kbdb.cli.arguments import STDIN, SectionType, Target, comma_list, kbid_or_docid, path_of
from kbdb.cli.exits import Exit
from kbdb.cli.progress import ProgressBar
from kbdb.cli.render.learn import draw_learned, draw_restored, draw_unlearned
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import UsageError

if TYPE_CHECKING:
    from kbdb.model.learn import AddSectionResult


def learn(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files and folders; - reads standard input.", show_default=False),
    ],
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the document.")] = None,
    description: Annotated[str | None, typer.Option("--description", metavar="TEXT", help="What it is about.")] = None,
    tags: Annotated[str | None, typer.Option("--tags", metavar="A,B", help="Tags, divided by commas.")] = None,
    type_: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Media type, such as text/markdown; else the file's name tells."),
    ] = None,
    section_type: Annotated[
        SectionType | None,
        typer.Option(
            "--section-type",
            help="What the sections are for; else default. A skill or agent is one whole file, "
            "called by its title in kebab-case.",
        ),
    ] = None,
    docid: Annotated[
        str | None, typer.Option("--docid", metavar="DOCID", help="Id of the document to make or renew.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Supersede the section of the same title instead of standing beside it.")
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="GLOB", help="In folders, only files that match; may be repeated."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="GLOB", help="In folders, no files that match; may be repeated."),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Retire documents whose file is gone from a learned folder.")
    ] = False,
    wait_embeddings: Annotated[
        bool,
        typer.Option("--wait-embeddings", help="Answer once searches by meaning find it, too; else that follows."),
    ] = False,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Learn files, folders or standard input.

    Learning a file again stores what changed and retires what is gone; an unchanged file costs nothing.
    """
    session = Session.of(context, db, as_json_)
    named = [path_of(path) for path in paths]
    content = _standard_input(paths)
    with session.open() as kb, ProgressBar(sys.stderr) as progress:
        result = kb.learn(
            None if content is not None else named,
            content=content,
            title=title,
            type=type_,
            section_type=section_type,
            description=description,
            tags=comma_list(tags),
            docid=docid,
            replace=replace,
            include=tuple(include or ()),
            exclude=tuple(exclude or ()),
            prune=prune,
            wait_embeddings=wait_embeddings,
            progress=progress.show,
        )
    session.answer(result, draw_learned)
    return _learned_exit(result, wait_embeddings)


def unlearn(
    context: typer.Context,
    target: Target,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept with the receipt.")] = "",
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Take a section or document out of all answers; see restore."""
    session = Session.of(context, db, as_json_)
    kbid, docid = kbid_or_docid(target)
    with session.open() as kb:
        session.answer(kb.unlearn(kbid, docid, reason=reason), draw_unlearned)
    return Exit.DONE


def restore(context: typer.Context, target: Target, db: Db = None, as_json_: Json = False) -> int:
    """Bring an unlearned section or document back."""
    session = Session.of(context, db, as_json_)
    kbid, docid = kbid_or_docid(target)
    with session.open() as kb:
        session.answer(kb.restore(kbid, docid), draw_restored)
    return Exit.DONE


def _standard_input(paths: list[str]) -> bytes | None:
    """What standard input holds when the one path is ``-``, else None."""
    if STDIN not in paths:
        return None
    if len(paths) > 1:
        raise UsageError("- stands for standard input and cannot be mixed with paths", "learn them in two calls")
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal", "pipe or redirect text into it: kbdb learn - < notes.md")
    return sys.stdin.buffer.read()


def _learned_exit(result: AddSectionResult, wait_embeddings: bool) -> Exit:
    failed = sum(document.status == "failed" for document in result.documents)
    if result.interrupted:
        return Exit.INTERRUPTED
    if failed:
        return Exit.FAILED if failed == len(result.documents) else Exit.PARTLY_DONE
    if wait_embeddings and result.vector_embedding_failed:
        return Exit.PARTLY_DONE
    return Exit.DONE if result.documents or result.pruned or result.missing else Exit.NOTHING_FOUND
