"""where, config and doctor for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, Style, joined
from kbdb.cli.render.table import Column, columns

if TYPE_CHECKING:
    from kbdb.cli.about import Settings
    from kbdb.cli.doctor import Diagnosis
    from kbdb.paths import Location

_MARKS: dict[str, tuple[str, Style]] = {"ok": ("ok", "good"), "warning": ("warning", "warn"), "error": ("error", "bad")}


CHANGED_SETTINGS = "worker.toml or synonyms.toml changed since it read them"
RESTART = "kbdb daemon restart makes them take effect"


def draw_where(location: Location, paper: Paper) -> str:
    """The path on a line of its own, then why."""
    state = "" if location.exists else "; it does not exist yet, and only kbdb init creates it"
    return joined([paper.plain(str(location.root)), paper.paint(f"because {location.reason}{state}", "dim")])


def draw_config(settings: Settings, paper: Paper) -> str:
    """Key, value and origin of each setting."""
    from kbdb.config import DEFAULT_ORIGIN, toml_value

    config = settings.config
    rows = [(key, toml_value(value), config.origins[key]) for key, value in config.values.items()]
    lines = columns(paper, rows, (Column("strong"), Column(cut=True), Column("dim")))
    changed = sum(origin != DEFAULT_ORIGIN for origin in config.origins.values())
    told = f"{changed} set in {settings.path}" if settings.exists else f"{settings.path} does not exist: all defaults"
    lines.append(paper.paint(paper.plain(told), "dim"))
    if settings.daemon and not settings.daemon["settings_current"]:
        lines.append(f"the daemon, process {settings.daemon['pid']}, goes on with others: {CHANGED_SETTINGS}")
        lines.append(paper.paint(RESTART, "dim"))
    return joined(lines)


def draw_diagnosis(diagnosis: Diagnosis, paper: Paper) -> str:
    """Each finding on a line, with a remedy where one is needed."""
    lines = []
    for finding in diagnosis.findings:
        word, style = _MARKS[finding.status]
        lines.append(f"{paper.paint(f'{word:<7}', style)}  {finding.name}: {paper.plain(finding.message)}")
        if finding.hint:
            lines.append(f"         {paper.paint('hint:', 'dim')} {paper.plain(finding.hint)}")
    return joined(lines)
