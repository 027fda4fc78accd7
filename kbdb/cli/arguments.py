"""Options that several commands take, and the reading of their values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from kbdb.errors import InvalidIdError, UsageError

SectionType = Literal["default", "skill", "agent"]
Mode = Literal["lexical", "vector", "hybrid"]

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
