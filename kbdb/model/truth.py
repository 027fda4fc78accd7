"""What the truth files say: sections, documents, events, and what is believed of a section."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What is believed of a section (DESIGN: words)."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    EXPIRED = "expired"
    FORGOTTEN = "forgotten"
    ERASED = "erased"


SECTION_TYPES = ("default", "skill", "agent")


@dataclass(frozen=True, slots=True)
class Section:
    """What is stored, searched and cited: immutable and content-addressed.

    ``kbid`` follows from the other fields (``kbdb.store.section.kbid_of``).
    """

    kbid: str
    section_type: str
    type: str
    title: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document came from.

    Attributes:
        who: ``user``, ``agent``, ``import`` or ``auto-capture``.
        source: path relative to the database's folder (``/`` separators), absolute path outside it, URL, or ``""``.
        sha256: hex digest of the source's bytes.
    """

    who: str
    source: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Placement:
    """One section's place in a document.

    Attributes:
        level: heading level 1 to 6; 0 for text before the first heading or without one.
        parent: kbid of the section this one stands under, or ``""``.
        heading_path: titles of the sections above, outermost first, without its own.
        line, line_end: first and last line in the source, from 1, inclusive, white space after the section left out.
        gap: the white space between this section's content and the next (or the end).
    """

    kbid: str
    level: int
    parent: str
    heading_path: tuple[str, ...]
    line: int
    line_end: int
    gap: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A document: what its source said. ``head`` + each content + its ``gap`` is the source, byte for byte.

    ``head`` holds what comes before the first section: byte-order mark, front matter, blank lines.
    Times are ISO 8601 UTC with seconds (``2026-01-31T12:00:00Z``).
    """

    docid: str
    type: str
    title: str
    description: str
    tags: tuple[str, ...]
    subject: str
    origin: Origin
    created: str
    updated: str
    head: str
    sections: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One change of belief. Never holds content.

    Attributes:
        id: sorts by time; unique.
        time: ISO 8601 UTC with microseconds.
        writer: the clone that wrote it; also the stem of its file's name.
        actor: ``user``, ``agent``, ``import``, ``auto-capture`` or ``kbdb``.
        kind: ``revise``, ``invalidate``, ``forget``, ``restore``, ``erase``, ``valid-until``, ``retire``.
            ``retire`` says that a document's source is gone or left these sections out: no belief changes.
        kbids: the sections it speaks of (the old ones, for ``revise``).
        docid: the document it speaks of, or ``""``.
        successor: for ``revise``, the kbid that takes their place.
        until: for ``valid-until``, the instant.
        reason: free text of the actor's.
        text_keys: for ``forget``, ``invalidate``, ``erase`` and ``revise``: how the same text is recognised later.
    """

    id: str
    time: str
    writer: str
    actor: str
    kind: str
    kbids: tuple[str, ...] = ()
    docid: str = ""
    successor: str = ""
    until: str = ""
    reason: str = ""
    text_keys: tuple[str, ...] = ()
