"""``search`` and ``similar``: find sections by words, by meaning, or by another section's meaning."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.core

from kbdb.cli.arguments import (
    DocFilter,
    Mode,
    Offset,
    SectionTypeFilter,
    TagFilter,
    TypeFilter,
    is_unicode,
    kbid_or_docid,
)
from kbdb.cli.exits import Exit
from kbdb.cli.render.search import draw_search, draw_similar
from kbdb.cli.session import Db, Json, Session
from kbdb.errors import InvalidArgumentError, KbdbError

HELP = ("-h", "--help")


class SearchCommand(typer.core.TyperCommand):
    """``search``, whose help leaves --mode out where no provider is configured: every mode but lexical needs one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words after the command, which may ask for help."""
        if any(word in HELP for word in args):
            shown = _has_provider(ctx, self._database(ctx, args))
            for option in self.params:
                if option.name == "mode" and isinstance(option, typer.core.TyperOption):
                    option.hidden = not shown
        return super().parse_args(ctx, args)

    def _database(self, ctx: Any, args: list[str]) -> str | None:
        """What ``--db`` says, which may stand after ``--help``."""
        try:
            return self.make_parser(ctx).parse_args(args=list(args))[0].get("db")
        except typer.TyperException:
            return None


def _has_provider(context: Any, db: str | None) -> bool:
    """Whether the database that is meant has an embedding provider; help never fails, whatever is there."""
    from kbdb.config import load
    from kbdb.paths import Layout

    try:
        return load(Layout(Session.of(context, db, False).locate().root).config).embedding.provider != "none"
    except KbdbError:
        return False


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
    explain: Annotated[bool, typer.Option("--explain", help="Show what the scores are made of.")] = False,
    mode: Annotated[
        Mode | None,
        typer.Option(
            "--mode", help="By words, by meaning, or by both together; lexical unless worker.toml says otherwise."
        ),
    ] = None,
    tag: TagFilter = None,
    type_: TypeFilter = None,
    section_type: SectionTypeFilter = None,
    doc: DocFilter = None,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Find sections by words, or by meaning, best first.

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


def similar(
    context: typer.Context,
    kbid: Annotated[str, typer.Argument(metavar="KBID", help="The section's kbid.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many at most.")] = 10,
    db: Db = None,
    as_json_: Json = False,
) -> int:
    """Find the sections nearest in meaning to one.

    Their vectors are compared; worker.toml must name an embedding provider.
    """
    session = Session.of(context, db, as_json_)
    with session.open() as kb:
        result = kb.similar(kbid_or_docid(kbid)[0] or kbid, limit)
    session.answer(result, draw_similar)
    if result.unreadable:
        return Exit.PARTLY_DONE
    return Exit.DONE if result.hits else Exit.NOTHING_FOUND
