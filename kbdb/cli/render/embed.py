"""embed for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, joined, size

if TYPE_CHECKING:
    from kbdb.embed.fetch import Fetched


def draw_fetched(fetched: Fetched, paper: Paper) -> str:
    """Where the model is, then how much of it came now."""
    state = f"{size(fetched.downloaded)} downloaded" if fetched.downloaded else "it was there already"
    told = f"{size(fetched.bytes)}, SHA-256 {fetched.sha256} as it should be; {state}"
    return joined([paper.plain(fetched.path), paper.paint(told, "dim")])
