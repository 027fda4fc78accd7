"""Plans what one document's learning changes: its manifest, its new sections, the events that go with them.

Nothing is written here. ``learn`` plans files, ``statement`` plans content given directly; both commit what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kbdb.ingest.parse import Part
from kbdb.knowledge.admission import Gate
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.replacing import Revisions
from kbdb.model.learn import LearnedDocument, Suppressed
from kbdb.model.truth import Event, Manifest, Placement, Section, State
from kbdb.store.section import make_section
from kbdb.store.store import Change


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """What the caller of learn said besides the text. None means: as the source says, or as it was."""

    title: str | None = None
    type: str | None = None
    section_type: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    docid: str | None = None
    replace: bool = False
    supersedes: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    prune: bool = False
    who: str = "user"


@dataclass(frozen=True, slots=True)
class Planned:
    """One document's learning, ready to commit; ``change`` is None where nothing changes.

    ``added`` are sections not stored before, ``reused`` listed ones that were, ``retired`` those the document no longer
    lists, ``superseded`` those that a new one takes the place of, ``suppressed`` those that stay out of search.
    """

    document: LearnedDocument
    change: Change | None = None
    added: tuple[Section, ...] = ()
    reused: int = 0
    retired: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def changes_nothing(self) -> bool:
        """Whether, the manifest aside, there is nothing to store."""
        return self.change is None or not (self.change.sections or self.change.events)


def sections_of(parts: Sequence[Part], section_type: str, type: str) -> list[Section]:
    """The sections that a document's parts become."""
    return [make_section(section_type, type, part.title, part.content) for part in parts]


def placements_of(parts: Sequence[Part], sections: Sequence[Section]) -> tuple[Placement, ...]:
    """The listing of a document's parts."""
    return tuple(
        Placement(
            kbid=section.kbid,
            level=part.level,
            parent=sections[part.parent].kbid if part.parent >= 0 else "",
            heading_path=part.heading_path,
            line=part.line,
            line_end=part.line_end,
            gap=part.gap,
        )
        for part, section in zip(parts, sections, strict=True)
    )


def section_type_of(core: Core, old: Manifest | None, options: LearnOptions) -> str:
    """The partition a document's sections belong to: as said, else as it was, else default."""
    if options.section_type is not None:
        return options.section_type
    stored = core.indexer.stored(old.sections[0].kbid) if old is not None and old.sections else None
    return stored.section_type if stored else "default"


def settle(
    core: Core,
    old: Manifest | None,
    manifest: Manifest,
    sections: Sequence[Section],
    options: LearnOptions,
    *,
    stated: Sequence[Section] | None = None,
    revives: bool = False,
    revises: Sequence[str] = (),
    events: Sequence[Event] = (),
) -> Planned:
    """Plans the step from the old manifest to the new one.

    Args:
        sections: of the new manifest, in its order.
        stated: those that this call speaks of; all of them unless given.
        revives: whether stated text that was forgotten comes back (see ``Gate``).
        revises: kbids whose place the first stated section takes, if it may.
        events: that go with the change anyway.

    Raises:
        InvalidArgumentError: what to replace or supersede is unknown or ambiguous.
    """
    listed = list({section.kbid: section for section in sections}.values())
    spoken = listed if stated is None else list({section.kbid: section for section in stated}.values())
    before = {placement.kbid for placement in old.sections} if old else set()
    # A section whose file is damaged is written again.
    added = tuple(section for section in listed if not core.readable([section.kbid]))
    revisions = Revisions(core, options.who)
    gate = Gate(core, options.who, revives, core.beliefs_with(events))
    replaces = options.replace or options.supersedes or revises
    heirs = [section for section in spoken if may_succeed(gate, section)] if replaces else []
    if options.replace:
        # A file's own sections stand side by side; what is stated holds against everything said before, listed or not.
        new = heirs if stated is not None else [section for section in heirs if section.kbid not in before]
        beside = {section.kbid for section in spoken}
        revisions.replace_same_titles(manifest, new, beside, options.docid or manifest.docid)
    if options.supersedes:
        revisions.supersede_named(options.supersedes, heirs)
    if revises and heirs:
        revisions.supersede_named(revises, heirs)
    gate.beliefs = core.beliefs_with((*events, *revisions.events))
    to_admit = [section for section in spoken if gate.revives or section.kbid not in revisions.successors]
    admitted = [event for section in to_admit for event in gate.admit(section)]
    retired = tuple(sorted(before - {section.kbid for section in listed} - set(revisions.old)))
    gone = (core.event("retire", options.who, docid=manifest.docid, kbids=retired),) if retired else ()
    document = LearnedDocument(
        docid=manifest.docid,
        source=manifest.origin.source,
        status="updated" if old else "added",
        sections=len(manifest.sections),
        kbids=tuple(dict.fromkeys(section.kbid for section in spoken)),
    )
    return Planned(
        document=document,
        change=Change(sections=added, manifests=(manifest,), events=(*events, *revisions.events, *admitted, *gone)),
        added=added,
        reused=len({section.kbid for section in spoken} - {section.kbid for section in added}),
        retired=retired,
        superseded=revisions.old,
        suppressed=tuple(gate.suppressed),
        warnings=(*revisions.warnings, *gate.warnings, *_still_found(core, manifest.docid, retired)),
    )


def _still_found(core: Core, docid: str, retired: Sequence[str]) -> Iterator[str]:
    """Says which sections a document without a source goes on to list when the document learned lists them no more."""
    for kbid in retired:
        stored = core.indexer.stored(kbid)
        places = {place.docid: place.source for place in stored.places if place.docid != docid} if stored else {}
        beside = [other for other, source in places.items() if not source and core.document_is_live(other)]
        if beside and core.beliefs.section(kbid, utc_now()).state is State.ACTIVE:
            yield f"{kbid} left {docid}, but {', '.join(beside)} lists it, too: it can still be found"


def says_the_same(manifest: Manifest, old: Manifest) -> bool:
    """Whether a new manifest differs from the old one only in when it was made, and by whom."""
    origin = replace(manifest.origin, who=old.origin.who)
    return replace(manifest, updated=old.updated, origin=origin) == old


def may_succeed(gate: Gate, section: Section) -> bool:
    """Whether a section may take another's place: one that stays out of search must not; an older text may return."""
    belief = gate.held(section)
    return belief is None or gate.revives or belief.state is State.SUPERSEDED


def is_free(gate: Gate, section: Section) -> bool:
    """Whether a section that takes nobody's place would be live."""
    belief = gate.held(section)
    return belief is None or (gate.revives and belief.state is not State.ERASED)
