"""What the verbs of a KnowledgeBase refuse to be called with."""

from __future__ import annotations

from collections.abc import Iterable

from kbdb.checks import utf8
from kbdb.errors import InvalidArgumentError
from kbdb.model.truth import SECTION_TYPES
from kbdb.store.ids import kbid_decode
from kbdb.store.manifest import WHO


def check_lists(**lists: object) -> None:
    """A bare string would be taken for a list of its characters."""
    for name, value in lists.items():
        if isinstance(value, (str, bytes)):
            raise InvalidArgumentError(f"{name} is {value!r}", f"give a list: {name}=[{value!r}]")


def check_texts(**texts: str) -> None:
    """Texts hold whole characters."""
    for name, text in texts.items():
        utf8(text, name)


def check_who(who: str) -> None:
    """An actor is one that manifests and events know."""
    if who not in WHO:
        raise InvalidArgumentError(f"who is {who!r}", f"use one of: {', '.join(WHO)}")


def check_section_type(section_type: str) -> None:
    """A section type is a known one."""
    if section_type not in SECTION_TYPES:
        raise InvalidArgumentError(f"section_type is {section_type!r}", f"use one of: {', '.join(SECTION_TYPES)}")


def check_kbids(kbids: Iterable[str]) -> None:
    """Raises InvalidIdError for what is not a kbid."""
    for kbid in kbids:
        kbid_decode(kbid)


def types_of(type: str | None, section_type: str | None) -> tuple[str | None, str | None]:
    """Media type and section type of a filter; a section type may stand for a type, for media types hold a slash."""
    if type not in SECTION_TYPES:
        return type, section_type
    if section_type not in (None, type):
        raise InvalidArgumentError(f"type is {type!r}, but section_type is {section_type!r}", "give one of them")
    return None, type
