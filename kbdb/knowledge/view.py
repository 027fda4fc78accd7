"""A snapshot of the index with what is known of its words; a search reads nothing else of the index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kbdb.index.snapshot import Snapshot
from kbdb.query.lexicon import Analysis, Lexicon


@dataclass(frozen=True)
class View(Snapshot):
    """A snapshot that queries are resolved against.

    Attributes:
        analysis: of the database.
    """

    analysis: Analysis

    @cached_property
    def lexicon(self) -> Lexicon:
        """What resolving asks of the snapshot; kept as long as it."""
        return Lexicon(self.searcher, self.analysis)
