"""``search``: find sections by words."""

from __future__ import annotations

from typing import Annotated

import typer

from kbdb.cli.arguments import DocFilter, Mode, Offset, SectionTypeFilter, TagFilter, TypeFilter, is_unicode
from kbdb.cli.exits import Exit
from kbdb.cli.render.search import draw_search
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import InvalidArgumentError


def search(
    context: typer.Context,
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY...",
            help='Words; also "a phrase", -without, prefix*, title:word, tag:name, type:name, doc:id.',
            show_default=False,
        ),
    ],
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Hits on a page; 10 unless worker.toml says otherwise."),
    ] = None,
    offset: Offset = 0,
    content: Annotated[bool, typer.Option("--content", help="Show whole sections instead of snippets.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show each word's share of the score.")] = False,
    mode: Annotated[
        Mode | None, typer.Option("--mode", help="How to search; lexical unless worker.toml says otherwise.")
    ] = None,
    tag: TagFilter = None,
    type_: TypeFilter = None,
    section_type: SectionTypeFilter = None,
    doc: DocFilter = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Find sections by words, best first.

    Words are OR-ed and ranked; filters never change scores. A query that begins with - goes after --.
    """
    session = Session.of(context, db, as_json_)
    words = " ".join(query)
    if not is_unicode(words):
        raise InvalidArgumentError("the query is not UTF-8", "set the terminal, or what wrote the query, to UTF-8")
    with session.open() as kb:
        result = kb.search(
            words,
            mode=mode,
            limit=limit,
            offset=offset,
            content=content,
            explain=explain,
            tags=tuple(tag or ()),
            type=type_,
            section_type=section_type,
            docid=doc,
        )
    session.answer(result, draw_search)
    if result.unreadable:
        return Exit.PARTLY_DONE
    return Exit.DONE if result.hits else Exit.NOTHING_FOUND
