"""What parsing a source gives: ``ParsedDocument`` and its ``Part``s, passed on to the knowledge layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """One section-to-be.

    Attributes:
        title: plain text, one line, never empty unless the source has no name either.
        content: bytes of the source as they stand, heading line included, white space at the end left out.
        level: heading level 1 to 6; 0 for text before the first heading or without one.
        parent: index of the part this one stands under, -1 when none. Of a heading cut into several parts, the first.
        heading_path: titles of the headings above, outermost first, without its own.
        line: first line in the source, from 1.
        line_end: last line in the source, inclusive.
        gap: the white space (blanks, tabs, line ends) between this content and the next, or the end.
    """

    title: str
    content: bytes
    level: int
    parent: int
    heading_path: tuple[str, ...]
    line: int
    line_end: int
    gap: str


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A source taken apart. For text, ``head`` + each part's content + its ``gap`` is the decoded source exactly.

    Attributes:
        type: media type.
        title: front matter title, else first level-1 heading, else from the name or the first line.
        description: from front matter, else empty.
        tags: from front matter, in their order, distinct.
        head: what comes before the first part: byte-order mark, front matter, blank lines.
        parts: in source order; none for a source without text.
        warnings: what the user should know, such as front matter that could not be read.
    """

    type: str
    title: str
    description: str
    tags: tuple[str, ...]
    head: str
    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = ()


Parse = Callable[[bytes, str, str | None, str], ParsedDocument]
"""``kbdb.ingest.parse.parse``, or what does the same in another process."""
