"""What learn, unlearn and restore did, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, Style, counted, joined, milliseconds
from kbdb.errors import InterruptedByStopError

if TYPE_CHECKING:
    from kbdb.model.change import RemoveSectionResult, RestoreResult
    from kbdb.model.learn import AddSectionResult, Suppressed

SHOWN = 10
"""Of each kind of remark, this many are listed; --json has all."""


def draw_learned(result: AddSectionResult, paper: Paper) -> str:
    """A summary line, then everything the user should know."""
    return joined([*_summary(result, paper), *_failures(result, paper), *_remarks(result, paper)])


def _summary(result: AddSectionResult, paper: Paper) -> Iterator[str]:
    statuses = Counter(document.status for document in result.documents)
    told = [
        f"{statuses[status]:,} {status}" for status in ("added", "updated", "unchanged", "failed") if statuses[status]
    ]
    if result.interrupted:
        by = "the daemon was stopped; " if result.interrupted_by == InterruptedByStopError.code else ""
        yield f"{paper.paint('interrupted:', 'warn')} {by}what is told here is stored, the rest was not begun"
    if not result.documents:
        yield "nothing to learn"
    elif len(result.documents) == 1 and result.documents[0].status != "failed":
        document = result.documents[0]
        yield paper.cut(f"{document.status} {document.docid} ({counted(document.sections, 'section')})", paper.width)
    else:
        yield f"{counted(len(result.documents), 'document')}: {', '.join(told)}"
    yield paper.paint(
        f"sections: {result.sections_added:,} added, {result.sections_reused:,} reused, "
        f"{result.sections_retired:,} retired; {milliseconds(result.elapsed_ms)}",
        "dim",
    )


def _failures(result: AddSectionResult, paper: Paper) -> Iterator[str]:
    for document in result.documents:
        if document.error is not None:
            error = document.error
            yield f"{paper.paint('failed:', 'bad')} {paper.plain(document.source)}: {paper.plain(error['message'])}"
            if error.get("hint"):
                yield f"  {paper.paint('hint:', 'dim')} {paper.plain(error['hint'])}"


def _remarks(result: AddSectionResult, paper: Paper) -> Iterator[str]:
    held = [_held(text, paper) for text in result.suppressed]
    alike = [
        f"{pair.kbid} {_alike(pair.jaccard)} {pair.other} ({paper.plain(pair.title)})"
        for pair in result.near_duplicates
    ]
    yield from _listed("held back", held, "warn", paper)
    yield from _listed("near duplicate", alike, "warn", paper)
    yield from _listed("superseded", result.superseded, "dim", paper)
    gone = [docid for docid in result.missing if docid not in set(result.pruned)]
    yield from _listed("source is gone", gone, "warn", paper)
    if gone:
        yield f"  {paper.paint('hint:', 'dim')} --prune retires documents whose file is gone"
    yield from _listed("retired", result.pruned, "warn", paper)
    yield from _listed("note", result.warnings, "warn", paper)


def _alike(jaccard: float) -> str:
    """How like two sections are; 100% would be said of two that differ in a word of many."""
    return "has the same words as" if jaccard == 1.0 else f"is {int(jaccard * 100)}% like"


def _held(text: Suppressed, paper: Paper) -> str:
    why = f", {paper.plain(text.reason)}" if text.reason else ""
    told = f"{paper.plain(text.title) or '(untitled)'} ({text.state} on {text.since[:10]}{why})"
    return f"{told}: {text.restore} brings it back" if text.restore else told


def _listed(what: str, lines: Sequence[str], style: Style, paper: Paper) -> Iterator[str]:
    label = paper.paint(f"{what}:", style)
    yield from (f"{label} {paper.plain(line)}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"{label} {len(lines) - SHOWN:,} more; --json lists all"


def draw_unlearned(result: RemoveSectionResult, paper: Paper) -> str:
    """What is out of the answers now, and how to take it back."""
    receipt = result.receipt
    what = receipt.docid or ", ".join(receipt.kbids)
    if not result.removed:
        return joined([f"already unlearned; take it back with: {receipt.restore}"])
    lines = [
        f"unlearned {paper.plain(what)}" + (f" ({counted(len(receipt.kbids), 'section')})" if receipt.docid else "")
    ]
    if receipt.others:
        lines.append(f"{paper.paint('note:', 'warn')} also listed by: {paper.plain(', '.join(receipt.others))}")
    return joined([*lines, f"take it back with: {receipt.restore}"])


def draw_restored(result: RestoreResult, paper: Paper) -> str:
    """What is found again."""
    if not result.kbids and not result.docid:
        return joined(["nothing to restore: it is active"])
    what = paper.plain(result.docid or ", ".join(result.kbids))
    return joined([f"restored {what}" + (f" ({counted(len(result.kbids), 'section')})" if result.docid else "")])
