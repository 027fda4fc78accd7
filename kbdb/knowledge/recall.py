"""recall: sections in full with what stands around them, as deep and as long as asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kbdb.errors import InvalidArgumentError
from kbdb.graphemes import boundaries_around
from kbdb.ingest.links import anchors_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import StoredSection, references_of, text_of
from kbdb.knowledge.search import shown_place
from kbdb.model.read import Metadata, RecallResult, RecallResults, Reference, SectionRef
from kbdb.model.truth import Manifest, Placement, Section
from kbdb.store.ids import is_docid, is_kbid, kbid_decode, kbid_encode

MAX_DEPTH = 3
BYTES_A_TOKEN = 4
"""A token is counted as this many bytes of UTF-8: near enough for English, generous for other scripts."""


def recall(
    core: Core, kbids: Sequence[str], depth: int | None, max_tokens: int | None, *, compact: bool
) -> RecallResults:
    """The sections asked for, then those they refer to.

    Args:
        kbids: in the order of the answer.
        depth: how many links to follow, 0 to 3; None: none, or with a budget three, as far as it allows.
        max_tokens: budget for the contents. The first section is always given, cut where the budget ends.
        compact: leave references, documents and siblings out.

    Raises:
        InvalidArgumentError: depth or max_tokens out of range.
    """
    if depth is None:
        depth = 0 if max_tokens is None else MAX_DEPTH
    if not 0 <= depth <= MAX_DEPTH:
        raise InvalidArgumentError(f"depth is {depth}", f"use 0 to {MAX_DEPTH}")
    if max_tokens is not None and max_tokens < 1:
        raise InvalidArgumentError(f"max_tokens is {max_tokens}", "use a positive number")
    wanted = list(dict.fromkeys(kbids))
    missing = tuple(kbid for kbid in wanted if not core.store.has_section(kbid))
    present = [kbid for kbid in wanted if kbid not in missing]
    reached = _reach(core, present, depth)
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
    manifests = sorted(core.indexer.manifests_listing(kbid), key=lambda manifest: not manifest.origin.source)
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
        back_references=() if compact else tuple(_back_references(core, kbid, live)),
        documents=() if compact else tuple(manifest.docid for manifest in live),
        siblings=() if compact or placement is None else tuple(_siblings(core, live[0], placement)),
    )


def _cut(result: RecallResult, size: int) -> RecallResult:
    return replace(result, content=cut_text(result.content, size), truncated=True)


def cut_text(text: str, size: int) -> str:
    """The beginning of a text that fits ``size`` bytes of UTF-8, up to the last whole line, word or character."""
    part = text.encode()[:size].decode(errors="ignore")
    if len(part) == len(text):
        return text
    part = part[: boundaries_around(text, len(part))[0]]
    for border in ("\n", " "):
        head, found, _ = part.rpartition(border)
        if found and len(head) >= len(part) // 2:
            return head.removesuffix("\r")
    return part


def _references(core: Core, section: Section) -> Iterator[Reference]:
    stored = core.indexer.stored(section.kbid)
    for target in references_of(section, text_of(section), stored.places) if stored else ():
        yield _resolved(core, target)


def _resolved(core: Core, target: str) -> Reference:
    """A link's target with the live section that stands for it, if any: of a document the first, or its anchor's."""
    kind, _, rest = target.partition(":")
    docid, _, anchor = rest.partition("#")
    if kind == "kbid":
        docid, kbid = "", rest if is_kbid(rest) else ""
    elif is_docid(docid) and core.store.has_manifest(docid) and core.document_is_live(docid):
        manifest = core.store.read_manifest(docid)
        kbid = next((placement.kbid for name, placement in _anchors(core, manifest) if name == anchor), "")
    else:
        kbid = ""
    stored, kbid = _current(core, kbid) if kbid else (None, "")
    if stored is None:
        return Reference(target, "", docid, "")
    return Reference(target, kbid, docid or shown_place(core, stored).docid, core.title_of(kbid))


def _current(core: Core, kbid: str) -> tuple[StoredSection | None, str]:
    """The live section that stands for one now: itself, or what took its place."""
    head = core.beliefs.head_of(kbid)
    live = core.snapshot().is_live(kbid_decode(head))
    return (core.indexer.stored(head), head) if live else (None, "")


def _anchors(core: Core, manifest: Manifest) -> Iterator[tuple[str, Placement]]:
    """Every anchor that leads into a document, and where to; the empty one to its beginning."""
    seen: Counter[str] = Counter()
    if manifest.sections:
        yield "", manifest.sections[0]
    for placement in manifest.sections:
        for section in core.readable([placement.kbid]):
            for slug in anchors_of(text_of(section), section.title):
                yield (f"{slug}-{seen[slug]}" if seen[slug] else slug), placement
                seen[slug] += 1


def _back_references(core: Core, kbid: str, manifests: Iterable[Manifest]) -> Iterator[SectionRef]:
    """The live sections that link here: to the section itself, to its heading, or to a document it opens."""
    targets = {f"kbid:{kbid}"}
    for manifest in manifests:
        anchors = (anchor for anchor, placement in _anchors(core, manifest) if placement.kbid == kbid)
        targets.update(f"doc:{manifest.docid}#{anchor}" if anchor else f"doc:{manifest.docid}" for anchor in anchors)
    for slot, entry in core.snapshot().referring(sorted(targets)):
        stored = StoredSection.decode(slot.segment.stored(entry))
        other = kbid_encode(slot.segment.kbid(entry))
        if other != kbid:
            yield SectionRef(other, core.title_of(other), shown_place(core, stored).docid)


def _siblings(core: Core, manifest: Manifest, placement: Placement) -> Iterator[SectionRef]:
    """The live sections under the same heading."""
    others = (other.kbid for other in manifest.sections if other.parent == placement.parent)
    for kbid in dict.fromkeys(others):
        if kbid != placement.kbid and core.snapshot().is_live(kbid_decode(kbid)):
            yield SectionRef(kbid, core.title_of(kbid), manifest.docid)
