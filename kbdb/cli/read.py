"""``recall``, ``retrieve`` and ``list``: reading what is stored."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kbdb.cli.arguments import DocFilter, Offset, SectionTypeFilter, TagFilter, Target, TypeFilter, kbid_or_docid
from kbdb.cli.exits import Exit
from kbdb.cli.output import write_bytes, write_json, write_note
from kbdb.cli.render.read import draw_list, draw_recall
from kbdb.cli.session import Db, Json, Session, object_of

StateName = Literal[
    "active", "superseded", "invalidated", "expired", "forgotten", "erased", "unlisted", "live", "retired"
]


def recall(
    context: typer.Context,
    kbids: Annotated[list[str], typer.Argument(metavar="KBID...", help="Sections to recall.", show_default=False)],
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="0-3",
            min=0,
            max=3,
            help="How many links to follow from each section; none, or what --max-tokens allows.",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", min=1, help="Budget for the texts."),
    ] = None,
    format_: Annotated[
        Literal["full", "compact"], typer.Option("--format", help="compact leaves the surroundings out.")
    ] = "full",
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Read sections with the links and siblings around them."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        wanted = [kbid_or_docid(kbid)[0] or kbid for kbid in kbids]
        answer = kb.recall(kbids=wanted, depth=depth, max_tokens=max_tokens, format=format_)
    session.answer(answer, draw_recall)
    if answer.missing or answer.omitted:
        return Exit.PARTLY_DONE if answer.results else Exit.NOTHING_FOUND
    return Exit.DONE


def retrieve(
    context: typer.Context,
    target: Target,
    lines: Annotated[
        str | None,
        typer.Option("--lines", metavar="A-B", help="Only these lines: 12-40, 12- or 12.", show_default=False),
    ] = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Write a section or document to standard output, byte for byte."""
    session = Session.of(context, db, as_json_)
    kbid, docid = kbid_or_docid(target)
    with session.open() as kb:
        view = kb.retrieve(kbid, docid, lines=lines)
    if session.as_json:
        write_json(object_of(view))
    else:
        write_bytes(view.content)
        if successor := getattr(view, "successor", ""):
            write_note(f"note: {kbid} was superseded; {successor} stands in its place now")
    return Exit.DONE


def list_(
    context: typer.Context,
    sections: Annotated[bool, typer.Option("--sections", help="List sections instead of documents.")] = False,
    state: Annotated[
        StateName | None,
        typer.Option(
            "--state", help="Only in this state; documents are live, retired or forgotten, sections the others."
        ),
    ] = None,
    tag: TagFilter = None,
    type_: TypeFilter = None,
    section_type: SectionTypeFilter = None,
    doc: DocFilter = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Lines on a page.")] = 50,
    offset: Offset = 0,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """List documents or sections."""
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        result = kb.list(
            "sections" if sections else "documents",
            state=state,
            tags=tuple(tag or ()),
            type=type_,
            section_type=section_type,
            docid=doc,
            limit=limit,
            offset=offset,
        )
    session.answer(result, draw_list)
    return Exit.DONE if result.items else Exit.NOTHING_FOUND
