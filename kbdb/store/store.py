"""The truth files of one database, and the journal that makes changing them safe.

A commit is durable once the journal is: ``append`` takes a change in, ``sync`` writes everything taken in as one frame
and syncs once, and only then do the files follow, unsynced. So no file ever shows what the journal could still lose,
and a failed ``sync`` has changed nothing. ``checkpoint`` syncs the files and empties the journal. Reading sees
everything taken in, files or not; that of ``committed`` only what is durable.

The journal's bytes are ``kbdb.store.journal``, one change's form ``kbdb.store.change``, commits without files yet
``kbdb.store.backlog``, a new database's layout ``kbdb.store.create``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kbdb import platform
from kbdb.errors import (
    CorruptError,
    DatabaseClosedError,
    DocumentNotFoundError,
    KbdbError,
    NotADatabaseError,
    SectionNotFoundError,
    StorageError,
)
from kbdb.model.truth import Event, Manifest, Section
from kbdb.paths import Layout
from kbdb.store import files
from kbdb.store.backlog import Backlog
from kbdb.store.catalog import Catalog, decode_catalog, encode_catalog, new_catalog
from kbdb.store.change import Change, decode_commit, encode_change
from kbdb.store.create import lay_out, writer_of
from kbdb.store.events import decode_events, is_event_file
from kbdb.store.ids import check_docid, is_docid, is_kbid, kbid_decode
from kbdb.store.journal import ChangeKind, Commit, FileChange, Journal
from kbdb.store.lock import OwnerLock
from kbdb.store.manifest import decode_manifest
from kbdb.store.section import decode_plain, decode_section
from kbdb.store.sweep import sweep

__all__ = ["Change", "Store"]

SECTION_SUFFIX = ".sec"
MANIFEST_SUFFIX = ".toml"
_EVERYTHING = 1 << 64

_POINTS = {
    ChangeKind.PUT_SECTION: "sections",
    ChangeKind.PUT_MANIFEST: "documents",
    ChangeKind.APPEND_EVENTS: "events",
    ChangeKind.REMOVE_SECTION: "sections",
    ChangeKind.REMOVE_MANIFEST: "documents",
}


class Store:
    """An open database, owned by this process. Made by ``create`` and ``open``.

    Any thread may read at any time; changes take turns under a lock. Ctrl-C during ``sync`` leaves it done or not done
    (``generation`` tells), never half.

    Attributes:
        layout: its paths.
        catalog: its identity.
        writer: the id under which this copy writes events.
        recovered: the commits found in the journal on opening, oldest first; the last one made ``generation``.
        delayed: why the files of acknowledged commits are not all written yet (a full disk), or None. Nothing is
            lost: the journal has them, reading sees them, and the next sync or checkpoint tries again.
    """

    def __init__(self, layout: Layout, lock: OwnerLock) -> None:
        self.layout = layout
        self.delayed: StorageError | None = None
        self.recovered: tuple[Change, ...] = ()
        self._lock = lock
        self._sections = str(layout.sections)
        self._turn = threading.RLock()
        self._backlog = Backlog()
        self._rewrites = False
        self._unsynced: dict[str, None] = {}
        self._closed = False
        self._root_fd: int | None = None
        try:
            self._root_fd = _open_folder(layout.root)
            self.catalog = _read_catalog(layout)
            self._journal, commits = _open_journal(layout)
        except BaseException:
            self._let_go()
            raise
        try:
            self._recover(commits)
            self.writer = writer_of(layout)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, root: Path) -> Store:
        """Makes a new database and opens it.

        Args:
            root: the ``.kbdb`` folder to make; folders above it are made too.

        Raises:
            DatabaseExistsError: there is one already.
            StorageError: the system refused; what was made is gone again.
        """
        layout = Layout(root)
        return cls(layout, lay_out(layout, encode_catalog(new_catalog(datetime.now(UTC)))))

    @classmethod
    def open(cls, root: Path) -> Store:
        """Opens a database, and first brings it to its last acknowledged state.

        Args:
            root: the ``.kbdb`` folder.

        Raises:
            NotADatabaseError: no catalog there.
            DatabaseLockedError: another owner has it open.
            UnsupportedFormatError: a newer kbdb wrote it.
            CorruptError: catalog or journal are damaged.
        """
        layout = Layout(root)
        if files.size(layout.catalog) is None:
            raise NotADatabaseError(f"{root} is not a database: it has no catalog.toml", "make one with: kbdb init")
        return cls(layout, OwnerLock(layout.lock))

    @property
    def generation(self) -> int:
        """The number of the last acknowledged commit."""
        return self._journal.generation

    @property
    def reached(self) -> int:
        """The generation that what was taken in makes, acknowledged or not."""
        return max(self._backlog.last(), self.generation)

    @property
    def journal_bytes(self) -> int:
        """Length of the journal, which a checkpoint brings down."""
        return self._journal.size

    @property
    def is_read_only(self) -> bool:
        """Whether the journal could only be read when it was opened: nothing can be stored."""
        return self._journal.read_only

    @property
    def journal_commits(self) -> int:
        """How many commits the journal holds."""
        return self._journal.generation - self._journal.start

    @property
    def failure(self) -> StorageError | None:
        """Why nothing more can be stored before the database is opened again, or None. Reading goes on."""
        return self._journal.failure

    def append(self, change: Change) -> int:
        """Takes a change in. It is acknowledged by the next ``sync``, and gone if the process ends or that fails.

        Returns:
            The generation that it will make.
        """
        with self._turn:
            self._require_open()
            self._journal.require_usable()
            commit = self._placed(encode_change(change))
            generation = self.reached + 1
            self._backlog.add(generation, commit)
            return generation

    def sync(self) -> None:
        """Makes everything taken in durable with one sync of the journal, then writes the files.

        Raises:
            StorageError: nothing that was taken in since the last sync is stored.
            NotADatabaseError: the database was removed meanwhile, and what was taken in is gone with it.
        """
        with self._turn:
            self._require_open()
            commits = self._backlog.after(self.generation)
            try:
                self.require_in_place()
                if commits:
                    self._journal.append(commits)
            except BaseException:
                self._backlog = self._backlog.up_to(self.generation)
                raise
            if commits:
                # A removal that was under way takes the journal before or after the lock.
                self.require_in_place()
            self._write_files()

    def require_in_place(self) -> None:
        """Raises NotADatabaseError where the database was removed or moved away: nothing may be written there then."""
        if not self._lock.is_in_place() or not self._journal.is_in_place():
            raise NotADatabaseError.removed(self.layout.root)

    def require_standing(self) -> None:
        """The same at the price of one look at the lock, for all that reads: the folder may be gone at any time."""
        self._require_open()
        if not self._lock.is_in_place():
            raise NotADatabaseError.removed(self.layout.root)

    def commit(self, *changes: Change) -> int:
        """Stores changes durably, a commit each, with what else was taken in: all of it or, on any error, nothing.

        Returns:
            The generation that the last one makes.
        """
        with self._turn:
            try:
                for change in changes:
                    self.append(change)
            except BaseException:
                self._backlog = self._backlog.up_to(self.generation)
                raise
            self.sync()
            return self.generation

    def checkpoint(self) -> None:
        """Makes the truth files durable, then empties the journal; ``generation`` stays.

        Raises:
            StorageError: the system refused; the journal keeps what it has.
        """
        with self._turn:
            self.sync()
            if self._rewrites:
                self._take_up()
                self._write_files(again=True)
            if self.delayed is not None:
                raise self.delayed
            if self._journal.is_empty:
                return
            try:
                self._sync_files()
            except StorageError:
                # The system may have dropped the unwritten bytes and call the files clean from now on: they have to be
                # written again before the journal may let them go, and reading takes them from there meanwhile.
                self._rewrites = True
                self._take_up()
                raise
            self._rewrites = False
            self._journal.restart()
            self.recovered = ()

    def close(self) -> None:
        """Gives the database up, without a checkpoint; what was never synced is gone. Closing twice is fine."""
        with self._turn:
            if not self._closed:
                self._journal.close()
                self._let_go()

    def has_section(self, kbid: str) -> bool:
        """Whether a section is stored.

        Raises:
            InvalidIdError: not a kbid.
        """
        return self.section_size(kbid) is not None

    def section_size(self, kbid: str) -> int | None:
        """Bytes of a section's file, or None when it is not stored."""
        self._require_open()
        kbid_decode(kbid)
        change = self._waiting_section(kbid)
        if change is not None:
            return len(change.data) if change.kind is ChangeKind.PUT_SECTION else None
        return files.size(self.layout.section(kbid))

    def section_bytes(self, kbid: str) -> bytes:
        """A section's file as it is, unchecked.

        Raises:
            SectionNotFoundError: not stored.
        """
        self._require_open()
        kbid_decode(kbid)
        data = _newest(self._waiting_section(kbid), ChangeKind.PUT_SECTION, self.layout.section(kbid))
        if data is None:
            raise SectionNotFoundError(f"no section {kbid} in {self.layout.root}", "search shows the kbid of each hit")
        return data

    def read_section(self, kbid: str) -> Section:
        """A section, checked.

        Raises:
            SectionNotFoundError: not stored.
            CorruptError: the file is not what was written, or is another section's.
        """
        path = self.layout.section(kbid)
        section = decode_section(self.section_bytes(kbid), path)
        if section.kbid != kbid:
            raise CorruptError(f"{path} holds section {section.kbid}", "restore the file from a copy")
        return section

    def read_sections(self, kbids: Iterable[str]) -> Iterator[Section | KbdbError]:
        """Many sections, one after the other; in place of one that ``read_section`` refuses, its error."""
        self._require_open()
        folder = self._sections
        for kbid in kbids:
            data = None if self._waiting_section(kbid) else files.read_small(f"{folder}/{kbid[:2]}/{kbid}.sec")
            section = None if data is None else decode_plain(data)
            if section is not None and section.kbid == kbid:
                yield section
                continue
            try:
                yield self.read_section(kbid)
            except KbdbError as error:
                yield error

    def section_ids(self) -> list[str]:
        """The kbids of all stored sections, sorted."""
        self._require_open()
        up_to = self._seen()
        changes = self._backlog.sections(up_to)
        found = {
            name.removesuffix(SECTION_SUFFIX)
            for folder in files.names(self.layout.sections)
            for name in _names(self.layout.sections / folder, SECTION_SUFFIX)
            if name[:2] == folder
        }
        return _merged((kbid for kbid in found if is_kbid(kbid)), changes, ChangeKind.PUT_SECTION)

    def has_manifest(self, docid: str) -> bool:
        """Whether a document's manifest is stored.

        Raises:
            InvalidIdError: not a docid.
        """
        self._require_open()
        change = self._waiting_manifest(check_docid(docid))
        if change is not None:
            return change.kind is ChangeKind.PUT_MANIFEST
        return files.size(self.layout.manifest(docid)) is not None

    def manifest_bytes(self, docid: str) -> bytes:
        """A manifest's file as it is, unchecked.

        Raises:
            DocumentNotFoundError: not stored.
        """
        self._require_open()
        path = self.layout.manifest(check_docid(docid))
        data = _newest(self._waiting_manifest(docid), ChangeKind.PUT_MANIFEST, path)
        if data is None:
            raise DocumentNotFoundError(
                f"no document {docid} in {self.layout.root}", "search shows the docid of each hit"
            )
        return data

    def read_manifest(self, docid: str) -> Manifest:
        """A manifest, checked.

        Raises:
            DocumentNotFoundError: not stored.
            CorruptError: the file is not what was written, or is another document's.
        """
        path = self.layout.manifest(docid)
        manifest = decode_manifest(self.manifest_bytes(docid), path)
        if manifest.docid != docid:
            raise CorruptError(f"{path} holds document {manifest.docid}", "restore the file from a copy")
        return manifest

    def manifest_ids(self) -> list[str]:
        """The docids of all stored manifests, sorted."""
        self._require_open()
        up_to = self._seen()
        changes = self._backlog.manifests(up_to)
        found = (name.removesuffix(MANIFEST_SUFFIX) for name in _names(self.layout.documents, MANIFEST_SUFFIX))
        return _merged((docid for docid in found if is_docid(docid)), changes, ChangeKind.PUT_MANIFEST)

    def event_files(self) -> list[str]:
        """The names of the events files, sorted."""
        with self._turn:
            self._require_open()
            found = (name for name in files.names(self.layout.events) if is_event_file(name))
            return sorted({*found, *self._backlog.event_names(self._seen())})

    def events_bytes(self, name: str) -> bytes:
        """An events file, with what is still to be appended to it."""
        with self._turn:
            self._require_open()
            data = files.read(self.layout.event_file(name)) or b""
            for change in self._backlog.events(name, self._seen()):
                data = data[: change.offset] + change.data
            return data

    def read_events(self) -> list[Event]:
        """All events, a file after the other.

        Raises:
            CorruptError: a line is not an event.
        """
        with self._turn:
            return [
                event
                for name in self.event_files()
                for event in decode_events(self.events_bytes(name), self.layout.event_file(name))
            ]

    def committed(self) -> Store:
        """This store as readers see it: what is durable, and nothing that may still be lost. Nothing is written by it.

        Threads may use it while this one goes on, until this one is closed.
        """
        return _Committed(self)

    def _seen(self) -> int:
        """The generation up to which reading sees what was taken in.

        To be asked before the backlog: the numbers of commits whose sync failed are given to others.
        """
        return _EVERYTHING

    def _waiting_section(self, kbid: str) -> FileChange | None:
        up_to = self._seen()
        return self._backlog.section(kbid, up_to)

    def _waiting_manifest(self, docid: str) -> FileChange | None:
        up_to = self._seen()
        return self._backlog.manifest(docid, up_to)

    def _recover(self, commits: list[Commit]) -> None:
        if not self._journal.read_only:
            sweep(self.layout, truth=bool(commits))
        where = str(self.layout.journal)
        self.recovered = tuple(decode_commit(commit, where) for commit in commits)
        self._backlog = Backlog(self._numbered(commits))
        self._write_files(again=True)

    def _take_up(self) -> None:
        """Takes all commits of the journal for ones whose files are not written yet."""
        self._backlog = Backlog(self._numbered(self._journal.commits()))

    def _numbered(self, commits: list[Commit]) -> Iterator[tuple[int, Commit]]:
        return enumerate(commits, self.generation - len(commits) + 1)

    def _placed(self, commit: Commit) -> Commit:
        """Sets where event lines begin in their files."""
        return tuple(
            replace(change, offset=self._events_end(change.name)) if change.kind is ChangeKind.APPEND_EVENTS else change
            for change in commit
        )

    def _events_end(self, name: str) -> int:
        coming = self._backlog.events(name, _EVERYTHING)
        if coming:
            return coming[-1].offset + len(coming[-1].data)
        return files.size(self.layout.event_file(name)) or 0

    def _write_files(self, *, again: bool = False) -> None:
        """Brings the files up to the journal. A refusal delays them: the commits are stored all the same.

        Args:
            again: most of them stand already, but may not be what a power cut would leave.
        """
        self.delayed = None
        while (first := self._backlog.first()) is not None and first[0] <= self.generation:
            try:
                for change in first[1]:
                    if not self._backlog.is_outdated(first[0], change, self.generation):
                        self._write_file(change, again=again)
            except StorageError as error:
                self.delayed = error
                return
            self._backlog.done()

    def _write_file(self, change: FileChange, *, again: bool) -> None:
        path, point = self._path(change), _POINTS[change.kind]
        self._unsynced[path] = None
        if change.kind in (ChangeKind.REMOVE_SECTION, ChangeKind.REMOVE_MANIFEST):
            files.remove(path, point=point)
            return
        if change.kind is ChangeKind.APPEND_EVENTS:
            files.make_folder(self.layout.events, below=self.layout.root)
            files.write_at(path, change.offset, change.data, point=point)
        elif again:
            files.write_again(path, change.data, point=point, below=self.layout.root)
        else:
            files.write_atomic(path, change.data, sync=False, point=point, below=self.layout.root)

    def _path(self, change: FileChange) -> str:
        if change.kind in (ChangeKind.PUT_SECTION, ChangeKind.REMOVE_SECTION):
            return self.layout.section(change.name)
        if change.kind is ChangeKind.APPEND_EVENTS:
            return self.layout.event_file(change.name)
        return self.layout.manifest(change.name)

    def _sync_files(self) -> None:
        folders = {os.path.dirname(path) for path in self._unsynced}
        folders |= {os.path.dirname(folder) for folder in folders} | {os.fspath(self.layout.root)}
        files.sync_many(list(self._unsynced), sorted(folders), self.layout.root, self._root_fd)
        self._unsynced.clear()

    def _require_open(self) -> None:
        if self._closed:
            raise DatabaseClosedError(f"{self.layout.root} was closed", "open the database again")

    def _let_go(self) -> None:
        self._closed = True
        if self._root_fd is not None:
            os.close(self._root_fd)
            self._root_fd = None
        self._lock.release()


