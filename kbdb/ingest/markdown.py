"""Markdown to parts: a section for each top-level heading, and one for the text before the first."""

from __future__ import annotations

from kbdb.ingest.blocks import Heading, scan
from kbdb.ingest.document import ParsedDocument
from kbdb.ingest.front_matter import read_front_matter
from kbdb.ingest.inline import cut_title, one_line, plain_text, without_attributes
from kbdb.ingest.lines import BLANK, split_lines
from kbdb.ingest.media import MARKDOWN
from kbdb.ingest.sections import Start, first_text, parts_of
from kbdb.ingest.split import BLOCK_LIMIT, PIECE, Tier

_FIRST_LINE_LIMIT = 80


def parse_markdown(text: str, stem: str, title: str = "", media_type: str = MARKDOWN) -> ParsedDocument:
    """Takes a Markdown source apart.

    Args:
        text: the decoded source, byte-order mark included.
        stem: the source's name, the title of last resort; empty when it has none, then the first line serves.
        title: the document's title when the caller knows better than the source.
        media_type: what the result says it is.
    """
    body = 1 if text.startswith("\ufeff") else 0
    matter = read_front_matter(text, body)
    lines = split_lines(text, matter.end if matter else body)
    blocks = scan(lines.texts)
    titles = [heading_title(heading.text) for heading in blocks.headings]
    title = title or (matter.title if matter else "")
    title = title or next((t for t, h in zip(titles, blocks.headings, strict=True) if h.level == 1 and t), "")
    first = first_text(lines)
    title = cut_title(title or stem or _first_line(lines.texts, first, blocks.headings, titles))
    starts = [
        Start(lines.starts[heading.line], heading.level, own)
        for heading, own in zip(blocks.headings, titles, strict=True)
    ]
    if first is not None and not (blocks.headings and blocks.headings[0].line <= first):
        starts.insert(0, Start(lines.starts[first], 0, ""))

    def tiers() -> list[Tier]:
        text_lines = [index for index, line in enumerate(lines.texts) if line.strip(BLANK)]
        after_blank = [index for index in text_lines if index and not lines.texts[index - 1].strip(BLANK)]
        holds = (
            (blocks.starts, BLOCK_LIMIT),
            (blocks.items, BLOCK_LIMIT),
            (after_blank, PIECE),
            (text_lines, BLOCK_LIMIT),
        )
        return [Tier([lines.starts[index] for index in indexes], hold) for indexes, hold in holds]

    head, parts = parts_of(text, lines, starts, title, tiers)
    if matter is None:
        return ParsedDocument(media_type, title, "", (), head, parts)
    return ParsedDocument(media_type, title, matter.description, matter.tags, head, parts, matter.warnings)


def heading_title(markup: str) -> str:
    """The title that a heading's markup gives: without explicit id (``{ #slug }``), plain, of bounded length."""
    return cut_title(plain_text(without_attributes(markup)[0]))


def _first_line(texts: list[str], first: int | None, headings: list[Heading], titles: list[str]) -> str:
    """A title for a source without name: its first heading's, else its first line without markup."""
    if headings and titles[0]:
        return titles[0]
    if first is None:
        return ""
    line = texts[first].strip(BLANK).lstrip("#>*+- ") or texts[first]
    return cut_title(plain_text(line) or one_line(texts[first]), _FIRST_LINE_LIMIT)
