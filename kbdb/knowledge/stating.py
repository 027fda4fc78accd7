"""Skills and agents that are stated under their names: the text, and the step from what had the name before.

A name's new text is a revision of all live texts of that name. It stands in a document of its own, which has no source,
and in the place of the old ones in all other documents without a source, so that an agent goes on to have its skill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from kbdb.errors import InvalidArgumentError
from kbdb.ingest.declared import Declared, read_declared
from kbdb.ingest.lines import BLANK
from kbdb.ingest.media import MARKDOWN
from kbdb.ingest.parse import parse
from kbdb.knowledge.admission import Gate
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import clean_tags
from kbdb.knowledge.forget import revival_of
from kbdb.knowledge.grouping import Rehoused, rehouse
from kbdb.knowledge.planning import LearnOptions, is_free, may_succeed, says_the_same, settle
from kbdb.knowledge.sourceless import assembled, require_sourceless
from kbdb.knowledge.statement import Item
from kbdb.knowledge.updating import with_new
from kbdb.knowledge.whole import read_whole
from kbdb.model.learn import Suppressed
from kbdb.model.skill import Outcome
from kbdb.model.truth import Manifest, Origin, Placement, Section, State
from kbdb.store.ids import docid_for, kbid_decode
from kbdb.store.section import make_section
from kbdb.store.times import now_seconds


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it was given: its front matter, the rest as a section, and what the former declares."""

    head: str
    item: Item
    description: str
    tags: tuple[str, ...]
    declared: Declared

    @property
    def has_front_matter(self) -> bool:
        return bool(self.head.strip("\ufeff" + BLANK))


@dataclass(frozen=True, slots=True)
class Named:
    """A live skill or agent: what it says, and the document that is its own, where there is one."""

    section: Section
    home: Manifest | None

    @property
    def updated(self) -> str:
        return self.home.updated if self.home else ""


@dataclass(frozen=True, slots=True)
class Stated:
    """What stating came to; ``documents`` are those whose manifests changed, its own first."""

    kbid: str
    docid: str
    status: Outcome
    superseded: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    warnings: tuple[str, ...] = ()


def read_text(section_type: str, name: str, data: bytes) -> Text:
    """Takes a text apart.

    Raises:
        InvalidArgumentError: it is empty, or declares what cannot be.
        NotUtf8Error: it is not UTF-8.
    """
    parsed = read_whole(parse(data, "", MARKDOWN, name), section_type, name)
    if not parsed.parts:
        raise InvalidArgumentError(f"the {section_type} {name} has no text", "give some beside the front matter")
    declared = read_declared(parsed.head)
    for fault in (*parsed.warnings, *declared.faults):
        raise InvalidArgumentError(f"the front matter of {name}: {fault}", "correct it, or leave it out")
    (part,) = parsed.parts
    section = make_section(section_type, MARKDOWN, name, part.content)
    item = Item(Placement(section.kbid, part.level, "", (), 0, 0, part.gap or "\n"), section)
    return Text(parsed.head, item, parsed.description, parsed.tags, declared)


def live_kbids(core: Core, section_type: str) -> list[str]:
    """The live sections of a type, sorted."""
    snapshot = core.snapshot()
    return [k for k in sorted(core.indexer.holding(f"section_type:{section_type}")) if snapshot.is_live(kbid_decode(k))]


def live_sections(core: Core, section_type: str) -> tuple[list[Section], tuple[str, ...]]:
    """The live sections of a type, by kbid, and what is to be told of those that cannot be read."""
    found, warnings = [], []
    for section in core.store.read_sections(live_kbids(core, section_type)):
        if isinstance(section, Section):
            found.append(section)
        else:
            warnings.append(f"left out: {section.message}")
    return found, tuple(warnings)


def homes_of(core: Core, sections: Sequence[Section]) -> dict[str, Manifest]:
    """The own documents of sections: live, of their title, and opening with them; the one changed last."""
    titles, homes = {section.kbid: section.title for section in sections}, dict[str, Manifest]()
    for manifest in core.indexer.manifests_listing(*titles):
        opening = manifest.sections[0].kbid
        if titles.get(opening) != manifest.title or not core.document_is_live(manifest.docid):
            continue
        known = homes.get(opening)
        if known is None or _rank(manifest) > _rank(known):
            homes[opening] = manifest
    return homes


def _rank(manifest: Manifest) -> tuple[str, bool, str]:
    return manifest.updated, not manifest.origin.source, manifest.docid


