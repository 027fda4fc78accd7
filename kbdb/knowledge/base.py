"""KnowledgeBase: an open database and its verbs. Checks arguments, then hands over to the verb's module.

Verbs other than search are imported when first asked for: a command needs one, and starts sooner without the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Literal

from kbdb.checks import utf8
from kbdb.errors import InvalidArgumentError, KbdbError, StorageError
from kbdb.ingest.document import Parse
from kbdb.knowledge import search as searching
from kbdb.knowledge.arguments import (
    check_kbids,
    check_lists,
    check_section_type,
    check_texts,
    check_who,
    types_of,
)
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import clean_tags
from kbdb.knowledge.named import names_section, require_document
from kbdb.knowledge.one_write import one_write
from kbdb.knowledge.search import SearchOptions
from kbdb.knowledge.skill_verbs import SkillVerbs
from kbdb.knowledge.upkeep_verbs import UpkeepVerbs
from kbdb.knowledge.vector_verbs import VectorVerbs
from kbdb.lines import line_range
from kbdb.model.change import GroupResult, RemoveSectionResult, RestoreResult, UpdateResult
from kbdb.model.learn import AddSectionResult
from kbdb.model.read import Completion, DocumentPage, DocumentView, ListResult, RecallResults, SectionView, SectionViews
from kbdb.model.search import PagedSearchResult
from kbdb.progress import Report
from kbdb.store.ids import check_docid


class KnowledgeBase(SkillVerbs, UpkeepVerbs, VectorVerbs):
    """An open database. Use it as a context manager, or close it: closing writes the index and empties the journal.

    One thread at a time may use it; ``reading`` gives others something to read. All methods raise DatabaseClosedError
    after ``close``, InvalidIdError for what is not a kbid or docid, CorruptError for damaged files and StorageError
    where the file system refuses; those that write raise BusyError where another program keeps the write lock.
    """

    def __init__(self, core: Core) -> None:
        self._core = core

    @classmethod
    def create(cls, root: Path) -> KnowledgeBase:
        """Makes a new, empty database and becomes its owner (errors as in ``kbdb.init``)."""
        return cls(Core.create(root))

    @classmethod
    def open(cls, root: Path) -> KnowledgeBase:
        """Opens a database in this process, which becomes its owner (errors as in ``kbdb.open``).

        Args:
            root: the ``.kbdb`` folder.
        """
        return cls(Core.open(root))

    @property
    def root(self) -> Path:
        """The ``.kbdb`` folder."""
        return self._core.store.layout.root

    @property
    def identity(self) -> str:
        """The database's id, the same in all its copies."""
        return self._core.store.catalog.id

    @property
    def format(self) -> int:
        """The version of its truth files."""
        return self._core.store.catalog.format

    @property
    def failure(self) -> StorageError | None:
        """Why nothing more can be stored before the database is opened again, or None. Reading goes on."""
        return self._core.store.failure

    @property
    def is_read_only(self) -> bool:
        """Whether its files could only be read when it was opened."""
        return self._core.store.is_read_only

    @property
    def generation(self) -> int:
        """The number of the last commit."""
        return self._core.generation

    def close(self) -> None:
        """Gives the database up. Closing twice is fine."""
        self._core.close()

    def pause_with(self, pause: Callable[[], None]) -> None:
        """Has ``pause`` called between the batches of a long ``learn``; it may read and write."""
        self._core.pause = pause

    @property
    def is_merging(self) -> bool:
        """Whether segments are merged beside the work; ``settle`` takes over what is done."""
        return self._core.is_merging

    def settle(self) -> None:
        """Writes the index and empties the journal, as closing does; long merges go on beside the work."""
        self._core.require_unclosed()
        self._core.settle()

    def let_go(self) -> None:
        """Gives the database up and writes nothing more, where its folder is gone or somebody else's by now."""
        self._core.let_go()

    def reading(self) -> KnowledgeBase:
        """What is stored now, for other threads to read while this one writes: later commits do not show in it.

        It may be read by several threads at once until the database is closed; closing it does nothing.
        """
        self._core.require_unclosed()
        return KnowledgeBase(self._core.reading())

    def writing(
        self, patience_s: float | None = None, ended: Callable[[], KbdbError | None] | None = None
    ) -> AbstractContextManager[None]:
        """A context that holds the write lock; the verbs in it do not take it again.

        Args:
            patience_s: how long to wait for it; None: as long as a write does.
            ended: asked during the wait; gives what to raise once there is nothing to wait for.
        """
        return self._core.writing(patience_s, ended)

    @property
    def waits(self) -> str:
        """Who holds the write lock that a write waits for, and since when; ``""`` while none does."""
        return self._core.waits

    def together(self) -> AbstractContextManager[None]:
        """A context whose writes become durable at its end, with one sync; none of them is acknowledged before.

        Raises:
            StorageError: at its end, when none of them could be stored.
        """
        self._core.require_unclosed()
        return self._core.together()

    def parse_with(self, parse: Parse) -> None:
        """Lets ``parse`` take the files apart that are learned, in the place of ``kbdb.ingest.parse.parse``."""
        self._core.parse = parse

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @one_write
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
        """Learns files and folders, or one text.

        Args:
            paths: files and folders, or one of them. A bad file fails alone, with its reason in the result.
            content: a text instead of paths.
            title: of the document; for one file or text. A skill or agent is called by its kebab-case form, which a
                warning names.
            type: media type; else the file's name tells.
            section_type: ``default``, ``skill`` or ``agent``; a source of the latter two is one section.
            description: what the document is about.
            tags: added to those the source gives and those it had.
            docid: of the document to make, renew or (with content) join.
            replace: a new section supersedes the live one of its title.
            supersedes: kbids whose place the new section takes.
            include: in folders, only files that match one of these globs.
            exclude: in folders, no files that match one of these globs.
            prune: retire documents whose file is gone from a learned folder.
            wait_embeddings: make the vectors of what was learned now, instead of leaving that to a daemon.
            who: ``user``, ``agent``, ``import`` or ``auto-capture``.
            progress: called after each file, and before a text is stored.
        """
        from kbdb.knowledge.embed_sections import with_vectors
        from kbdb.knowledge.learn import learn_paths
        from kbdb.knowledge.planning import LearnOptions
        from kbdb.knowledge.statement import learn_content

        self._core.require_open()
        if (paths is None) == (content is None):
            raise InvalidArgumentError("learn takes either paths or content", "give one of them")
        if isinstance(paths, (str, PathLike)):
            paths = [paths]
        check_lists(tags=tags, supersedes=supersedes, include=include, exclude=exclude)
        check_who(who)
        check_texts(title=title or "", type=type or "", description=description or "", tag="".join(tags))
        if section_type is not None:
            check_section_type(section_type)
        check_kbids(supersedes)
        options = LearnOptions(
            title=title,
            type=type,
            section_type=section_type,
            description=description,
            tags=clean_tags(tags),
            docid=None if docid is None else check_docid(docid),
            replace=replace,
            supersedes=tuple(supersedes),
            include=tuple(include),
            exclude=tuple(exclude),
            prune=prune,
            who=who,
        )
        if content is not None:
            data = utf8(content, "content") if isinstance(content, str) else content
            learned = learn_content(self._core, data, options, progress)
        else:
            learned = learn_paths(self._core, [Path(path) for path in paths or ()], options, progress)
        return with_vectors(self._core, learned) if wait_embeddings else learned

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
        """Finds live sections by words, best first. Free text is never a syntax error.

        Args:
            query: words, ``"a phrase"``, ``-without``, ``prefix*``, ``title:word``, ``tag:x``, ``type:x``, ``doc:x``.
            mode: ``lexical``, ``vector`` or ``hybrid``; None: as worker.toml says.
            limit: hits on the page, 1 to 1000; None: as worker.toml says.
            offset: hits to leave out before it.
            content: give whole sections too.
            explain: give every word's share of the scores too.
            tags: a hit has all of them. Filters never change scores.
            type: media type of the hits.
            section_type: partition of the hits.
            docid: document of the hits, by docid or by the path it was learned from.

        Raises:
            EmbeddingProviderNotConfiguredError: vector or hybrid mode.
        """
        self._core.require_open()
        check_lists(tags=tags)
        config = self._core.config.search
        options = SearchOptions(
            mode=config.mode if mode is None else mode,
            limit=config.limit if limit is None else limit,
            offset=offset,
            content=content,
            explain=explain,
            tags=clean_tags(tags),
            type=type,
            section_type=section_type,
            docid=docid,
        )
        return searching.search(self._core, query, options)

    def rank(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """The bare engine call: (kbid, score) of the best sections, nothing read from their files.

        Args:
            query: as in ``search``; its filters hold.
            limit: how many at most.
        """
        self._core.require_open()
        return searching.rank(self._core, query, limit)

    def recall(
        self,
        kbid: str | None = None,
        kbids: Sequence[str] | None = None,
        *,
        depth: int | None = None,
        max_tokens: int | None = None,
        format: Literal["full", "compact"] = "full",
    ) -> RecallResults:
        """Sections in full, with what links to and from them and what stands beside them.

        Args:
            kbid: one section, or
            kbids: several.
            depth: how many links to follow, 0 to 3; None: none, or with max_tokens as many as it allows.
            max_tokens: budget for the contents.
            format: ``compact`` leaves out what stands around.
        """
        from kbdb.knowledge import recall as recalling

        self._core.require_open()
        if (kbid is None) == (kbids is None):
            raise InvalidArgumentError("recall takes either kbid or kbids", "give one of them")
        if format not in ("full", "compact"):
            raise InvalidArgumentError(f"format is {format!r}", "use full or compact")
        check_lists(kbids=kbids or ())
        wanted = [kbid] if kbid is not None else list(kbids or ())
        check_kbids(wanted)
        return recalling.recall(self._core, wanted, depth, max_tokens, compact=format == "compact")

    def retrieve(
        self,
        kbid: str | None = None,
        docid: str | None = None,
        *,
        lines: str | None = None,
        max_bytes: int | None = None,
    ) -> SectionView | DocumentView:
        """One section or one document as it is stored, byte for byte.

        Args:
            kbid: the section, or
            docid: the document.
            lines: only these of its lines, such as ``12-40``, ``12-`` or ``12``; ``12:300-`` begins with a character.
            max_bytes: only so many bytes of them, in whole lines where one fits.
        """
        from kbdb.knowledge import reading

        self._core.require_open()
        part = (
            None if lines is None and max_bytes is None else (None if lines is None else line_range(lines), max_bytes)
        )
        if names_section(self._core, kbid, docid):
            return reading.retrieve_section(self._core, str(kbid), part)
        return reading.retrieve_document(self._core, str(docid), part)

    def read_sections(self, kbids: Sequence[str]) -> SectionViews:
        """Several sections as ``retrieve`` gives one, in this order, and which of them are not stored."""
        from kbdb.knowledge import reading

        self._core.require_open()
        check_lists(kbids=kbids)
        check_kbids(kbids)
        return reading.read_sections(self._core, kbids)

    def content(self, kbid: str | None = None, docid: str | None = None) -> bytes:
        """The bytes of one section or one document, and nothing else."""
        from kbdb.knowledge import reading

        self._core.require_open()
        if names_section(self._core, kbid, docid):
            return reading.section_bytes(self._core, str(kbid))
        return reading.content_of(self._core, require_document(self._core, str(docid)))

    @one_write
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
        """Makes a document that lists stored sections in this order; they go on to stand where they stood.

        A grouping of that docid or title becomes this one. What it no longer lists, and no other live document does,
        gets a document of its own. A grouping keeps what it lists findable, also when its source drops it.

        Args:
            kbids: what it lists, each once; all must be findable, or active and merely listed by nothing.
            title: of the grouping.
            docid: of the grouping, in place of one made of the title; not of a document that mirrors a source.
            description: what it is about; empty: as it was.
            tags: added to those it had.
            who: ``user``, ``agent``, ``import`` or ``auto-capture``.
        """
        from kbdb.knowledge import grouping

        self._core.require_open()
        check_lists(kbids=kbids, tags=tags)
        check_who(who)
        check_texts(title=title, description=description, tag="".join(tags))
        check_kbids(kbids)
        docid = None if docid is None else check_docid(docid)
        return grouping.group(
            self._core, kbids, title, docid=docid, description=description, tags=clean_tags(tags), who=who
        )

    @one_write
    def ungroup(self, docid: str, *, who: str = "user") -> GroupResult:
        """Ends a document without a source; sections that no other live one lists get documents of their own.

        Those take its tags along. Nothing of what it listed is lost, and all answers go on to find it.
        """
        from kbdb.knowledge import grouping

        self._core.require_open()
        check_who(who)
        return grouping.ungroup(self._core, check_docid(docid), who)

    @one_write
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
        """Changes an active section: its title or text by a revision, its tags or description in its document.

        A revision is a new section of the same type that supersedes this one: in its place in all live documents
        without a source, else, where only sources list it, in a document of its own with the same tags.

        Tags and description are a document's: they are set in the one whose place answers show (``docid`` of the
        result), and hold for all it lists. Other documents that list the section keep theirs; tags that a source says
        itself stay. Warnings name both.

        Args:
            kbid: the section.
            title: what its heading, or its title where it has none, is to say.
            content: its new text; Markdown without a heading stands under the old one.
            description: in place of the document's.
            tags: in place of the document's.
            who: ``user``, ``agent``, ``import`` or ``auto-capture``.
        """
        from kbdb.knowledge import updating

        self._core.require_open()
        check_lists(tags=tags)
        check_who(who)
        check_texts(title=title or "", description=description or "", tag="".join(tags or ()))
        check_kbids([kbid])
        options = updating.UpdateOptions(
            title=title,
            content=utf8(content, "content") if isinstance(content, str) else content,
            description=description,
            tags=None if tags is None else clean_tags(tags),
            who=who,
        )
        return updating.update(self._core, kbid, options)

    @one_write
    def unlearn(
        self, kbid: str | None = None, docid: str | None = None, *, reason: str = "", who: str = "user"
    ) -> RemoveSectionResult:
        """Takes a section or a document out of all answers. Nothing is deleted; ``restore`` brings it back."""
        from kbdb.knowledge import forget

        self._core.require_open()
        check_who(who)
        check_texts(reason=reason)
        if names_section(self._core, kbid, docid):
            return forget.unlearn_section(self._core, str(kbid), reason, who)
        return forget.unlearn_document(self._core, str(docid), reason, who)

    @one_write
    def restore(self, kbid: str | None = None, docid: str | None = None, *, who: str = "user") -> RestoreResult:
        """Makes a withdrawn section or document live again; does nothing where it is."""
        from kbdb.knowledge import forget

        self._core.require_open()
        check_who(who)
        if names_section(self._core, kbid, docid):
            return forget.restore_section(self._core, str(kbid), who)
        return forget.restore_document(self._core, str(docid), who)

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
        """A page of documents (by source) or sections (by kbid, or in the order of the document named).

        Args:
            what: ``documents`` or ``sections``.
            state: of documents ``live``, ``retired``, ``forgotten``; of sections a state, or ``unlisted``.
            tags, type, section_type: only what fits all of them; ``type`` takes a section type, too. A document is of
                the section type of any of its sections.
            docid: only this document, named by its docid or by the path it was learned from, or its sections.
            limit: items on the page, at least 1.
            offset: items to leave out before it.
        """
        from kbdb.knowledge import reading

        self._core.require_open()
        check_lists(tags=tags)
        only = reading.ListFilter(state, clean_tags(tags), *types_of(type, section_type), docid)
        return reading.list_(self._core, what, only, limit, offset)

    def documents(self, after: str = "", limit: int = 50) -> DocumentPage:
        """The next live documents past a docid, sorted; costs what the page holds, however large the store.

        Args:
            after: the last docid of the page before, which need not exist any more.
            limit: documents on the page, 1 to 1000.
        """
        from kbdb.knowledge import browsing

        self._core.require_open()
        return browsing.documents(self._core, after, limit)

    def complete(self, what: Literal["docid", "kbid", "tag"], prefix: str, limit: int = 100) -> Completion:
        """Names of what is live that begin with what was typed, sorted.

        Args:
            what: which names; tags come in lower case.
            prefix: what was typed; may be empty.
            limit: how many at most, 1 to 1000.
        """
        from kbdb.knowledge import browsing

        self._core.require_open()
        return browsing.complete(self._core, what, prefix, limit)
