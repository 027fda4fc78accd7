"""The verbs of ``KnowledgeBase``, done by the daemon.

Signatures are those of ``kbdb.knowledge.base``, where they are explained; a test keeps them the same. Paths are made
absolute here, because the daemon stands in another folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

from kbdb.client.calls import Calls, content_as_json, listed
from kbdb.paths import absolute

if TYPE_CHECKING:
    from kbdb.model.change import GroupResult, RemoveSectionResult, RestoreResult, UpdateResult
    from kbdb.model.learn import AddSectionResult
    from kbdb.model.read import (
        Completion,
        DocumentPage,
        DocumentView,
        ListResult,
        RecallResults,
        SectionView,
        SectionViews,
    )
    from kbdb.model.search import PagedSearchResult
    from kbdb.model.similar import SimilarResult
    from kbdb.model.upkeep import CheckResult, DbStatus, ExportResult, GcResult, RebuildResult
    from kbdb.progress import Report


class Verbs(Calls):
    """What a KnowledgeBase does, under the same names."""

    def learn(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
        *,
        content: str | bytes | None = None,
        title: str | None = None,
        type: str | None = None,
        section_type: str | None = None,
        description: str | None = None,
        tags: Sequence[str] = (),
        docid: str | None = None,
        replace: bool = False,
        supersedes: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prune: bool = False,
        wait_embeddings: bool = False,
        who: str = "user",
        progress: Report | None = None,
    ) -> AddSectionResult:
        """Learns files and folders, or one text."""
        from kbdb.model.learn import AddSectionResult

        if isinstance(paths, (str, PathLike)):
            paths = [paths]
        params = {
            "paths": None if paths is None else [absolute(path) for path in paths],
            "content": content_as_json(content),
            "title": title,
            "type": type,
            "sectionType": section_type,
            "description": description,
            "tags": listed(tags=tags),
            "docid": docid,
            "replace": replace,
            "supersedes": listed(supersedes=supersedes),
            "include": listed(include=include),
            "exclude": listed(exclude=exclude),
            "prune": prune,
            "waitEmbeddings": wait_embeddings or None,
            "who": who,
        }
        return self._value(AddSectionResult, "learn", params, progress)

    def search(
        self,
        query: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        content: bool = False,
        explain: bool = False,
        tags: Sequence[str] = (),
        type: str | None = None,
        section_type: str | None = None,
        docid: str | None = None,
    ) -> PagedSearchResult:
        """Finds live sections by words, best first."""
        from kbdb.model.search import PagedSearchResult

        params = {
            "query": query,
            "mode": mode,
            "limit": limit,
            "offset": offset,
            "content": content,
            "explain": explain,
            "tags": listed(tags=tags),
            "type": type,
            "sectionType": section_type,
            "docid": docid,
        }
        return self._value(PagedSearchResult, "search", params)

    def similar(self, kbid: str, limit: int = 10) -> SimilarResult:
        """The live sections that are nearest in meaning to a section."""
        from kbdb.model.similar import SimilarResult

        return self._value(SimilarResult, "similar", {"kbid": kbid, "limit": limit})

    def rank(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """(kbid, score) of the best sections."""
        hits = self.call_raw("search", {"query": query, "mode": "lexical", "limit": limit})["hits"]
        return [(hit["kbid"], hit["score"]) for hit in hits]

    def recall(
        self,
        kbid: str | None = None,
        kbids: Sequence[str] | None = None,
        *,
        depth: int | None = None,
        max_tokens: int | None = None,
        format: Literal["full", "compact"] = "full",
    ) -> RecallResults:
        """Sections in full, with what links to and from them and what stands beside them."""
        from kbdb.model.read import RecallResults

        params = {
            "kbid": kbid,
            "kbids": listed(kbids=kbids),
            "depth": depth,
            "maxTokens": max_tokens,
            "format": format,
        }
        return self._value(RecallResults, "recall", params)

    def retrieve(
        self,
        kbid: str | None = None,
        docid: str | None = None,
        *,
        lines: str | None = None,
        max_bytes: int | None = None,
    ) -> SectionView | DocumentView:
        """One section or one document as it is stored, byte for byte."""
        from kbdb.model.read import DocumentView, SectionView

        kind: type[SectionView | DocumentView] = DocumentView if kbid is None else SectionView
        params = {"kbid": kbid, "docid": docid, "lines": lines, "maxBytes": max_bytes}
        return self._value(kind, "retrieve", params)

    def read_sections(self, kbids: Sequence[str]) -> SectionViews:
        """Several sections as ``retrieve`` gives one, in this order, and which of them are not stored."""
        from kbdb.model.read import SectionViews

        return self._value(SectionViews, "readSections", {"kbids": listed(kbids=kbids)})

    def content(self, kbid: str | None = None, docid: str | None = None) -> bytes:
        """The bytes of one section or one document, and nothing else."""
        from kbdb.client.values import from_json

        answer = self.call_raw("content", {"kbid": kbid, "docid": docid})
        return from_json(bytes, answer.get("content"))

    def group(
        self,
        kbids: Sequence[str],
        title: str,
        *,
        docid: str | None = None,
        description: str = "",
        tags: Sequence[str] = (),
        who: str = "user",
    ) -> GroupResult:
        """Makes a document that lists stored sections in this order."""
        from kbdb.model.change import GroupResult

        params = {
            "kbids": listed(kbids=kbids),
            "title": title,
            "docid": docid,
            "description": description,
            "tags": listed(tags=tags),
            "who": who,
        }
        return self._value(GroupResult, "groupSections", params)

    def ungroup(self, docid: str, *, who: str = "user") -> GroupResult:
        """Ends a grouping; sections that no other document lists get documents of their own."""
        from kbdb.model.change import GroupResult

        return self._value(GroupResult, "removeGrouping", {"docid": docid, "who": who})

    def update(
        self,
        kbid: str,
        *,
        title: str | None = None,
        content: str | bytes | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        who: str = "user",
    ) -> UpdateResult:
        """Changes a section: its title or text by a revision, its tags or description in its document."""
        from kbdb.model.change import UpdateResult

        params = {
            "kbid": kbid,
            "title": title,
            "content": content_as_json(content),
            "description": description,
            "tags": listed(tags=tags),
            "who": who,
        }
        return self._value(UpdateResult, "updateSection", params)

    def unlearn(
        self, kbid: str | None = None, docid: str | None = None, *, reason: str = "", who: str = "user"
    ) -> RemoveSectionResult:
        """Takes a section or a document out of all answers."""
        from kbdb.model.change import RemoveSectionResult

        params = {"kbid": kbid, "docid": docid, "reason": reason, "who": who}
        return self._value(RemoveSectionResult, "removeSection", params)

    def restore(self, kbid: str | None = None, docid: str | None = None, *, who: str = "user") -> RestoreResult:
        """Makes a withdrawn section or document live again."""
        from kbdb.model.change import RestoreResult

        return self._value(RestoreResult, "restore", {"kbid": kbid, "docid": docid, "who": who})

    def list(
        self,
        what: Literal["documents", "sections"] = "documents",
        *,
        state: str | None = None,
        tags: Sequence[str] = (),
        type: str | None = None,
        section_type: str | None = None,
        docid: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> ListResult:
        """A page of documents or sections."""
        from kbdb.model.read import ListResult

        params = {
            "what": what,
            "state": state,
            "tags": listed(tags=tags),
            "type": type,
            "sectionType": section_type,
            "docid": docid,
            "limit": limit,
            "offset": offset,
        }
        return self._value(ListResult, "list", params)

    def documents(self, after: str = "", limit: int = 50) -> DocumentPage:
        """The next live documents past a docid, sorted."""
        from kbdb.model.read import DocumentPage

        return self._value(DocumentPage, "documents", {"after": after, "limit": limit})

    def complete(self, what: Literal["docid", "kbid", "tag"], prefix: str, limit: int = 100) -> Completion:
        """Names of what is live that begin with what was typed, sorted."""
        from kbdb.model.read import Completion

        return self._value(Completion, "complete", {"what": what, "prefix": prefix, "limit": limit})

    def status(self) -> DbStatus:
        """Counts by state, file sizes, generation, engine, and what is stale."""
        from kbdb.model.upkeep import DbStatus

        return self._value(DbStatus, "dbStatus")

    def check(
        self, progress: Report | None = None, *, duplicates: bool = False, threshold: float | None = None
    ) -> CheckResult:
        """Verifies truth files, index and every checksum; changes nothing."""
        from kbdb.model.upkeep import CheckResult

        return self._value(CheckResult, "check", {"duplicates": duplicates, "threshold": threshold}, progress)

    def rebuild(self, progress: Report | None = None) -> RebuildResult:
        """Makes the index anew from the truth files alone."""
        from kbdb.model.upkeep import RebuildResult

        return self._value(RebuildResult, "rebuildIndexes", progress=progress)

    def gc(self, dry_run: bool = False, *, keep_days: int | None = None, progress: Report | None = None) -> GcResult:
        """Removes what no document lists any more."""
        from kbdb.model.upkeep import GcResult

        return self._value(GcResult, "gc", {"dryRun": dry_run, "keepDays": keep_days}, progress)

    def export(self, path: str | PathLike[str] = "kbdb-export", progress: Report | None = None) -> ExportResult:
        """Writes the truth files and a list of their hashes to a folder."""
        from kbdb.model.upkeep import ExportResult

        return self._value(ExportResult, "export", {"path": absolute(path)}, progress)

    def import_(self, path: str | PathLike[str], progress: Report | None = None) -> ExportResult:
        """Takes an export in, after verifying every hash."""
        from kbdb.model.upkeep import ExportResult

        return self._value(ExportResult, "import", {"path": absolute(path)}, progress)
