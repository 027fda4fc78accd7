"""The gate of release branches: compares results with the bars, names what misses, and says whether they pass."""

from __future__ import annotations

from bench.speed.bars import SIZE, rows
from bench.speed.results import Results
from bench.speed.table import number


def failures(results: Results, size: int = SIZE) -> list[str]:
    """One line for each bar that is missed or was not measured; empty when the gate is open."""
    found = []
    for row in rows(results, size):
        if row.verdict == "pass":
            continue
        against = f" x {row.against}" if row.against else f" {row.unit}"
        said = "not measured" if row.measured is None else f"{number(row.measured)}{against}"
        found.append(f"{row.what}: {said}, bar {row.bar:g}{against}")
    return found
