"""complete and documents: what begins with the letters typed, and documents page by page, without listing the store."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from heapq import merge
from itertools import islice

from kbdb.checks import utf8
from kbdb.errors import CorruptError, DocumentNotFoundError, InvalidArgumentError, UnsupportedFormatError
from kbdb.index import bitmaps
from kbdb.index.segments import Slot
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import tag_key
from kbdb.knowledge.reading import document_item
from kbdb.model.read import Completion, DocumentPage, ListItem
from kbdb.store.ids import kbid_encode

MAX_VALUES = 1000


def complete(core: Core, what: str, prefix: str, limit: int) -> Completion:
    """The first names of what is live that begin with a prefix, sorted.

    Args:
        what: ``docid``, ``kbid`` or ``tag``; case of tags does not matter, and they come in lower case.

    Raises:
        InvalidArgumentError: something else, or limit out of range.
    """
    utf8(prefix, "prefix")
    _check_limit(limit)
    if what == "kbid":
        names = _kbids(core, prefix)
    elif what == "docid":
        names = (docid for docid in core.snapshot().held("doc:", prefix) if core.document_is_live(docid))
    elif what == "tag":
        names = core.snapshot().held("tag:", tag_key(prefix)[4:])
    else:
        raise InvalidArgumentError(f"cannot complete {what!r}", "use docid, kbid or tag")
    found = list(islice(names, limit + 1))
    return Completion(tuple(found[:limit]), len(found) > limit)


def documents(core: Core, after: str, limit: int) -> DocumentPage:
    """The next live documents with live sections, by docid. One whose manifest is damaged is left out with a warning.

    Args:
        after: a docid, which need not exist any more; ``""`` for the first page.

    Raises:
        InvalidArgumentError: limit out of range.
    """
    utf8(after, "after")
    _check_limit(limit)
    docids = (docid for docid in core.snapshot().held("doc:", after=after) if core.document_is_live(docid))
    page = list(islice(docids, limit + 1))
    items: list[ListItem] = []
    warnings: list[str] = []
    for docid in page[:limit]:
        try:
            items.append(document_item(core, core.store.read_manifest(docid), "live"))
        except (CorruptError, DocumentNotFoundError, UnsupportedFormatError) as error:
            warnings.append(f"left out of the list: {error.message}")
    return DocumentPage(tuple(items), page[limit - 1] if len(page) > limit else "", tuple(warnings))


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_VALUES:
        raise InvalidArgumentError(f"limit is {limit}", f"use 1 to {MAX_VALUES}")


def _kbids(core: Core, prefix: str) -> Iterator[str]:
    """Live kbids with a prefix: their characters sort as their bytes do, the order of a segment's entries."""
    snapshot = core.snapshot()
    return merge(
        *(_live_kbids(slot, live, prefix) for slot, live in zip(snapshot.slots, snapshot.live, strict=True)),
    )


def _live_kbids(slot: Slot, live: bytes, prefix: str) -> Iterator[str]:
    entries = range(slot.segment.sections)
    for entry in entries[bisect_left(entries, prefix, key=lambda entry: kbid_encode(slot.segment.kbid(entry))) :]:
        kbid = kbid_encode(slot.segment.kbid(entry))
        if not kbid.startswith(prefix):
            return
        if bitmaps.has(live, entry):
            yield kbid
