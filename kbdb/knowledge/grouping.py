"""group and ungroup: a document that lists stored sections in an order of its own, and its end.

A grouping has no source. It lists sections that stay where they are, side by side: none stands under another, for
what stands above a section is said by the document it came from. What a grouping no longer lists is not lost: a
section that no other live document lists is given a document of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kbdb.errors import InvalidArgumentError, SectionNotFoundError
from kbdb.ingest.inline import one_line
from kbdb.ingest.parse import is_text, parse
from kbdb.knowledge.admission import Gate, text_keys_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import clean_tags
from kbdb.knowledge.forget import live_documents, revival_of
from kbdb.knowledge.planning import says_the_same
from kbdb.knowledge.sourceless import assembled, own_document, require_sourceless, type_of, way_back
from kbdb.knowledge.statement import Item
from kbdb.model.change import GroupResult
from kbdb.model.truth import Event, Manifest, Origin, Placement, Section, State
from kbdb.store.ids import docid_for, kbid_decode
from kbdb.store.store import Change
from kbdb.store.times import now_seconds


def group(
    core: Core, kbids: Sequence[str], title: str, *, docid: str | None, description: str, tags: Sequence[str], who: str
) -> GroupResult:
    """Makes a grouping, or gives the one of that docid or title other sections.

    Raises:
        InvalidArgumentError: no sections, no title, a section that may not be found, or a docid that mirrors a source.
        SectionNotFoundError: some are not stored; the message names them.
    """
    wanted, title = tuple(dict.fromkeys(kbids)), one_line(title)
    if not wanted or not title:
        lacking = "sections" if title else "a title"
        raise InvalidArgumentError(f"a grouping needs {lacking}", "give at least one kbid, and a title")
    _require_findable(core, wanted, who)
    docid = docid_for(f"group:{title}", title) if docid is None else docid
    old = require_sourceless(core, docid) if core.store.has_manifest(docid) else None
    sections = [core.store.read_section(kbid) for kbid in wanted]
    now = now_seconds()
    manifest = Manifest(
        docid=docid,
        type=type_of(sections),
        title=title,
        description=description or (old.description if old else ""),
        tags=clean_tags((*tags, *(old.tags if old else ()))),
        subject=old.subject if old else "",
        origin=Origin(who, "", ""),
        created=old.created if old else now,
        updated=now,
        head="",
        sections=(),
    )
    manifest = assembled(manifest, list(_side_by_side(sections)))
    is_live = core.document_is_live(docid)
    if old is not None and is_live and says_the_same(manifest, old):
        return GroupResult(docid, title, wanted, (), core.generation, core.notices)
    revived = () if is_live else (revival_of(core, docid, who, ()),)
    dropped = [] if old is None else [place for place in old.sections if place.kbid not in wanted]
    rehoused = rehouse(core, old, dropped, who) if old else Rehoused()
    gone = tuple(dict.fromkeys(place.kbid for place in dropped))
    left = (core.event("retire", who, docid=docid, kbids=gone),) if gone else ()
    events = (*revived, *left, *rehoused.events)
    core.commit([Change(manifests=(manifest, *rehoused.manifests), events=events)])
    return GroupResult(docid, title, wanted, rehoused.docids, core.generation, core.notices)


def ungroup(core: Core, docid: str, who: str) -> GroupResult:
    """Ends a document without a source; each of its sections that no other live one lists gets a document of its own.

    Raises:
        DocumentNotFoundError: there is no such document.
        InvalidArgumentError: it mirrors a source, it was withdrawn, or it is a section's own document already.
    """
    old = require_sourceless(core, docid)
    if not core.document_is_live(docid):
        state = core.beliefs.document(docid).state
        raise InvalidArgumentError(f"document {docid} is {state}", f"kbdb restore {docid} brings it back first")
    kbids = tuple(dict.fromkeys(place.kbid for place in old.sections))
    if len(kbids) == 1 and live_documents(core, kbids) == {kbids[0]: {docid}} and core.title_of(kbids[0]) == old.title:
        raise InvalidArgumentError(f"nothing to ungroup: {docid} is the own document of its one section")
    rehoused = rehouse(core, old, old.sections, who)
    # Says so to clones that still have the manifest, and to an import that would bring it back.
    ended = core.event("retire", who, docid=docid, reason="ungrouped")
    change = Change(manifests=rehoused.manifests, events=(ended, *rehoused.events), removed_documents=(docid,))
    core.commit([change])
    return GroupResult(docid, old.title, kbids, rehoused.docids, core.generation, core.notices)


@dataclass(frozen=True, slots=True)
class Rehoused:
    """The documents of their own that sections get, and the events that go with them."""

    manifests: tuple[Manifest, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def docids(self) -> tuple[str, ...]:
        return tuple(manifest.docid for manifest in self.manifests)


def rehouse(core: Core, old: Manifest, leaving: Sequence[Placement], who: str) -> Rehoused:
    """Houses those of the sections leaving a document that no other live one lists.

    They take its tags along, and its first section the description, which was shown with that one.
    """
    manifests: list[Manifest] = []
    events: list[Event] = []
    first: dict[str, Placement] = {}
    for placement in leaving:
        first.setdefault(placement.kbid, placement)
    listing = live_documents(core, tuple(first))
    for placement in first.values():
        if listing[placement.kbid] - {old.docid} or not core.store.has_section(placement.kbid):
            continue
        section = core.store.read_section(placement.kbid)
        alone = replace(placement, parent="", heading_path=(), gap="\n" if is_text(section.type) else "")
        manifest = own_document(
            core,
            [Item(alone, section)],
            tags=old.tags,
            description=old.description if placement.kbid == old.sections[0].kbid else "",
            subject=old.subject,
            who=old.origin.who,
            created=old.created,
            taken=(old.docid,),
        )
        manifests.append(manifest)
        events += _still_forgotten(core, section, manifest.docid, who)
    return Rehoused(tuple(manifests), tuple(events))


def _still_forgotten(core: Core, section: Section, docid: str, who: str) -> Iterator[Event]:
    """What makes a forgotten section's own document forgotten, too: lists show it as such, one restore brings both."""
    belief = core.beliefs.section(section.kbid, utc_now())
    if belief.state is State.FORGOTTEN:
        keys = text_keys_of(core, section)
        yield core.event("forget", who, docid=docid, kbids=(section.kbid,), reason=belief.reason, text_keys=keys)


