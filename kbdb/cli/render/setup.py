"""setup for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, Style, joined, notes, visible
from kbdb.cli.render.table import Column, columns

if TYPE_CHECKING:
    from kbdb.cli.setup import Done
    from kbdb.setup.overview import Seen

_WORDS = {
    "add": ("added kbdb to", "would add kbdb to"),
    "update": ("updated kbdb in", "would update kbdb in"),
    "remove": ("took kbdb out of", "would take kbdb out of"),
}
LONG = 1000
"""Lines of a diff with more characters are cut to the change and ``AROUND`` characters on both sides."""

AROUND = 40

_LINES: dict[str, Style] = {"+": "good", "-": "bad", "@": "dim"}


def draw_done(done: Done, paper: Paper) -> str:
    """The diff, what was done to which file, and what to do next."""
    change = done.change
    file, title = paper.plain(str(change.file)), change.client.title
    lines = [_painted(line, paper) for line in _shortened(change.diff.split("\n")[:-1])]
    if change.action == "none":
        told = "has kbdb already" if change.entry else "has no kbdb"
        lines.append(f"nothing to change: {title} {told} ({file})")
    else:
        done_to, would = _WORDS[change.action]
        lines.append(f"{done_to if done.written else would} {file}")
    if change.kept:
        away = f"kbdb setup {change.client.name} --scope {change.scope} --remove takes all out"
        lines.append(paper.plain(f"kept of the entry: {', '.join(change.kept)}; {away}"))
    if change.left_out:
        lines.append(paper.plain(f"left out, for kbdb mcp does not take it: {' '.join(change.left_out)}"))
    if change.server is not None:
        lines.append(paper.paint(paper.plain(f"database: {change.server.database}"), "dim"))
    if done.missing:
        lines += notes([done.missing], paper)
    if done.written and change.action != "remove":
        lines.append(f"next: {change.client.afterwards}")
    return joined(lines)


def draw_overview(seen: tuple[Seen, ...], paper: Paper) -> str:
    """A line for each settings file of each program."""
    rows = [("CLIENT", "INSTALLED", "SCOPE", "KBDB", "FILE")]
    faults: list[str] = []
    for one in seen:
        for at, setting in enumerate(one.settings):
            name, installed = (one.client.name, "yes" if one.installed else "no") if at == 0 else ("", "")
            rows.append((name, installed, setting.scope, setting.state, str(setting.file)))
            faults += [setting.fault] if setting.fault else []
    form = (Column("strong"), Column(), Column(), Column(), Column("dim", cut=True, rank=1))
    told = "kbdb setup CLIENT puts kbdb into one; with --dry-run it only shows what would change"
    return joined([*columns(paper, rows, form), *notes(faults, paper), told])


def _shortened(lines: list[str]) -> list[str]:
    """The lines of a diff, of a file that is one long line only what stands around the change."""
    long = [line for line in lines if len(line) > LONG]
    if len(long) != 2 or long[0][0] != "-" or long[1][0] != "+":
        return lines
    from kbdb.setup.change import common

    old, new = long
    start = common(old[1:], new[1:]) + 1
    end = common(old[start:][::-1], new[start:][::-1])
    shown = {
        line: f"{line[0]}…{line[max(1, start - AROUND) : len(line) - max(0, end - AROUND)]}…" for line in (old, new)
    }
    return [shown.get(line, line) for line in lines]


def _painted(line: str, paper: Paper) -> str:
    text = visible(line.removesuffix("\r"))
    style = _LINES.get(line[:1])
    return paper.paint(text, style) if style else text