def state(
    core: Core,
    text: Text,
    before: Sequence[Named],
    *,
    head: str,
    description: str | None,
    tags: Sequence[str] = (),
    listed: Sequence[Section] = (),
    brought: Mapping[str, Manifest] = MappingProxyType({}),
    who: str,
) -> Stated:
    """Stores a text under its name.

    Args:
        text: what is stated.
        before: what has the name now, the one that counts first.
        head: of its document.
        description: of its document; None: as its front matter says, else as it was.
        tags: added to those that it had.
        listed: skills that its document lists after it.
        brought: own documents of those of them that are stated with it, by kbid.
        who: states it.
    """
    section = text.item.section
    gate = Gate(core, who, revives=who == "user", beliefs=core.beliefs)
    olds = [named.section for named in before if named.section.kbid != section.kbid]
    if not may_succeed(gate, section) or not (olds or is_free(gate, section)):
        # Stored, it would leave the name without what it has now, or would not be found under it.
        gate.admit(section)
        kbid, docid = (before[0].section.kbid, _docid_of(before[0])) if before else ("", "")
        return Stated(kbid, docid, "unchanged", suppressed=tuple(gate.suppressed))
    docid, old = _own_document(core, section, before)
    was = before[0].home if before else None
    said = text.description or (was.description if was else "")
    now = now_seconds()
    manifest = Manifest(
        docid=docid,
        type=MARKDOWN,
        title=section.title,
        description=said if description is None else description,
        tags=clean_tags((*text.tags, *tags, *(was.tags if was else ()))),
        subject=old.subject if old else "",
        origin=Origin(who, "", ""),
        created=old.created if old else now,
        updated=now,
        head=head,
        sections=(),
    )
    manifest = assembled(manifest, [*_in_order([text.item, *map(_beside, listed)])])
    events = () if core.document_is_live(docid) else (revival_of(core, docid, who, ()),)
    planned = settle(
        core,
        old,
        manifest,
        [section, *listed],
        LearnOptions(who=who),
        stated=[section, *(skill for skill in listed if skill.kbid in brought)],
        revives=gate.revives,
        revises=[named.kbid for named in olds],
        events=events,
    )
    followed = _following(core, docid, olds, text.item, who) if planned.superseded else {}
    housed = _rehouse_dropped(core, old, manifest, planned.superseded, who)
    if old is not None and says_the_same(manifest, old) and planned.changes_nothing and not (followed or brought):
        return Stated(section.kbid, docid, "unchanged", suppressed=planned.suppressed)
    manifests = (manifest, *brought.values(), *followed.values(), *housed.manifests)
    assert planned.change is not None
    core.commit([replace(planned.change, manifests=manifests, events=(*planned.change.events, *housed.events))])
    sources = {home.origin.source for named in before if (home := named.home) and home.origin.source}
    still = [f"{source} still says the old text, which is superseded there" for source in sorted(sources) if olds]
    return Stated(
        kbid=section.kbid,
        docid=docid,
        status="updated" if before else "added",
        superseded=planned.superseded,
        documents=tuple(changed.docid for changed in manifests),
        suppressed=planned.suppressed,
        warnings=(*planned.warnings, *still),
    )


def _docid_of(named: Named) -> str:
    return named.home.docid if named.home else ""


def _own_document(core: Core, section: Section, before: Sequence[Named]) -> tuple[str, Manifest | None]:
    """The document to renew, or the docid of the one to make."""
    for named in before[:1]:
        home = named.home
        if home is not None and not home.origin.source and (section.section_type == "agent" or _is_alone(home)):
            return home.docid, home
    docid = docid_for(f"{section.section_type}:{section.title}", section.title)
    return docid, require_sourceless(core, docid) if core.store.has_manifest(docid) else None


def _is_alone(home: Manifest) -> bool:
    return len({placement.kbid for placement in home.sections}) == 1


def _rehouse_dropped(core: Core, old: Manifest | None, new: Manifest, superseded: Sequence[str], who: str) -> Rehoused:
    """Documents of their own for what the document lists no more and no other does, unless something took its place."""
    if old is None:
        return Rehoused()
    kept, now = {*superseded, *(placement.kbid for placement in new.sections)}, utc_now()
    dropped = [placement for placement in old.sections if placement.kbid not in kept]
    leaving = [p for p in dropped if core.beliefs.section(p.kbid, now).state is not State.SUPERSEDED]
    return rehouse(core, old, leaving, who)


def _beside(section: Section) -> Item:
    return Item(Placement(section.kbid, 0, "", (), 0, 0, "\n"), section)


def _in_order(items: Sequence[Item]) -> list[Item]:
    """The items with a blank line between each and the next."""
    return [replace(item, placement=replace(item.placement, gap="\n\n")) for item in items[:-1]] + [*items[-1:]]


def _following(core: Core, docid: str, olds: Sequence[Section], item: Item, who: str) -> dict[str, Manifest]:
    """The other live documents without a source that list old sections, with the new one in their places."""
    changed: dict[str, Manifest] = {}
    for old in olds:
        for manifest in core.indexer.manifests_listing(old.kbid):
            if manifest.docid != docid and not manifest.origin.source and core.document_is_live(manifest.docid):
                home = changed.get(manifest.docid, manifest)
                changed[manifest.docid] = with_new(core, home, old, [item], who)
    return changed
