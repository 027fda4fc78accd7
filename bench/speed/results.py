"""Results of benchmark runs: one JSON file, to which each run adds what it measured."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Results = dict[str, Any]
"""``machine``, ``versions``, ``skipped`` (engine: reason), and ``sizes``: by size, as text, by phase, by engine."""


def empty() -> Results:
    """Nothing measured yet."""
    return {"machine": {}, "versions": {}, "skipped": {}, "sizes": {}}


def read(path: Path) -> Results:
    """The results in a file; empty ones where there is none."""
    if not path.exists():
        return empty()
    found: Results = json.loads(path.read_text(encoding="utf-8"))
    return found


def write(path: Path, results: Results) -> None:
    """Replaces the file by these results."""
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    unfinished.rename(path)


def add(results: Results, size: int, phase: str, measured: Results) -> None:
    """Puts in what a phase measured; what it measured before stays where it is not measured now."""
    phases = results["sizes"].setdefault(str(size), {})
    phases.setdefault(phase, {}).update(measured)


def machine() -> dict[str, str]:
    """What the results were measured on."""
    memory = _first_after("/proc/meminfo", "MemTotal").partition(" ")[0]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpu": _first_after("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": f"{os.cpu_count()} cores",
        "memory": f"{int(memory) / (1 << 20):.0f} GiB" if memory else "",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _first_after(path: str, label: str) -> str:
    """What stands after a label and a colon in a file of such lines; empty where there is none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(label)), "")