def _require_findable(core: Core, kbids: Sequence[str], who: str) -> None:
    """Raises for sections that are not stored, and for those that must not be found.

    What is found already may be listed once more. What is not, because no live document lists it, would be found
    through the grouping: nothing may have been decided against it or its text.
    """
    if missing := [kbid for kbid in kbids if not core.store.has_section(kbid)]:
        raise SectionNotFoundError(f"not stored: {', '.join(missing)}", "search shows the kbid of each hit")
    gate, snapshot = Gate(core, who, revives=False, beliefs=core.beliefs), core.snapshot()
    held = {
        kbid: belief
        for kbid in kbids
        if not snapshot.is_live(kbid_decode(kbid)) and (belief := gate.held(core.store.read_section(kbid)))
    }
    if held:
        said = ", ".join(f"{kbid} is {belief.state}" for kbid, belief in held.items())
        raise InvalidArgumentError(f"a grouping lists what can be found, but {said}", way_back(core, next(iter(held))))


def _side_by_side(sections: Sequence[Section]) -> Iterator[Item]:
    """The sections as a grouping lists them: texts with a blank line between them, other content as it is."""
    for number, section in enumerate(sections, start=1):
        blank = "\n" if number == len(sections) else "\n\n"
        gap = blank if is_text(section.type) else ""
        yield Item(Placement(section.kbid, _level_of(section), "", (), 0, 0, gap), section)


def _level_of(section: Section) -> int:
    """The level of the heading that a section's text begins with; 0 where there is none."""
    parts = parse(section.content, "", section.type, section.title).parts
    return parts[0].level if parts else 0
