"""What group and ungroup did, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, counted, joined, notes

if TYPE_CHECKING:
    from kbdb.model.change import GroupResult


def draw_grouped(result: GroupResult, paper: Paper) -> str:
    """The grouping, and what it no longer lists."""
    told = [f"grouped {result.docid} ({counted(len(result.kbids), 'section')})"]
    return joined([*told, *_rehoused(result), *notes(result.warnings, paper)])


def draw_ungrouped(result: GroupResult, paper: Paper) -> str:
    """The document that is no more, and what became of its sections."""
    told = [f"ungrouped {result.docid} ({counted(len(result.kbids), 'section')})"]
    return joined([*told, *_rehoused(result), *notes(result.warnings, paper)])


def _rehoused(result: GroupResult) -> list[str]:
    return [f"now a document of its own: {docid}" for docid in result.documents]
