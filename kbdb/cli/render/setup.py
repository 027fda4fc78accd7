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
_LINES: dict[str, Style] = {"+": "good", "-": "bad", "@": "dim"}


def draw_done(done: Done, paper: Paper) -> str:
    """The diff, what was done to which file, and what to do next."""
    change = done.change
    file, title = paper.plain(str(change.file)), change.client.title
    lines = [_painted(line, paper) for line in change.diff.split("\n")[:-1]]
    if change.action == "none":
        told = "has kbdb already" if change.entry else "has no kbdb"
        lines.append(f"nothing to change: {title} {told} ({file})")
    else:
        done_to, would = _WORDS[change.action]
        lines.append(f"{done_to if done.written else would} {file}")
    if done.server is not None:
        lines.append(paper.paint(paper.plain(f"database: {done.server.database}"), "dim"))
    if done.missing:
        lines += notes(["there is no database yet: kbdb init creates one here; then run this again"], paper)
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


def _painted(line: str, paper: Paper) -> str:
    text = visible(line.removesuffix("\r"))
    style = _LINES.get(line[:1])
    return paper.paint(text, style) if style else text
