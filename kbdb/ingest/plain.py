"""Plain text and source code to parts: one part, or several cut at blank lines when it is long. No headings."""

from __future__ import annotations

from kbdb.ingest.document import ParsedDocument
from kbdb.ingest.inline import cut_title, one_line
from kbdb.ingest.lines import BLANK, Lines, split_lines
from kbdb.ingest.media import PLAIN
from kbdb.ingest.sections import Start, first_text, parts_of
from kbdb.ingest.split import BLOCK_LIMIT, PIECE, Tier

_FIRST_LINE_LIMIT = 80


def parse_plain(text: str, name: str, media_type: str, title: str = "") -> ParsedDocument:
    """Takes plain text or source code apart.

    Args:
        text: the decoded source, byte-order mark included.
        name: title of last resort; empty when the source has no name, then the first line serves.
        media_type: ``text/plain`` or a type of source code, which prefers other borders.
        title: the document's title when the caller knows it.
    """
    lines = split_lines(text, 1 if text.startswith("\ufeff") else 0)
    first = first_text(lines)
    title = title or name
    if not title and first is not None:
        title = cut_title(one_line(lines.texts[first]), _FIRST_LINE_LIMIT)
    starts = [] if first is None else [Start(lines.starts[first], 0, "")]
    head, parts = parts_of(text, lines, starts, title, lambda: _tiers(lines, code=media_type != PLAIN))
    return ParsedDocument(media_type, title, "", (), head, parts)


def _tiers(lines: Lines, code: bool) -> list[Tier]:
    """Blank lines are borders; in code those before an unindented line, where a definition starts, are better ones."""
    text_lines = [index for index, line in enumerate(lines.texts) if line.strip(BLANK)]
    after_blank = [index for index in text_lines if index and not lines.texts[index - 1].strip(BLANK)]
    unindented = [index for index in after_blank if lines.texts[index][0] not in BLANK] if code else []
    holds = ((unindented, PIECE), (after_blank, PIECE), (text_lines, BLOCK_LIMIT))
    return [Tier([lines.starts[index] for index in indexes], hold) for indexes, hold in holds]