class _Committed(Store):
    """A store as readers see it. All it has is the other's, so that it follows every commit at no cost."""

    def __init__(self, store: Store) -> None:
        self.__dict__ = store.__dict__

    def _seen(self) -> int:
        return self.generation


def _open_folder(root: Path) -> int | None:
    try:
        return platform.open_folder(root)
    except OSError as error:
        raise StorageError(f"cannot open {root}: {error.strerror}") from error


def _read_catalog(layout: Layout) -> Catalog:
    data = files.read(layout.catalog)
    if data is None:
        raise NotADatabaseError(f"{layout.root} has lost its catalog.toml", "restore it from a copy")
    return decode_catalog(data, layout.catalog)


def _open_journal(layout: Layout) -> tuple[Journal, list[Commit]]:
    """The journal; a copy that came without one gets an empty one.

    What an index shows is told in generations of the journal, so without it no index can be believed. Generation 1
    says that what the files hold came about before.
    """
    if files.size(layout.journal) is not None:
        return Journal.open(layout.journal)
    if files.size(layout.index_meta) is not None:
        files.remove(layout.index_meta, point="meta")
        files.sync_folder(layout.indexes)
    return Journal.create(layout.journal, 1), []


def _newest(change: FileChange | None, put: ChangeKind, path: str) -> bytes | None:
    """What the file holds, or is about to."""
    if change is None:
        return files.read(path)
    return change.data if change.kind is put else None


def _names(folder: Path, suffix: str) -> list[str]:
    return [name for name in files.names(folder) if name.endswith(suffix)]


def _merged(found: Iterable[str], changes: list[FileChange], put: ChangeKind) -> list[str]:
    ids = set(found)
    for change in changes:
        (ids.add if change.kind is put else ids.discard)(change.name)
    return sorted(ids)
