"""The skills that come with kbdb, which are there without a database; kbdb.knowledge and kbdb.mcp show them."""

from __future__ import annotations

from pathlib import Path

BUILT_IN = {
    "memory-protocol": "What to keep in this knowledge base, what to leave out, and how to search, correct and forget.",
}
"""Their descriptions by name, in the order in which they are listed before all others. None has arguments."""


def built_in_text(name: str) -> str:
    """Its text."""
    return (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
