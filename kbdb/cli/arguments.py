"""Options that several commands take, and the reading of their values."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from kbdb.errors import InvalidIdError, SourceNotFoundError, SourceUnreadableError, UsageError

SectionType = Literal["default", "skill", "agent"]
Mode = Literal["lexical", "vector", "hybrid"]
STDIN = "-"

TagFilter = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag; may be repeated.")
]
TypeFilter = Annotated[
    str | None, typer.Option("--type", metavar="TYPE", help="Only of this media type, such as text/markdown.")
]
SectionTypeFilter = Annotated[SectionType | None, typer.Option("--section-type", help="Only sections of this kind.")]
DocFilter = Annotated[
    str | None,
    typer.Option("--doc", metavar="DOCID", help="Only from this document: its docid, or the path it was learned from."),
]
Offset = Annotated[int, typer.Option("--offset", metavar="N", min=0, help="How many to leave out before the first.")]
TextFile = Annotated[
    str, typer.Argument(metavar="PATH", help="A file with its text; - reads standard input.", show_default=False)
]
Description = Annotated[
    str | None,
    typer.Option("--description", metavar="TEXT", help="What it does; else as its front matter says, or as it was."),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=VALUE", help="A value to put in; may be repeated. Implies --prompt."),
]
Prompt = Annotated[bool, typer.Option("--prompt", help="Print nothing but the prompt, with the values put in.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept with the receipt.")]
Target = Annotated[
    str, typer.Argument(metavar="KBID|DOCID", help="A section's kbid or a document's docid.", show_default=False)
]


def kbid_or_docid(target: str) -> tuple[str | None, str | None]:
    """What a target means: ``(kbid, None)`` when it has a kbid's form, else ``(None, docid)``.

    Raises:
        InvalidIdError: it is a path.
    """
    from kbdb.store.ids import is_docid, is_kbid

    target = target.strip()
    if not is_docid(target) and ("/" in target or os.sep in target or Path(target).suffix):
        raise InvalidIdError(f"not a docid: {target!r}", "kbdb list shows the docid of what was learned from each path")
    return (target.lower(), None) if is_kbid(target.lower()) else (None, target)


def text_at(written: str) -> bytes:
    """The bytes of a file, or of standard input where ``-`` is written.

    Raises:
        UsageError: standard input is a terminal.
        SourceNotFoundError, SourceUnreadableError: there is no such file, or it cannot be read.
    """
    if written == STDIN:
        if sys.stdin.isatty():
            raise UsageError("standard input is a terminal", "pipe or redirect text into it: … - < notes.md")
        return sys.stdin.buffer.read()
    path = path_of(written)
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"no file {path}", "check the path; - reads standard input") from error
    except OSError as error:
        raise SourceUnreadableError(f"cannot read {path}: {error.strerror}", "name a file that can be read") from error


def values_of(pairs: list[str] | None) -> dict[str, str | int | float | bool]:
    """The values of arguments, written ``name=value``."""
    values: dict[str, str | int | float | bool] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise UsageError(f"--arg {pair!r} gives no value", "write it like --arg service=billing")
        if name in values:
            raise UsageError(f"--arg gives {name} twice", "give one value for each argument")
        values[name] = value
    return values


def path_of(written: str) -> Path:
    """A path as it was written; ``Path`` alone would take an empty one for the current folder.

    Whether it can be read is for the command to find out: of many, a bad one fails alone.

    Raises:
        UsageError: it is empty.
    """
    if not written:
        raise UsageError("a path is empty", "name a file or folder; . is the current folder")
    return Path(written)


def is_unicode(text: str) -> bool:
    """Whether a word of the command line was text: bytes that are not UTF-8 arrive as lone surrogates."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def comma_list(value: str | None) -> tuple[str, ...]:
    """The entries of ``a, b,c``, in order, without empty ones."""
    return tuple(entry.strip() for entry in (value or "").split(",") if entry.strip())
