"""Client: all that a daemon can be asked, by the names of KnowledgeBase and by those of the specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kbdb.client.calls import content_as_json, listed
from kbdb.client.skills import SkillVerbs
from kbdb.client.verbs import Verbs

if TYPE_CHECKING:
    from kbdb.model.change import GroupResult, RemoveSectionResult, UpdateResult
    from kbdb.model.learn import AddSectionResult
    from kbdb.model.read import DocumentView, ListResult
    from kbdb.model.upkeep import DbStatus, RebuildResult
    from kbdb.progress import Report


class Client(Verbs, SkillVerbs):
    """The daemon of a database, found or started. Use it as a context manager, or close it; the daemon stays.

    Any thread may use it; one call goes on at a time. All methods raise what the daemon's KnowledgeBase raises, and
    DaemonLostError or DaemonStartError where no daemon answers.

    Args:
        path: the folder that holds ``.kbdb``, or ``.kbdb`` itself.
        start: whether to start a daemon where there is none.
        timeout_s: how long a call may wait for news from the daemon; None: a read for as long as
            the daemon shows that it lives, a write for ever.

    Raises:
        NotADatabaseError: there is no such folder.
        DatabaseLockedError: a process that is no daemon owns the database.
        DaemonStartError: no daemon came up; says why.
        DaemonLostError: there is none, and ``start`` is false.
    """

    def add_section(
        self,
        content: str | bytes,
        *,
        type: str | None = None,
        title: str | None = None,
        description: str | None = None,
        docid: str | None = None,
        tags: Sequence[str] = (),
        section_type: str | None = None,
        wait_embeddings: bool = False,
        who: str = "user",
    ) -> AddSectionResult:
        """Learns one text (``learn`` with content)."""
        from kbdb.model.learn import AddSectionResult

        params = {
            "content": content_as_json(content),
            "type": type,
            "title": title,
            "description": description,
            "docid": docid,
            "tags": listed(tags=tags),
            "sectionType": section_type,
            "waitEmbeddings": wait_embeddings or None,
            "who": who,
        }
        return self._value(AddSectionResult, "addSection", params)

    def update_section(
        self,
        kbid: str,
        *,
        title: str | None = None,
        content: str | bytes | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        who: str = "user",
    ) -> UpdateResult:
        """``update``."""
        return self.update(kbid, title=title, content=content, description=description, tags=tags, who=who)

    def remove_section(
        self, kbid: str | None = None, docid: str | None = None, *, reason: str = "", who: str = "user"
    ) -> RemoveSectionResult:
        """``unlearn``."""
        return self.unlearn(kbid, docid, reason=reason, who=who)

    def retrieve_document(self, docid: str) -> DocumentView:
        """One document as it is stored, byte for byte."""
        from kbdb.model.read import DocumentView

        return self._value(DocumentView, "retrieveDocument", {"docid": docid})

    def list_by_type(self, section_type: str) -> ListResult:
        """The live sections of one section type."""
        from kbdb.model.read import ListResult

        return self._value(ListResult, "listByType", {"sectionType": section_type})

    def list_documents_by_type(self, doc_type: str) -> ListResult:
        """The live documents of one media type, or with sections of one section type."""
        from kbdb.model.read import ListResult

        return self._value(ListResult, "listDocumentsByType", {"docType": doc_type})

    def group_sections(
        self,
        kbids: Sequence[str],
        title: str,
        *,
        docid: str | None = None,
        description: str = "",
        tags: Sequence[str] = (),
        who: str = "user",
    ) -> GroupResult:
        """``group``."""
        return self.group(kbids, title, docid=docid, description=description, tags=tags, who=who)

    def remove_grouping(self, docid: str, *, who: str = "user") -> GroupResult:
        """``ungroup``."""
        return self.ungroup(docid, who=who)

    def init_directory(self) -> DbStatus:
        """The status of the database, which exists: a daemon serves no other."""
        from kbdb.model.upkeep import DbStatus

        return self._value(DbStatus, "initDirectory")

    def rebuild_indexes(self, progress: Report | None = None) -> RebuildResult:
        """``rebuild``."""
        return self.rebuild(progress)

    def db_status(self) -> DbStatus:
        """``status``."""
        return self.status()

    def daemon_status(self) -> Mapping[str, Any]:
        """What the daemon is doing: pid, version, uptime, memory, connections, who waits."""
        return self.call_raw("daemonStatus")

    def shutdown(self) -> None:
        """Asks the daemon to end once what is under way is done. The next call would start another."""
        self.call_raw("shutdown")
        self.close()

    def disconnect(self) -> None:
        """``close``."""
        self.close()
