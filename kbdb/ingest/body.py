"""The text of a section that is indexed as its body, and the anchors that lead to it: both follow from its heading."""

from __future__ import annotations

import re
from functools import lru_cache

from kbdb.ingest.blocks import scan
from kbdb.ingest.inline import plain_text, without_attributes
from kbdb.ingest.lines import BLANK, Lines, split_lines
from kbdb.ingest.media import MARKDOWN


def body_of(content: str, title: str, type: str) -> str:
    """``content`` without its heading line or lines, if it is Markdown that starts with a heading saying ``title``.

    A heading that says something else (cut short as a title, or another title given) is kept: its words would be lost.
    """
    if type.startswith(MARKDOWN) and (end := _after_plain_heading(content, title)):
        return content[end:].lstrip(BLANK)
    return _body_of(content, title, type)


@lru_cache(maxsize=1024)
def _body_of(content: str, title: str, type: str) -> str:
    heading = leading_heading(content) if type.startswith(MARKDOWN) else None
    if heading is None:
        return content
    markup, end = heading
    return content[end:].lstrip(BLANK) if plain_text(without_attributes(markup)[0]) in ("", title) else content


def _after_plain_heading(content: str, title: str) -> int:
    """The offset after a first line of ``#``, a blank and the title itself; 0 where that is not plain to see.

    Nearly every section begins so, and a title without marks reads the same as markup and as text.
    """
    level = len(content) - len(content.lstrip("#")) if content.startswith("#") else 0
    end = level + len(title) + 2
    if not 1 <= level <= 6 or content[level:end] != f" {title}\n":
        return 0
    plain = title.isprintable() and not _MARKS.search(title) and title == " ".join(title.split())
    return end if plain and title else 0


_MARKS = re.compile(r"[\\`*_~\[\]<>&!#{}]")


def leading_heading(content: str) -> tuple[str, int] | None:
    """The text, markup and all, of the heading that a section's content starts with, and the offset after it."""
    if content[:4].lstrip(" ")[:1] == "#":
        line = split_lines(content[: min(_first_line_end(content) + 2, len(content))])
        lines = Lines(line.texts[:1], line.starts[:2], 0)
    elif "\n=" in content or "\n-" in content or "\r" in content or "\n " in content:
        lines = split_lines(content)
    else:
        return None
    blank = next((index for index, line in enumerate(lines.texts) if not line.strip(BLANK)), len(lines.texts))
    headings = scan(lines.texts[:blank]).headings
    if not headings or headings[0].line:
        return None
    return headings[0].text, lines.starts[headings[0].end]


def _first_line_end(content: str) -> int:
    ends = [end for mark in "\r\n" if (end := content.find(mark)) != -1]
    return min(ends, default=len(content))
