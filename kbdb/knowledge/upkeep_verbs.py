"""The verbs of a KnowledgeBase about the database as a whole. Hands over to the verb's module."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from kbdb.knowledge.core import Core
from kbdb.knowledge.one_write import one_write
from kbdb.model.upkeep import CheckResult, DbStatus, ExportResult, GcResult, RebuildResult
from kbdb.progress import Report


class UpkeepVerbs:
    """What a KnowledgeBase tells of itself, verifies, makes anew, cleans up, and carries elsewhere."""

    _core: Core

    def status(self) -> DbStatus:
        """Counts by state, file sizes, generation, engine, and what is stale."""
        from kbdb.knowledge import upkeep

        self._core.require_open()
        return upkeep.status(self._core)

    def check(
        self, progress: Report | None = None, *, duplicates: bool = False, threshold: float | None = None
    ) -> CheckResult:
        """Verifies truth files, index and every checksum; changes nothing.

        Args:
            progress: called now and then.
            duplicates: report live sections that mean nearly the same, too, as far as they have vectors.
            threshold: the least cosine of such, above 0 and up to 1; None: 0.95.
        """
        from kbdb.knowledge import check as checking

        self._core.require_open()
        return checking.check(self._core, progress, checking.least_cosine(duplicates, threshold))

    @one_write
    def rebuild(self, progress: Report | None = None) -> RebuildResult:
        """Makes the index anew from the truth files alone.

        Args:
            progress: called now and then.
        """
        from kbdb.knowledge import upkeep

        self._core.require_open()
        return upkeep.rebuild(self._core, progress)

    @one_write
    def gc(self, dry_run: bool = False, *, keep_days: int | None = None, progress: Report | None = None) -> GcResult:
        """Removes what no document lists any more.

        Args:
            dry_run: only tell what would go.
            keep_days: how long what was retired or superseded stays; None: as worker.toml says.
            progress: called now and then until it is known what goes.
        """
        from kbdb.knowledge import upkeep

        self._core.require_open()
        return upkeep.gc(self._core, keep_days, dry_run=dry_run, progress=progress)

    def export(self, path: str | PathLike[str] = "kbdb-export", progress: Report | None = None) -> ExportResult:
        """Writes the truth files and a list of their hashes to a folder; an earlier export there is replaced.

        Args:
            path: the folder.
            progress: called now and then.
        """
        from kbdb.knowledge import transfer

        self._core.require_open()
        return transfer.export(self._core, Path(path), progress)

    @one_write
    def import_(self, path: str | PathLike[str], progress: Report | None = None) -> ExportResult:
        """Takes an export in, after verifying every hash.

        Args:
            path: the folder.
            progress: called now and then until all is verified.
        """
        from kbdb.knowledge import transfer

        self._core.require_open()
        return transfer.import_(self._core, Path(path), progress)
