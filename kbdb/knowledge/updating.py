"""update: another title or text for a section, which is a revision, or other tags and another description.

A section never changes: one that says something else takes its place in every document without a source, and has a
document of its own where only sources list the old one, for those go on to be mirrored as they are. Tags and
description belong to documents; they are changed in the one document in which answers show the section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kbdb.errors import InvalidArgumentError
from kbdb.ingest.body import leading_heading
from kbdb.ingest.document import Part
from kbdb.ingest.inline import cut_title, one_line
from kbdb.ingest.lines import BLANK
from kbdb.ingest.markdown import heading_title
from kbdb.ingest.media import MARKDOWN
from kbdb.ingest.parse import parse
from kbdb.knowledge.admission import Gate
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import clean_tags, text_of
from kbdb.knowledge.forget import live_documents
from kbdb.knowledge.given import given_before
from kbdb.knowledge.named import require_section
from kbdb.knowledge.planning import may_succeed, says_the_same
from kbdb.knowledge.replacing import Revisions
from kbdb.knowledge.sourceless import assembled, own_document, way_back
from kbdb.knowledge.statement import Item
from kbdb.knowledge.whole import WHOLE, read_whole
from kbdb.model.change import UpdateResult
from kbdb.model.truth import Event, Manifest, Placement, Section, State
from kbdb.store.section import make_section
from kbdb.store.store import Change
from kbdb.store.times import now_seconds

_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))+")


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """What is to be different; None where nothing is."""

    title: str | None = None
    content: bytes | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    who: str = "user"


@dataclass(slots=True)
class _Plan:
    """What an update changes: sections, manifests by docid, events; and what to tell."""

    kbid: str
    docid: str
    superseded: tuple[str, ...] = ()
    added: tuple[Section, ...] = ()
    manifests: dict[str, Manifest] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    warnings: list[str] = field(default_factory=list)


def update(core: Core, kbid: str, options: UpdateOptions) -> UpdateResult:
    """Changes what is said by a section, or of it.

    Raises:
        SectionNotFoundError: nothing of that id is stored.
        InvalidArgumentError: nothing was given, the section is not active, or its new text was withdrawn.
        NotUtf8Error: a text that is not UTF-8.
    """
    if (options.title, options.content, options.description, options.tags) == (None,) * 4:
        raise InvalidArgumentError("nothing to update", "give a title, a content, a description or tags")
    require_section(core, kbid)
    state = core.beliefs.section(kbid, utc_now()).state
    if state is not State.ACTIVE:
        raise InvalidArgumentError(f"section {kbid} is {state}", way_back(core, kbid))
    old = core.store.read_section(kbid)
    homes = [m for m in core.indexer.manifests_listing(kbid) if core.document_is_live(m.docid)]
    # In the order of ``shown_place``.
    homes.sort(key=lambda manifest: not manifest.origin.source)
    plan = _Plan(kbid, homes[0].docid if homes else "")
    new = _revised(old, homes, options)
    if new:
        _plan_revision(core, old, homes, new, options, plan)
    if options.tags is not None or options.description is not None:
        _plan_description(core, homes, options, plan)
    if plan.added or plan.manifests or plan.events:
        manifests = tuple(plan.manifests.values())
        core.commit([Change(sections=plan.added, manifests=manifests, events=plan.events)])
    warnings = (*plan.warnings, *core.notices)
    return UpdateResult(plan.kbid, plan.superseded, plan.docid, tuple(plan.manifests), core.generation, warnings)


def _revised(old: Section, homes: Sequence[Manifest], options: UpdateOptions) -> list[Item]:
    """The new sections, the first in the place of the old one; none where title and text stay as they are."""
    level = next((place.level for home in homes for place in home.sections if place.kbid == old.kbid), 0)
    parts = _parts(old, level, options) if options.title is not None or options.content is not None else []
    sections = [make_section(old.section_type, old.type, part.title, part.content) for part in parts]
    if [section.kbid for section in sections] == [old.kbid]:
        return []
    items = []
    for part, section in zip(parts, sections, strict=True):
        parent = sections[part.parent].kbid if part.parent >= 0 else ""
        own_level = part.level or (level if section is sections[0] else 0)
        items.append(Item(Placement(section.kbid, own_level, parent, part.heading_path, 0, 0, part.gap), section))
    return items


def _parts(old: Section, level: int, options: UpdateOptions) -> Sequence[Part]:
    """What the new text is taken apart into; one with headings of its own becomes several sections."""
    title = old.title if options.title is None else cut_title(one_line(options.title))
    content = old.content if options.content is None else options.content
    if not title and options.title is not None:
        raise InvalidArgumentError("the title is empty", "give some words")
    if not content.strip():
        raise InvalidArgumentError("the content is empty", "give some text, or unlearn the section")
    parsed = parse(content, "", old.type, title)
    if options.content is not None and parsed.head.strip("\ufeff" + BLANK):
        raise InvalidArgumentError("the content begins with front matter", "give tags and description beside it")
    if old.section_type in WHOLE:
        as_it_was = [Part(title, content, level, -1, (), 1, 1, "")]
        return as_it_was if options.content is None else read_whole(parsed, old.section_type, title).parts
    if old.type.startswith(MARKDOWN):
        text = _under_heading(old, content.decode(), title if options.title is not None else "")
        heading = leading_heading(text)
        title = heading_title(heading[0]) if heading else title
        content = text.encode()
    if options.content is None:
        return [Part(title, content, level, -1, (), 1, 1, "")]
    return parse(content, "", old.type, title).parts


def _under_heading(old: Section, text: str, title: str) -> str:
    """Markdown under the heading of the old text, unless it begins with its own; the heading says the title, if any."""
    text = text.removeprefix("\ufeff")
    if blank := _BLANK_LINES.match(text):
        text = text[blank.end() :]
    heading, before = leading_heading(text), leading_heading(text_of(old))
    if heading is None and before is not None:
        text = text_of(old)[: before[1]].rstrip(BLANK) + "\n\n" + text
        heading = leading_heading(text)
    if not title or heading is None or heading_title(heading[0]) == title:
        return text
    level = parse(text.encode(), "", MARKDOWN).parts[0].level
    return f"{'#' * level} {title}\n{text[heading[1] :]}".rstrip(BLANK)


def _plan_revision(
    core: Core, old: Section, homes: Sequence[Manifest], new: Sequence[Item], options: UpdateOptions, plan: _Plan
) -> None:
    """The new sections take the old one's place."""
    sections = [item.section for item in new]
    gate = Gate(core, options.who, options.who == "user", core.beliefs)
    revisions = Revisions(core, options.who)
    revisions.supersede_named((old.kbid,), [section for section in sections if may_succeed(gate, section)])
    gate.beliefs = core.beliefs_with(revisions.events)
    to_admit = [section for section in sections if gate.revives or section.kbid not in revisions.successors]
    admitted = [event for section in to_admit for event in gate.admit(section)]
    for home in homes:
        if home.origin.source:
            plan.warnings.append(f"{home.origin.source} still says the old text, which is superseded there")
        else:
            plan.manifests[home.docid] = with_new(core, home, old, new, options.who)
    listing = live_documents(core, [section.kbid for section in sections])
    if not plan.manifests and not all(listing.values()):
        stored = core.indexer.stored(old.kbid)
        tags = {tag for home in homes for tag in home.tags} or set(stored.tags if stored else ())
        own = own_document(core, new, tags=sorted(tags), who=options.who)
        plan.manifests[own.docid] = own
    plan.kbid = next((event.successor for event in revisions.events), sections[0].kbid)
    plan.docid = next(iter(plan.manifests), "") or min(listing[plan.kbid])
    plan.superseded = revisions.old
    plan.added = tuple(section for section in sections if not core.readable([section.kbid]))
    plan.events = (*revisions.events, *admitted)
    plan.warnings += gate.warnings
    plan.warnings += [f"{held.title!r} stays out of search: it was {held.state}" for held in gate.suppressed]


