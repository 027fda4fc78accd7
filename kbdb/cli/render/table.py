"""Rows as aligned columns that fit the paper: wide columns are cut, unimportant ones left out where it is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbdb.cli.render.paper import Paper, Style, cells

GAP = 2
NARROWEST = 8
"""Columns that may be cut keep this many cells."""


@dataclass(frozen=True, slots=True)
class Column:
    """How one column is drawn.

    Attributes:
        style: of its cells.
        cut: whether it may be cut; the widest is cut first.
        rank: columns of the highest rank are left out first; those of rank 0 stay whatever the width.
    """

    style: Style | None = None
    cut: bool = False
    rank: int = 0


def columns(paper: Paper, rows: Sequence[Sequence[str]], form: Sequence[Column]) -> list[str]:
    """The rows as lines.

    Args:
        paper: what they must fit on.
        rows: at least one; all as long as ``form``.
        form: one entry a column.
    """
    clean = [[paper.plain(cell) for cell in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*clean, strict=True)]
    shown = _shown(paper, widths, form)
    if paper.width is not None:
        _shrink(widths, shown, form, paper.width - GAP * (len(shown) - 1))
    return [_line(paper, row, widths, shown, form) for row in clean]


def _line(paper: Paper, row: Sequence[str], widths: Sequence[int], shown: Sequence[int], form: Sequence[Column]) -> str:
    parts = []
    for column in shown:
        text, style = paper.cut(row[column], widths[column]), form[column].style
        parts.append((paper.paint(text, style) if style else text) + " " * (widths[column] - cells(text)))
    return (" " * GAP).join(parts).rstrip()


def _shown(paper: Paper, widths: Sequence[int], form: Sequence[Column]) -> list[int]:
    """The columns for which there is room when all that may be cut is cut."""
    least = [min(width, NARROWEST) if column.cut else width for width, column in zip(widths, form, strict=True)]
    shown = list(range(len(form)))
    while paper.width is not None and sum(least[column] + GAP for column in shown) - GAP > paper.width:
        last = max(shown, key=lambda column: form[column].rank)
        if form[last].rank == 0:
            break
        shown.remove(last)
    return shown


def _shrink(widths: list[int], shown: Sequence[int], form: Sequence[Column], room: int) -> None:
    while sum(widths[column] for column in shown) > room:
        wide = [column for column in shown if form[column].cut and widths[column] > NARROWEST]
        if not wide:
            return
        widths[max(wide, key=lambda column: widths[column])] -= 1
