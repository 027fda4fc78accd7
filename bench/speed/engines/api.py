"""What every measured engine offers.

All of them: words are alternatives, English stems, no stop words but kbdb's own handling of them, the ten best with
ids and scores as Python objects, one thread, in process; titles weigh 3.0 where fields have weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from bench.speed.corpus import CorpusSection

LIMIT = 10
TITLE_WEIGHT = 3.0
"""kbdb's default, so that all engines rank by the same weights."""


Rank = Callable[[str], list[tuple[str, float]]]
"""Ids and scores of the best sections for a query."""

Hit = tuple[str, str, float, str]
"""Id, title, score and snippet."""


class Engine(Protocol):
    """An engine over one folder of its own.

    Attributes:
        has_phrases: whether ``rank`` understands quotation marks.
        has_search: whether ``search`` gives title, snippet and total.
    """

    has_phrases: bool
    has_search: bool

    def version(self) -> str:
        """The version of what is measured."""

    def prepare(self, folder: Path) -> None:
        """Imports what the other calls need and reads settings that are in no index, so that neither is measured."""

    def build(self, folder: Path, corpus: Iterable[CorpusSection]) -> None:
        """Indexes a corpus into an empty folder."""

    def open(self, folder: Path) -> None:
        """Opens what was built."""

    def open_bare(self, folder: Path) -> Rank:
        """Opens the index alone, without what stands around it; gives what ranks."""

    def rank(self, query: str) -> list[tuple[str, float]]:
        """Ids and scores of the best sections."""

    def search(self, query: str) -> tuple[int, list[Hit]]:
        """How many sections match, and the best of them."""

    def index_bytes(self, folder: Path) -> int:
        """The size of the index on disk."""


def folder_bytes(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
