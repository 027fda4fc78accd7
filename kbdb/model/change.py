"""What every other change of the knowledge answers: unlearn, restore, group, ungroup, update."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an unlearn did, and how to take it back.

    ``kbids``: what was forgotten, with the live sections that said the same text. ``others``: documents touched beside
    the one meant: for a section, all live ones that list it or its text, when there are several; for a document, live
    ones that still list one of its sections.
    """

    event: str
    kbids: tuple[str, ...]
    docid: str
    others: tuple[str, ...]
    restore: str


@dataclass(frozen=True, slots=True)
class RemoveSectionResult:
    """The answer to unlearn."""

    removed: bool
    elapsed_ms: float
    generation: int
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The answer to restore."""

    kbids: tuple[str, ...]
    docid: str
    generation: int


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The answer to group and ungroup.

    ``kbids``: what the grouping lists, or listed. ``documents``: the documents of their own that sections were given
    because no other live one lists them.
    """

    docid: str
    title: str
    kbids: tuple[str, ...]
    documents: tuple[str, ...]
    generation: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The answer to update.

    ``kbid``: the section that now says what was asked for; ``superseded``: the one whose place it took, if another.
    ``docid``: the document that it stands in. ``documents``: those whose manifests changed.
    """

    kbid: str
    superseded: tuple[str, ...]
    docid: str
    documents: tuple[str, ...]
    generation: int
    warnings: tuple[str, ...] = ()
