"""Where things are: the files inside a database, and which database a command means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DATABASE_FOLDER = ".kbdb"


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths inside one database folder (DESIGN: on disk).

    Attributes:
        root: the ``.kbdb`` folder itself.
    """

    root: Path

    @property
    def home(self) -> Path:
        """The folder that holds ``.kbdb``; relative source paths are relative to it."""
        return self.root.parent

    @property
    def catalog(self) -> Path:
        return self.root / "catalog.toml"

    @property
    def config(self) -> Path:
        return self.root / "worker.toml"

    @property
    def synonyms(self) -> Path:
        return self.root / "synonyms.toml"

    @property
    def sections(self) -> Path:
        return self.root / "sections"

    @property
    def documents(self) -> Path:
        return self.root / "documents"

    @property
    def events(self) -> Path:
        return self.root / "events"

    @property
    def journal(self) -> Path:
        return self.root / "journal.log"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def indexes(self) -> Path:
        return self.root / "indexes"

    @property
    def index_meta(self) -> Path:
        return self.indexes / "meta.toml"

    def section(self, kbid: str) -> Path:
        return self.sections / kbid[:2] / f"{kbid}.sec"

    def manifest(self, docid: str) -> Path:
        return self.documents / f"{docid}.toml"
