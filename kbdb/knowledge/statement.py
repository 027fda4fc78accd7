"""learn for content given directly: a fact or a text, on standard input or from a program.

It makes a document of its own, named after its title, or joins one that was made this way before. Its manifest then
mirrors what was said, statement after statement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from time import perf_counter

from kbdb.errors import InvalidArgumentError
from kbdb.ingest.document import ParsedDocument
from kbdb.ingest.lines import line_ends
from kbdb.ingest.parse import parse
from kbdb.knowledge.admission import Gate
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import clean_tags, text_of
from kbdb.knowledge.forget import revival_of
from kbdb.knowledge.planning import (
    LearnOptions,
    Planned,
    may_succeed,
    placements_of,
    says_the_same,
    section_type_of,
    sections_of,
    settle,
)
from kbdb.knowledge.tally import Tally
from kbdb.knowledge.whole import called, read_whole, revised_by
from kbdb.model.learn import AddSectionResult, LearnedDocument
from kbdb.model.truth import Manifest, Origin, Placement, Section
from kbdb.progress import Progress, Report
from kbdb.store.ids import docid_for
from kbdb.store.times import now_seconds


@dataclass(frozen=True, slots=True)
class Item:
    """A listed section, with the section itself."""

    placement: Placement
    section: Section


def learn_content(
    core: Core, content: bytes, options: LearnOptions, progress: Report | None = None
) -> AddSectionResult:
    """Learns one text.

    Args:
        core: the database.
        content: the text.
        options: what is said of it.
        progress: called once, when it is known what is stored: the last moment to end it.

    Raises:
        InvalidArgumentError: the text is empty, or the document it should join mirrors a file.
        NotUtf8Error: the text is not UTF-8.
    """
    started = perf_counter()
    if not content.strip():
        raise InvalidArgumentError("there is nothing to learn: the content is empty", "give some text")
    tally = Tally(core)
    planned = plan_content(core, content, options)
    if progress is not None:
        progress(Progress(0, len(planned.added)))
    tally.commit([planned])
    return tally.result(perf_counter() - started)


def plan_content(core: Core, content: bytes, options: LearnOptions) -> Planned:
    """Plans what learning one text changes."""
    parsed = (core.parse or parse)(content, "", options.type, options.title or "")
    parsed = read_whole(parsed, options.section_type or "default", options.title or "")
    docid, old = _document_to_join(core, parsed.title, options)
    section_type = section_type_of(core, old, options)
    if section_type != options.section_type:
        parsed = read_whole(parsed, section_type, options.title or "")
    sections = sections_of(parsed.parts, section_type, parsed.type)
    stated = [Item(p, s) for p, s in zip(placements_of(parsed.parts, sections), sections, strict=True)]
    head = parsed.head if old is None else old.head
    revives = options.who == "user"
    gate = Gate(core, options.who, revives, core.beliefs)
    titles = {section.title: section.kbid for section in sections}
    earlier = revised_by(core, old, section_type, set(titles.values()))
    revises = tuple(kbid for kbid in earlier if core.title_of(kbid) in titles)
    heirs = {s.kbid for s in sections if (options.replace or revises) and may_succeed(gate, s)}
    items = stated if old is None else _joined(core, old, stated, heirs)
    manifest = _manifest(docid, old, parsed, head, items, options)
    # A document that was withdrawn comes back with what is said now, and not with what it said before.
    events = () if core.document_is_live(docid) else (revival_of(core, docid, options.who, ()),)
    planned = settle(
        core,
        old,
        manifest,
        [item.section for item in items],
        options,
        stated=sections,
        revives=revives,
        revises=revises,
        events=events,
    )
    if old is not None and says_the_same(manifest, old) and planned.changes_nothing:
        kbids = planned.document.kbids
        unchanged = LearnedDocument(docid, "", "unchanged", len(old.sections), kbids)
        return Planned(unchanged, suppressed=planned.suppressed)
    told = (*parsed.warnings, *called(section_type, parsed.title, said=True))
    return replace(planned, warnings=(*told, *planned.warnings)) if told else planned


def _document_to_join(core: Core, title: str, options: LearnOptions) -> tuple[str, Manifest | None]:
    """The document a text belongs to, and its manifest where it exists.

    A docid that mirrors a file can only say where ``replace`` looks; the text then gets a document of its own.
    """
    docid = docid_for(f"title:{title}", title) if options.docid is None else options.docid
    old = core.store.read_manifest(docid) if core.store.has_manifest(docid) else None
    if old is None or not old.origin.source:
        return docid, old
    if not options.replace:
        raise InvalidArgumentError(
            f"document {docid} mirrors {old.origin.source}; nothing else can join it",
            "change the file and learn it again, or leave docid out",
        )
    return _document_to_join(core, title, replace(options, docid=None))


def _joined(core: Core, old: Manifest, stated: Sequence[Item], heirs: Collection[str]) -> list[Item]:
    """The old items, with the ``heirs`` among the new in the places of those they replace, the other new behind."""
    listed = {placement.kbid for placement in old.sections}
    new = [item for item in stated if item.section.kbid not in listed]
    now_at: dict[str, str] = {}
    items = []
    for placement in old.sections:
        section = core.store.read_section(placement.kbid)
        able = (item for item in new if item.section.kbid in heirs and _same_heading(item, placement, section))
        item = next(able, None) or Item(placement, section)
        if item in new:
            new.remove(item)
        now_at[placement.kbid] = item.section.kbid
        parent = now_at.get(placement.parent, "")
        items.append(Item(replace(item.placement, parent=parent, gap=placement.gap), item.section))
    if items and new:
        last = items[-1].placement
        blank_line = "\n" * (2 - line_ends(last.gap))
        items[-1] = replace(items[-1], placement=replace(last, gap=last.gap + blank_line))
    return items + new


def _same_heading(item: Item, placement: Placement, section: Section) -> bool:
    return item.section.title == section.title and item.placement.heading_path == placement.heading_path


def _manifest(
    docid: str,
    old: Manifest | None,
    parsed: ParsedDocument,
    head: str,
    items: Sequence[Item],
    options: LearnOptions,
) -> Manifest:
    now = now_seconds()
    placements = tuple(laid_out(head, items))
    pieces = [i.section.content + p.gap.encode() for i, p in zip(items, placements, strict=True)]
    title = parsed.title if old is None or options.title is not None else old.title
    description = parsed.description if old is None else parsed.description or old.description
    return Manifest(
        docid=docid,
        type=parsed.type if old is None else old.type,
        title=title,
        description=description if options.description is None else options.description,
        tags=clean_tags((*parsed.tags, *options.tags, *(old.tags if old else ()))),
        subject=old.subject if old else "",
        origin=Origin(options.who, "", sha256(b"".join((head.encode(), *pieces))).hexdigest()),
        created=old.created if old else now,
        updated=now,
        head=head,
        sections=placements,
    )


def laid_out(head: str, items: Sequence[Item]) -> Iterator[Placement]:
    """The placements with the lines at which they stand when head and items are written one after the other."""
    line = 1 + line_ends(head)
    for item in items:
        text = text_of(item.section)
        end = line + line_ends(text)
        stands = (item.placement.line, item.placement.line_end) == (line, end)
        yield item.placement if stands else replace(item.placement, line=line, line_end=end)
        line = end + line_ends(item.placement.gap)
