"""Documents without a source: how their manifests are laid out, and the one that a section without a home is given.

Such a document mirrors nothing but itself: it reads back as the contents of its sections, each followed by its gap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count

from kbdb.errors import InvalidArgumentError
from kbdb.ingest.media import BINARY, PLAIN
from kbdb.ingest.parse import is_text
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.named import require_document
from kbdb.knowledge.statement import Item, laid_out
from kbdb.model.truth import Manifest, Origin, Section
from kbdb.store.ids import docid_for
from kbdb.store.times import now_seconds


def require_sourceless(core: Core, docid: str) -> Manifest:
    """The manifest of a document that mirrors no source.

    Raises:
        DocumentNotFoundError: there is no such document.
        InvalidArgumentError: it was learned from a source, and must go on to say what that says.
    """
    manifest = require_document(core, docid)
    if manifest.origin.source:
        raise InvalidArgumentError(
            f"document {docid} mirrors {manifest.origin.source}; its sections cannot be arranged otherwise",
            "name a document without a source, or leave the docid out",
        )
    return manifest


def assembled(manifest: Manifest, items: Sequence[Item]) -> Manifest:
    """The manifest with these sections one after the other: their lines, and the hash of what it reads back as."""
    placements = tuple(laid_out(manifest.head, items))
    digest = sha256(manifest.head.encode())
    for item, placement in zip(items, placements, strict=True):
        digest.update(item.section.content + placement.gap.encode())
    return replace(manifest, sections=placements, origin=replace(manifest.origin, sha256=digest.hexdigest()))


def own_document(
    core: Core,
    items: Sequence[Item],
    *,
    tags: Sequence[str] = (),
    description: str = "",
    subject: str = "",
    who: str = "user",
    created: str = "",
    taken: Collection[str] = (),
) -> Manifest:
    """A new document of a section that no live one lists, named after it.

    Args:
        items: the section; more only where one text became several.
        tags, description, subject, who: of the document.
        created: where it was in another document before: since when.
        taken: docids that it must not have.
    """
    first, now = items[0].section, now_seconds()
    manifest = Manifest(
        docid=_free_docid(core, first, taken),
        type=type_of(item.section for item in items),
        title=first.title,
        description=description,
        tags=tuple(tags),
        subject=subject,
        origin=Origin(who, "", ""),
        created=created or now,
        updated=now,
        head="",
        sections=(),
    )
    return assembled(manifest, items)


def type_of(sections: Iterable[Section]) -> str:
    """The media type of what sections make together: theirs where they agree."""
    types = {section.type for section in sections}
    if len(types) == 1:
        return types.pop()
    return PLAIN if all(map(is_text, types)) else BINARY


def way_back(core: Core, kbid: str) -> str:
    """What to do instead where a section cannot be used because it is not to be found."""
    head = core.beliefs.head_of(kbid)
    if head != kbid:
        return f"use {head}, which took its place"
    if core.beliefs.revival(kbid, utc_now()):
        return f"kbdb restore {kbid} brings it back first"
    return "its text was withdrawn elsewhere; learn it again if it is to be found"


def _free_docid(core: Core, section: Section, taken: Collection[str]) -> str:
    """A docid made of the section's, that no document has or had."""
    for number in count(1):
        identity = f"section:{section.kbid}" if number == 1 else f"section:{section.kbid}#{number}"
        docid = docid_for(identity, section.title)
        if docid not in taken and not core.store.has_manifest(docid) and core.document_is_live(docid):
            return docid
    raise AssertionError("numbers do not end")
