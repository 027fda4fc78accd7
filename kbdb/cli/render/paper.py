"""What human output is drawn on: how wide it is, whether it has colour, and text fitted to that.

Widths are terminal cells (a Chinese character takes two). Everything that comes from documents passes ``plain``
or ``cut`` first, so that no control character in them reaches the terminal.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TextIO

Style = Literal["strong", "match", "good", "warn", "bad", "dim"]

_CODES: dict[Style, str] = {"strong": "1", "match": "1;33", "good": "32", "warn": "33", "bad": "1;31", "dim": "2"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_WIDE = (
    r"\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    r"\U00020000-\U0003fffd"
)
_UNIT = rf"[{_WIDE}]|\s+|[^\s{_WIDE}]+"
"""What a line may not be broken inside of: words, and single characters of scripts without spaces.

Compiled when first needed, because so many characters take milliseconds; ``re`` remembers it.
"""

READABLE = 100
"""Running text is not set wider than this many cells, however wide the terminal."""


@dataclass(frozen=True, slots=True)
class Paper:
    """Attributes: ``width`` in cells, None for no limit (not a terminal); ``colour``."""

    width: int | None = None
    colour: bool = False

    @classmethod
    def for_stream(cls, stream: TextIO) -> Paper:
        """Paper as wide as the terminal behind a stream; endless and colourless where there is none."""
        if not stream.isatty():
            columns = os.environ.get("COLUMNS", "")
            return cls(max(20, int(columns)) if columns.isascii() and columns.isdigit() else None)
        colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return cls(max(20, shutil.get_terminal_size().columns), colour)

    def paint(self, text: str, style: Style) -> str:
        """The text in a style, or as it is without colour."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and text else text

    def plain(self, text: str) -> str:
        """One line of text: white space made single, control characters shown as escapes."""
        return visible(" ".join(text.split()))

    def cut(self, text: str, width: int | None) -> str:
        """``plain``, cut to ``width`` cells with an ellipsis."""
        text = self.plain(text)
        if width is None or cells(text) <= width:
            return text
        from rich.cells import set_cell_size

        return set_cell_size(text, max(0, width - 1)).rstrip() + "…"

    def wrapped(self, text: str, indent: int) -> list[tuple[int, int]]:
        """Where the lines of running text begin and end, so that each fits beside ``indent`` cells."""
        room = None if self.width is None else max(10, min(self.width, READABLE) - indent)
        return [(0, len(text))] if room is None else list(_lines(text, room))


def visible(text: str) -> str:
    """Control characters, bidirectional overrides and line separators as escapes; tabs and newlines stay."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def cells(text: str) -> int:
    """How many cells the text takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def size(count: int) -> str:
    """A number of bytes for people."""
    number = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 section``, ``2 sections``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def hashtag(tag: str) -> str:
    """``#word``, ``#"two words"``."""
    return f'#"{tag}"' if any(map(str.isspace, tag)) else f"#{tag}"


def milliseconds(duration: float) -> str:
    """A duration for people."""
    if duration >= 1000:
        return f"{duration / 1000:.1f} s"
    return f"{duration:.0f} ms" if duration >= 10 else f"{duration:.2f} ms"


def duration(seconds: float) -> str:
    """A longer time for people, in its largest unit."""
    for unit, length in (("day", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return counted(count, unit) if unit == "day" else f"{count} {unit}"
    return f"{seconds:.0f} s"


def joined(lines: Iterable[str]) -> str:
    """Lines as text that ends with a newline."""
    return "".join(f"{line}\n" for line in lines)


def notes(warnings: Iterable[str], paper: Paper) -> list[str]:
    """A line for each thing the user should know."""
    return [f"{paper.paint('note:', 'warn')} {paper.plain(warning)}" for warning in warnings]


def _lines(text: str, room: int) -> Iterable[tuple[int, int]]:
    start = end = used = 0
    for unit in re.finditer(_UNIT, text):
        width = cells(unit[0])
        if unit[0].isspace():
            used += width
            continue
        if end > start and used + width > room:
            yield start, end
            end = start
        if end == start:
            start, used = unit.start(), 0
        while width > room:
            fitting = start + _prefix(text[start : unit.end()], room)
            yield start, fitting
            start, width = fitting, cells(text[fitting : unit.end()])
        used, end = used + width, unit.end()
    if end > start:
        yield start, end


def _prefix(word: str, room: int) -> int:
    """How many characters of a word fill ``room`` cells; at least one."""
    used = 0
    for place, letter in enumerate(word):
        used += cells(letter)
        if used > room:
            return max(1, place)
    return len(word)
