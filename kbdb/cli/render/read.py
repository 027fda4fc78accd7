"""list and recall for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, counted, hashtag, joined, notes, visible
from kbdb.cli.render.table import Column, columns

if TYPE_CHECKING:
    from kbdb.model.read import ListItem, ListResult, RecallResult, RecallResults

_SHOWN_OMITTED = 10


def draw_list(result: ListResult, paper: Paper) -> str:
    """Aligned columns, ids first, and a closing line."""
    told = notes(result.warnings, paper)
    if not result.items:
        return joined([*told, paper.paint("nothing listed" if not result.total else "no more to list", "dim")])
    of_sections = any(item.kbid for item in result.items)
    table = _sections(result.items, paper) if of_sections else _documents(result.items, paper)
    first, last = result.offset + 1, result.offset + len(result.items)
    return joined([*table, *told, paper.paint(f"{first:,}-{last:,} of {result.total:,}", "dim")])


def _documents(items: tuple[ListItem, ...], paper: Paper) -> list[str]:
    rows = [
        (item.docid, item.title, item.source, str(item.sections), item.state, ", ".join(item.tags), item.updated[:10])
        for item in items
    ]
    head = ("DOCID", "TITLE", "SOURCE", "SECTIONS", "STATE", "TAGS", "UPDATED")
    form = (
        Column("strong"),
        Column(cut=True),
        Column("good", cut=True, rank=1),
        Column(rank=4),
        Column(rank=2),
        Column("dim", cut=True, rank=5),
        Column("dim", rank=3),
    )
    return columns(paper, [head, *rows], form)


def _sections(items: tuple[ListItem, ...], paper: Paper) -> list[str]:
    rows = [(item.kbid, item.title, item.source, item.section_type, item.state, ", ".join(item.tags)) for item in items]
    head = ("KBID", "TITLE", "SOURCE", "KIND", "STATE", "TAGS")
    form = (
        Column("strong"),
        Column(cut=True),
        Column("good", cut=True, rank=1),
        Column(rank=3),
        Column(rank=2),
        Column("dim", cut=True, rank=4),
    )
    return columns(paper, [head, *rows], form)


def draw_recall(answer: RecallResults, paper: Paper) -> str:
    """Each section under a rule with its surroundings, then what was left out."""
    lines: list[str] = []
    for result in answer.results:
        lines += [*_recalled(result, paper), ""]
    if answer.omitted:
        names = " ".join(answer.omitted_kbids[:_SHOWN_OMITTED])
        more = " and more, see --json" if len(answer.omitted_kbids) > _SHOWN_OMITTED else ""
        lines.append(
            f"{paper.paint('note:', 'warn')} {counted(answer.omitted, 'section')} left out, as this would be too long"
            + (f"; recall {paper.plain(names)}{more}" if names else "")
        )
    lines += [f"{paper.paint('unknown:', 'bad')} {paper.plain(kbid)}" for kbid in answer.missing]
    return joined(lines)


def _recalled(result: RecallResult, paper: Paper) -> Iterator[str]:
    known = result.metadata
    yield paper.paint(paper.cut(result.title or "(untitled)", paper.width), "strong")
    facts = [result.kbid, known.state, known.type, *map(hashtag, known.tags)]
    yield paper.paint(paper.cut("  ".join(facts), paper.width), "dim")
    if result.successor:
        yield f"{paper.paint('replaced by:', 'warn')} {paper.plain(result.successor)}"
    yield ""
    yield from visible(result.content).rstrip().split("\n")
    if result.truncated:
        yield paper.paint("[cut to stay in --max-tokens]", "warn")
    around = [
        *(
            ("links to", link.title or link.target, link.kbid or link.docid or "(not stored)")
            for link in result.references
        ),
        *(("linked from", link.title, link.kbid) for link in result.back_references),
        *(("beside", link.title, link.kbid) for link in result.siblings),
        *(("document", docid, "") for docid in result.documents),
    ]
    if around:
        yield ""
        yield from columns(paper, around, (Column("dim"), Column(cut=True), Column("dim")))
    if result.left_off:
        names = (f"{count:,} {name.replace('_', ' ')}" for name, count in result.left_off.items())
        yield paper.paint(f"[not shown: {', '.join(names)}]", "warn")