def with_new(core: Core, home: Manifest, old: Section, new: Sequence[Item], who: str) -> Manifest:
    """A document with the new sections where the old one stood; what stood under it stands under the first of them."""
    opens = home.sections[0].kbid == old.kbid and home.title == old.title
    changed = replace(
        home,
        title=new[0].section.title if opens else home.title,
        updated=now_seconds(),
        origin=replace(home.origin, who=who),
    )
    return assembled(changed, list(_replaced(core, home, old, new)))


def _replaced(core: Core, home: Manifest, old: Section, new: Sequence[Item]) -> Iterator[Item]:
    above: tuple[str, ...] | None = None
    for placement in home.sections:
        if placement.kbid == old.kbid:
            above = placement.heading_path
            for item in new:
                own = item.placement
                gap = placement.gap if item is new[-1] else own.gap
                place = replace(own, parent=own.parent or placement.parent, heading_path=(*above, *own.heading_path))
                yield Item(replace(place, gap=gap), item.section)
            continue
        if above is not None and placement.heading_path[: len(above) + 1] == (*above, old.title):
            path = (*above, new[0].section.title, *placement.heading_path[len(above) + 1 :])
            parent = new[0].section.kbid if placement.parent == old.kbid else placement.parent
            placement = replace(placement, parent=parent, heading_path=path)
        else:
            above = None
        yield Item(placement, core.store.read_section(placement.kbid))


def _plan_description(core: Core, homes: Sequence[Manifest], options: UpdateOptions, plan: _Plan) -> None:
    """Other tags and description for the document that the section is shown in."""
    if not plan.docid:
        raise InvalidArgumentError(
            f"no live document lists {plan.kbid}; tags and description belong to documents",
            "group it, or learn it again",
        )
    home = plan.manifests.get(plan.docid) or core.store.read_manifest(plan.docid)
    kept: set[str] = set()
    if options.tags is not None and home.origin.source:
        # What the source says itself comes back whenever it is learned.
        kept = set(home.tags) - set(given_before(core, home).tags)
    described = replace(
        home,
        tags=home.tags if options.tags is None else clean_tags((*options.tags, *kept)),
        description=home.description if options.description is None else options.description,
        updated=now_seconds(),
    )
    if plan.docid in plan.manifests or not says_the_same(described, home):
        plan.manifests[plan.docid] = described
    if options.tags is not None and kept - set(clean_tags(options.tags)):
        plan.warnings.append(f"{home.origin.source} itself has the tags {', '.join(sorted(kept))}; they stay")
    others = len({place.kbid for place in home.sections}) - 1
    if others:
        said = "another section" if others == 1 else f"{others} other sections"
        plan.warnings.append(f"tags and description are of the document {home.docid}, which lists {said}, too")
    if options.description is not None and home.sections[0].kbid != plan.kbid:
        plan.warnings.append("a description is shown with the first section of its document, which this is not")
    beside = [m.docid for m in homes if m.docid != plan.docid and m.docid not in plan.manifests]
    if beside and not plan.superseded:
        plan.warnings.append(f"also listed by {', '.join(beside)}, whose tags and description stay")
