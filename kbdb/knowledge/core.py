"""The one mutable object behind a KnowledgeBase: truth, beliefs and index of an open database, kept in step.

Used by one thread at a time; its owner holds the database's lock. Everything that writes goes through ``commit``;
everything that reads the index goes through ``snapshot``. Other threads read what ``reading`` gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from kbdb.config import Config, load
from kbdb.errors import CorruptError, DatabaseClosedError, KbdbError, SectionNotFoundError
from kbdb.index.api import Stem
from kbdb.index.engine import engine, stemmer
from kbdb.index.fingerprint import describe
from kbdb.ingest.document import Parse
from kbdb.knowledge.embedding import Embedding
from kbdb.knowledge.indexer import DocumentListings, Indexer
from kbdb.knowledge.liveness import Liveness
from kbdb.knowledge.vectors import HeldVectors
from kbdb.knowledge.view import View
from kbdb.languages import stop_words
from kbdb.model.truth import Event, Section
from kbdb.progress import Report
from kbdb.query.lexicon import Analysis
from kbdb.query.synonyms import load_synonyms
from kbdb.store.beliefs import Beliefs, replay
from kbdb.store.events import new_event_id
from kbdb.store.store import Change, Store
from kbdb.store.times import instant_after, now_instant
from kbdb.store.write_lock import WriteLock

JOURNAL_LIMIT = 16 << 20
JOURNAL_COMMITS = 4096
"""Bytes and commits of journal past which a commit checkpoints, so that opening after a crash takes about a second."""

RESTORE_EVENTS = "restore the events files from a copy, or accept the loss with: kbdb rebuild"


class Core:
    """An open database.

    Attributes:
        store: the truth files and their journal.
        config: worker.toml as read when the database was opened.
        indexer: the index.
        analysis: what queries are resolved with, whatever the snapshot.
        embedding: where vectors come from; shared with all that read.
        parse: what parses files instead of this process, where that is wanted.
        pause: called between two batches of a long learn, when nothing is planned: others may write then.
        skill_names: by kbid, of the skills whose files were read for them. They stay true, for a section never changes.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.config: Config = load(store.layout.config)
        self.engine = engine()
        search, language = self.config.search, self.config.analysis.language
        self.params = search.params()
        self.stem: Stem = stemmer(language)
        built_with = describe(self.engine, language, self.params)
        memory = self.config.index.build_memory_mb << 20
        self.indexer = Indexer(store, self.engine, built_with, self.params, self.stem, memory, lambda: len(self.events))
        synonyms = load_synonyms(store.layout.synonyms, self.stem)
        self.analysis = Analysis(self.engine.tokenise, self.stem, stop_words(language), synonyms)
        self.embedding = Embedding(self.config)
        self.parse: Parse | None = None
        self.pause: Callable[[], None] | None = None
        self.skill_names: dict[str, str] = {}
        self._events: dict[str, Event] | None = None
        self._beliefs: Beliefs | None = None
        self._liveness: Liveness | None = None
        self._snapshot: View | None = None
        self._snapshot_until = ""
        self._last_event = ""
        self._write_lock = WriteLock(store.layout.root)
        self._closed = False
        self._together = False
        self._read_at: int | None = None
        self._refreshing = Lock()

    @classmethod
    def create(cls, root: Path) -> Core:
        """Makes a new, empty database and becomes its owner."""
        return cls._over(Store.create(root))

    @classmethod
    def open(cls, root: Path) -> Core:
        """Opens a database and becomes its owner."""
        return cls._over(Store.open(root))

    @classmethod
    def _over(cls, store: Store) -> Core:
        try:
            return cls(store)
        except BaseException:
            store.close()
            raise

    @property
    def generation(self) -> int:
        return self.store.reached if self._read_at is None else self._read_at

    @property
    def notices(self) -> tuple[str, ...]:
        """What happened on its own and the user should know, such as an index made anew."""
        delayed = self.store.delayed
        waiting = (f"stored, but not all files are written yet: {delayed.message}",) if delayed else ()
        lost = (f"{self.lost_events}; {RESTORE_EVENTS}",) if self.lost_events else ()
        unmerged = (self.indexer.unmerged,) if self.indexer.unmerged else ()
        return (*lost, *self.indexer.notices, *unmerged, *waiting)

    @property
    def lost_events(self) -> str:
        """That events which were known are in no file any more, and what that means; ``""`` where all are there."""
        count = self.indexer.lost_events
        if not count:
            return ""
        were = "1 event that was known is" if count == 1 else f"{count:,} events that were known are"
        return f"{were} in no events file any more: what was forgotten or corrected may be back"

    def close(self) -> None:
        """Brings what is only in memory or in the journal to its place, and gives the database up.

        Where that cannot be done now, nothing is lost: the journal is read again at the next opening.
        """
        if self._closed or self._read_at is not None:
            return
        self._closed = True
        try:
            if self.indexer.loaded:
                self._try_checkpoint()
            self.indexer.drop_merge()
        finally:
            self._let_go()

    @property
    def is_merging(self) -> bool:
        """Whether segments are merged beside the work; ``settle`` takes over what is done."""
        return self.indexer.is_merging

    def settle(self) -> None:
        """Brings what is only in memory or in the journal to its place; long merges go on beside the work."""
        self._try_checkpoint(soon=True)

    def let_go(self) -> None:
        """Gives the database up and writes nothing more: its folder is somebody else's now, or gone."""
        self._closed = True
        self._let_go()

    def _let_go(self) -> None:
        self._snapshot = None
        # Whoever owns the database next makes folders where the merge does.
        self.indexer.end_merge()
        self._write_lock.close()
        self.store.close()

    @property
    def waits(self) -> str:
        """Who holds the write lock that a write waits for, and since when; ``""`` while none does."""
        return self._write_lock.waits

    @contextmanager
    def writing(
        self, patience_s: float | None = None, ended: Callable[[], KbdbError | None] | None = None
    ) -> Iterator[None]:
        """Holds the write lock for one operation; within another one it is held already.

        Args:
            patience_s: how long to wait for it; None: as long as a write does.
            ended: gives what to raise once there is nothing to wait for (see ``WriteLock.held``).

        Raises:
            DatabaseClosedError: after ``close``.
            BusyError: another program holds it, and does not let it go.
        """
        self.require_unclosed()
        with self._write_lock.held(patience_s, ended):
            yield

    def require_unclosed(self) -> None:
        """Raises DatabaseClosedError after ``close``."""
        if self._closed:
            raise DatabaseClosedError("this KnowledgeBase is closed", "open the database again with kbdb.open")

    def require_open(self) -> None:
        """What every verb asks first: the database is open, and its folder is still there.

        The index is in memory and would go on to answer for a folder that is gone.

        Raises:
            DatabaseClosedError: after ``close``.
            NotADatabaseError: the database was removed or moved away.
        """
        self.require_unclosed()
        self.store.require_standing()

    def event(self, kind: str, actor: str, **fields: Any) -> Event:
        """A new event of this moment, by this clone; after all that are known, even where a clock went back."""
        now = self._last_event = instant_after(datetime.now(UTC), self._newest_event())
        return replace(Event(new_event_id(now), now, self.store.writer, actor, kind), **fields)

    def follow(self, events: Iterable[Event]) -> None:
        """Makes new events come after these, which are about to be stored."""
        self._last_event = max((self._newest_event(), *(event.time for event in events)))

    @property
    def events(self) -> dict[str, Event]:
        """All events by id.

        Raises:
            CorruptError: an events file is damaged; nothing can be believed then.
        """
        if self._events is None:
            self._events = {event.id: event for event in self.store.read_events()}
        return self._events

    @property
    def beliefs(self) -> Beliefs:
        """What all events together say."""
        if self._beliefs is None:
            self._beliefs = replay(self.events.values())
        return self._beliefs

    def beliefs_with(self, events: Sequence[Event]) -> Beliefs:
        """What would be believed if these events were stored too.

        Raises:
            CorruptError: two different events have one id.
        """
        if not events:
            return self.beliefs
        ids = {event.id for event in events}
        begins = min((event.time, event.id) for event in events)
        if begins > self.beliefs.newest and len(ids) == len(events) and not any(id in self.events for id in ids):
            return self.beliefs.continued(events)
        return replay([*self.events.values(), *events])

    def _newest_event(self) -> str:
        if not self._last_event:
            self._last_event = max((event.time for event in self.events.values()), default="")
        return self._last_event

    def readable(self, kbids: Iterable[str]) -> list[Section]:
        """Those of the sections that are stored and can be read."""
        found = []
        for kbid in kbids:
            if not self.store.has_section(kbid):
                continue
            try:
                found.append(self.store.read_section(kbid))
            except (SectionNotFoundError, CorruptError):
                continue
        return found

    def title_of(self, kbid: str) -> str:
        """The title of a stored section; ``""`` where its file is damaged."""
        return next((section.title for section in self.readable([kbid])), "")

    def commit(self, changes: Sequence[Change]) -> int:
        """Stores changes durably, each whole or not at all, and brings beliefs and index up to date.

        Returns:
            The generation after the last change.
        """
        before, known, reached = self.indexer.listings(changes), self.events, self.generation
        try:
            self._take_in(changes)
            events = [event for change in changes for event in change.events]
            if events:
                self._believe(events, known)
            self._absorb(changes, before)
            self._snapshot = None
        except BaseException:
            if self.generation != reached:
                self._forget()
            raise
        if not self._together:
            self._checkpoint_if_long()
        return self.generation

    def between_batches(self) -> None:
        """Calls ``pause``; not while commits wait for a sync that they share."""
        if self.pause is not None and not self._together:
            self.pause()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Makes the commits within durable with one sync, at the end; until then none is acknowledged.

        Raises:
            StorageError: that sync failed, and none of them is stored.
        """
        before = _Before(
            self.store.generation, self.indexer.still(), self._beliefs, self._snapshot, self._snapshot_until
        )
        self._together = True
        try:
            yield
        finally:
            self._together = False
            if self.store.reached != self.store.generation:
                self._sync_together(before)
        self._checkpoint_if_long()

    def _sync_together(self, before: _Before) -> None:
        try:
            self.store.sync()
        except BaseException:
            self._forget()
            if self.store.generation == before.generation and self.indexer.go_back(before.indexer):
                self._beliefs, self._snapshot = before.beliefs, before.snapshot
                self._snapshot_until = before.snapshot_until
            raise

    def _take_in(self, changes: Sequence[Change]) -> None:
        if not self._together:
            self.store.commit(*changes)
            return
        for change in changes:
            self.store.append(change)

    def _checkpoint_if_long(self) -> None:
        is_long = self.store.journal_bytes > JOURNAL_LIMIT or self.store.journal_commits > JOURNAL_COMMITS
        if is_long or self.indexer.holds_many_vectors:
            self._try_checkpoint(soon=True)

    def _believe(self, events: Sequence[Event], known: dict[str, Event]) -> None:
        """Takes in events that are stored."""
        later = self._beliefs is not None and min(event.time for event in events) > self._beliefs.newest[0]
        beliefs = self.beliefs_with(events) if later else None
        known.update((event.id, event) for event in events)
        self._last_event = max((event.time for event in events), default="") if later else ""
        self._beliefs = beliefs
        if beliefs is None:
            self._liveness = None
        elif self._liveness is not None:
            self._liveness.follow(beliefs, events)

    def hold_vectors(self, vectors: HeldVectors) -> None:
        """Goes on with these vectors: they change neither truth nor generation, and are written with the index."""
        self.indexer.take_vectors(vectors)
        if self._snapshot is not None:
            self._snapshot = self._snapshot.with_vectors(vectors.files)
        if vectors.is_long and not self._together:
            self._try_checkpoint(soon=True)

    def checkpoint(self, *, soon: bool = False) -> None:
        """Writes the index, makes the truth files durable and empties the journal, in this order.

        Files that a full disk delayed go first: the index notes when the manifests were last changed.

        Args:
            soon: a commit waits for it, so that segments much larger than what is new are not merged now.
        """
        self.store.sync()
        self.indexer.flush(soon=soon)
        self._snapshot = None
        self.store.checkpoint()

    def _is_settled(self) -> bool:
        """Whether a checkpoint would have nothing to do."""
        waiting = self.store.journal_commits or self.store.delayed or self.indexer.has_merged
        return not waiting and self.indexer.is_written

    def _absorb(self, changes: Sequence[Change], before: DocumentListings) -> None:
        """Brings the index up to what is stored by now; one that is too damaged for that is made anew."""
        try:
            redescribed = self.indexer.absorb(changes, before)
            self.embedding.look_again((s.kbid for change in changes for s in change.sections), redescribed)
        except KbdbError as error:
            self.indexer.abandon(f"it could not take in a change ({error.message})")

    def _try_checkpoint(self, *, soon: bool = False) -> None:
        """A checkpoint between commits. What was committed is stored, so a refusal is told, not raised."""
        try:
            if not self._is_settled():
                # Nobody waits for it: what another program keeps from being written stands in the journal.
                with self._write_lock.held(patience_s=0.0):
                    self.checkpoint(soon=soon)
        except KbdbError as error:
            self.indexer.tell(f"the journal could not be emptied yet: {error.message}")

    def _forget(self) -> None:
        """Drops what is held in memory of the truth files, after a commit that it may not show in full."""
        self._events = self._beliefs = self._liveness = self._snapshot = None
        self._last_event = ""
        self.indexer.abandon("a change was interrupted")

    def rebuild(self, progress: Report | None = None) -> int:
        """Makes the index anew from the truth files alone; returns how many sections it holds.

        Events that were lost count no more afterwards.
        """
        sections = self.indexer.rebuild(progress)
        self.indexer.lost_events = 0
        self.checkpoint()
        return sections

    def snapshot(self) -> View:
        """The index at the current generation and this instant."""
        shown = self._current_snapshot()
        if shown is None:
            with self._refreshing:
                # Whoever waited here finds what the one before made.
                shown = self._current_snapshot() or self._fresh_snapshot()
        return shown

    def _current_snapshot(self) -> View | None:
        ended = self._snapshot_until and utc_now() >= self._snapshot_until
        return None if ended else self._snapshot

    def reading(self) -> Core:
        """What is stored and believed now, for other threads to read while this goes on: later commits do not show.

        What files say is read from them, and shows no commit before it is durable.

        Several threads may use it at a time; nothing that writes may be called on it.
        """
        self.snapshot()
        still = copy(self)
        still.store = self.store.committed()
        still.indexer = self.indexer.reading(still.store)
        still._read_at = self.generation
        # Both go on changing here; they are made anew if a section's time runs out.
        still._events = still._liveness = None
        still._refreshing = Lock()
        return still

    def _fresh_snapshot(self) -> View:
        now = utc_now()
        segments = self.indexer.segments
        if self._liveness is None:
            self._liveness = Liveness(self.beliefs, now)
        else:
            self._liveness.advance(now)
        live = self._liveness.live(segments.slots)
        vectors = self.indexer.vectors.files
        shown = self._snapshot = View(self.generation, segments, live, self.params, self.analysis, vectors=vectors)
        self._snapshot_until = self.beliefs.next_expiry(now)
        return shown

    def document_is_live(self, docid: str) -> bool:
        """Whether a manifest counts: neither forgotten nor retired."""
        return self.beliefs.document(docid).state == "live"


@dataclass(frozen=True, slots=True)
class _Before:
    """What was held in memory of a generation. None of it ever changes, so keeping it costs nothing."""

    generation: int
    indexer: Indexer
    beliefs: Beliefs | None
    snapshot: View | None
    snapshot_until: str


def utc_now() -> str:
    """This instant as events write it."""
    return now_instant()
