"""recall: sections in full with what stands around them, as deep and as long as asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kbdb.errors import InvalidArgumentError
from kbdb.ingest.links import anchors_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import StoredSection, entry_of, text_of
from kbdb.model import Manifest, Metadata, Placement, RecallResult, RecallResults, Reference, Section, SectionRef
from kbdb.store.ids import kbid_encode

MAX_DEPTH = 3
BYTES_A_TOKEN = 4
"""A token is counted as this many bytes of UTF-8: near enough for English, generous for other scripts."""


def recall(core: Core, kbids: Sequence[str], depth: int, max_tokens: int | None, *, compact: bool) -> RecallResults:
    """The sections asked for, then those they refer to.

    Args:
        kbids: in the order of the answer.
        depth: how many links to follow, 0 to 3.
        max_tokens: budget for the contents; takes the place of depth: links are followed, up to three deep, as far as
            it allows. The first section is always given, cut where the budget ends.
        compact: leave references, documents and siblings out.

    Raises:
        InvalidArgumentError: depth or max_tokens out of range.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise InvalidArgumentError(f"depth is {depth}", f"use 0 to {MAX_DEPTH}")
    if max_tokens is not None and max_tokens < 1:
        raise InvalidArgumentError(f"max_tokens is {max_tokens}", "use a positive number")
    wanted = list(dict.fromkeys(kbids))
    missing = tuple(kbid for kbid in wanted if not core.store.has_section(kbid))
    present = [kbid for kbid in wanted if kbid not in missing]
    reached = _reach(core, present, depth if max_tokens is None else MAX_DEPTH)
    results: list[RecallResult] = []
    omitted, left = 0, None if max_tokens is None else max_tokens * BYTES_A_TOKEN
    for kbid in reached:
        result = _recall_one(core, kbid, compact=compact)
        size = len(result.content.encode())
        if left is not None and size > left:
            if results:
                omitted += 1
                continue
            result, size = _cut(result, left), left
        left = None if left is None else left - size
        results.append(result)
    return RecallResults(tuple(results), omitted, missing)


def _reach(core: Core, kbids: Sequence[str], depth: int) -> list[str]:
    """The sections, then what they refer to, nearest first."""
    reached = dict.fromkeys(kbids)
    level = list(kbids)
    for _ in range(depth):
        further = [ref.kbid for kbid in level for ref in _references(core, core.store.read_section(kbid)) if ref.kbid]
        level = [kbid for kbid in dict.fromkeys(further) if kbid not in reached]
        reached.update(dict.fromkeys(level))
    return list(reached)


def _recall_one(core: Core, kbid: str, *, compact: bool) -> RecallResult:
    section = core.store.read_section(kbid)
    manifests = core.indexer.manifests_listing(kbid)
    live = [manifest for manifest in manifests if core.document_is_live(manifest.docid)] or manifests
    stored = core.indexer.stored(kbid)
    placement = next((p for manifest in live for p in manifest.sections if p.kbid == kbid), None)
    return RecallResult(
        kbid=kbid,
        title=section.title,
        content=text_of(section),
        level=placement.level if placement else 0,
        parent=placement.parent if placement else "",
        metadata=Metadata(
            type=section.type,
            section_type=section.section_type,
            state=core.beliefs.section(kbid, utc_now()).state,
            tags=stored.tags if stored else (),
            description=stored.description if stored else "",
            created=min((manifest.created for manifest in live), default=""),
            updated=max((manifest.updated for manifest in live), default=""),
        ),
        references=() if compact else tuple(_references(core, section)),
        back_references=() if compact else tuple(_back_references(core, section, live)),
        documents=() if compact else tuple(manifest.docid for manifest in live),
        siblings=() if compact or placement is None else tuple(_siblings(core, live[0], placement)),
    )


def _cut(result: RecallResult, size: int) -> RecallResult:
    return replace(result, content=cut_text(result.content, size), truncated=True)


def cut_text(text: str, size: int) -> str:
    """The beginning of a text that fits ``size`` bytes of UTF-8, up to the last whole line or word that does."""
    part = text.encode()[:size].decode(errors="ignore")
    for border in ("\n", " "):
        head, found, _ = part.rpartition(border)
        if found and len(head) >= len(part) // 2:
            return head
    return part


def _references(core: Core, section: Section) -> Iterator[Reference]:
    stored = core.indexer.stored(section.kbid)
    for target in entry_of(section, stored).references if stored else ():
        yield _resolved(core, target)


def _resolved(core: Core, target: str) -> Reference:
    """A link's target with what is stored for it: a document's first section, or the one its anchor names."""
    kind, _, rest = target.partition(":")
    if kind == "kbid":
        stored = core.indexer.stored(rest)
        docid = stored.places[0].docid if stored and stored.places else ""
        return Reference(target, rest if stored else "", docid, stored.title if stored else "")
    docid, _, anchor = rest.partition("#")
    if not core.store.has_manifest(docid):
        return Reference(target, "", docid, "")
    placement = _anchored(core, core.store.read_manifest(docid), anchor)
    if placement is None:
        return Reference(target, "", docid, "")
    stored = core.indexer.stored(placement.kbid)
    return Reference(target, placement.kbid, docid, stored.title if stored else "")


def _anchored(core: Core, manifest: Manifest, anchor: str) -> Placement | None:
    if not anchor:
        return manifest.sections[0] if manifest.sections else None
    seen: Counter[str] = Counter()
    for placement in manifest.sections:
        section = core.store.read_section(placement.kbid)
        for slug in anchors_of(text_of(section), section.title):
            if anchor == (f"{slug}-{seen[slug]}" if seen[slug] else slug):
                return placement
            seen[slug] += 1
    return None


def _back_references(core: Core, section: Section, manifests: Iterable[Manifest]) -> Iterator[SectionRef]:
    """The live sections that link here: to the section itself, to its heading, or to a document it opens."""
    kbid = section.kbid
    targets = [f"kbid:{kbid}"]
    for manifest in manifests:
        targets += (f"doc:{manifest.docid}#{slug}" for slug in anchors_of(text_of(section), section.title))
        if manifest.sections[0].kbid == kbid:
            targets.append(f"doc:{manifest.docid}")
    for slot, entry in core.snapshot().referring(targets):
        stored = StoredSection.decode(slot.segment.stored(entry))
        other = kbid_encode(slot.segment.kbid(entry))
        if other != kbid:
            yield SectionRef(other, stored.title, stored.places[0].docid if stored.places else "")


def _siblings(core: Core, manifest: Manifest, placement: Placement) -> Iterator[SectionRef]:
    for other in manifest.sections:
        if other.parent == placement.parent and other.kbid != placement.kbid:
            stored = core.indexer.stored(other.kbid)
            yield SectionRef(other.kbid, stored.title if stored else "", manifest.docid)
