"""What the commands of ``daemon`` say, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbdb.cli.render.admin import daemon_words
from kbdb.cli.render.paper import Paper, joined


def draw_daemon(facts: Mapping[str, Any], paper: Paper) -> str:
    """That a daemon runs, and what it does; that it does not say; or that none runs."""
    if not facts["running"]:
        return joined(["no daemon runs", paper.paint("the next command starts one", "dim")])
    if not facts["answers"]:
        pid = facts["pid"]
        return joined([f"the daemon, process {pid}, does not answer", paper.paint(not_answering(pid), "dim")])
    return joined([f"kbdb {paper.plain(facts['version'])}, {daemon_words(facts)}"])


def not_answering(pid: int) -> str:
    """What to do about a daemon that is there and does not answer."""
    return f"it starts, ends or hangs; kbdb daemon stop waits for its end, kill -9 {pid} does not"


def draw_stopped(facts: Mapping[str, Any], paper: Paper) -> str:
    """That the daemon was stopped, or that there was none."""
    told = "stopped" if facts["stopped"] else "no daemon ran"
    return joined([told, paper.paint("the next command starts one", "dim")])


def draw_logs(log: Mapping[str, Any], paper: Paper) -> str:
    """The lines, or where there are none."""
    return joined([paper.plain(line) for line in log["lines"]] or [f"nothing in {paper.plain(log['path'])}"])
