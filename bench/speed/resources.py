"""What a process has used: CPU seconds, peak memory, private memory."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

MB = 1e6
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def cpu_seconds() -> float:
    """User and system time of this process, its threads, and its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak_rss_mb() -> float:
    """The most memory this process ever held, plus the most its largest ended child did, mapped files included."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return (own.ru_maxrss + children.ru_maxrss) * _RSS_UNIT / MB


def private_mb() -> float | None:
    """Memory that is this process's alone and written to; None where the system does not tell."""
    path = Path("/proc/self/smaps_rollup")
    if not path.exists():
        return None
    fields = dict(line.split(":", 1) for line in path.read_text(encoding="ascii").splitlines()[1:])
    return int(fields["Private_Dirty"].split()[0]) * 1024 / MB


def measured(work: Callable[[], object]) -> dict[str, Any]:
    """Wall and CPU seconds of some work, and the peak of the process's memory until its end."""
    wall, cpu = perf_counter(), cpu_seconds()
    work()
    return {"wall_s": perf_counter() - wall, "cpu_s": cpu_seconds() - cpu, "peak_rss_mb": peak_rss_mb()}
