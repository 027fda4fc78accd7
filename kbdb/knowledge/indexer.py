"""Keeps the index in step with the truth files: loads it, adds what commits change, writes it, makes it anew.

Holds the current list of segments; ``Core`` is its only user. What a section's entry holds is decided in ``entries``,
how segments merge in ``kbdb.index.segments``, how they lie on disk in ``kbdb.store.index_files``.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial

from kbdb.errors import (
    CorruptError,
    DocumentNotFoundError,
    KbdbError,
    SectionNotFoundError,
    StaleIndexError,
    StorageError,
    UnsupportedFormatError,
)
from kbdb.index import bitmaps
from kbdb.index.api import EngineModule, Into, Segment, Stem
from kbdb.index.fingerprint import fingerprint
from kbdb.index.pieces import build_in_pieces
from kbdb.index.segments import SegmentList
from kbdb.ingest.media import is_text
from kbdb.knowledge.entries import Listing, StoredSection, entry_of, source_key
from kbdb.knowledge.listings import Listings
from kbdb.knowledge.merging import Merging
from kbdb.knowledge.vectors import HeldVectors
from kbdb.model.truth import Manifest, Section
from kbdb.plan import Entry, Params
from kbdb.progress import Report, now_and_then
from kbdb.store import index_files, vector_files
from kbdb.store.ids import kbid_decode, kbid_encode
from kbdb.store.index_files import IndexMeta
from kbdb.store.store import Change, Store

MERGE_PAUSE_S, LONGEST_MERGE_PAUSE_S = 60.0, 3600.0
"""Before merging is tried again that failed; each time twice as long: it reads and writes all of what it merges."""

DocumentListings = dict[str, set[str]]
"""For each docid, the kbids it lists."""


class Indexer:
    """The index of an open database.

    Attributes:
        notices: what went otherwise than hoped and the user should know.
        meta: what is on disk, or None where nothing is.
        left_out: kbids of stored sections that could not be read, and so are not in the index.
        was_stale: whether what was on disk could not be used, and what was made instead is not written yet.
        unmerged: why segments could not be merged beside the work the last time, or ``""``.
        lost_events: how many events were known when the index was written and are in no file now; None before the
            index is loaded, and where the events cannot be read.
    """

    def __init__(
        self,
        store: Store,
        engine: EngineModule,
        built_with: str,
        params: Params,
        stem: Stem,
        build_memory: int,
        count_events: Callable[[], int],
    ) -> None:
        self.store = store
        self.engine = engine
        self.built_with = built_with
        self.fingerprint = fingerprint(built_with)
        self.params = params
        self.stem = stem
        self.build_memory = build_memory
        self.count_events = count_events
        self.notices: list[str] = []
        self.meta: IndexMeta | None = None
        self.left_out: set[str] = set()
        self.was_stale = False
        self.lost_events: int | None = None
        self._segments: SegmentList | None = None
        self._vectors: HeldVectors | None = None
        self._vectors_in_the_making: tuple[int, ...] = ()
        self._left_behind = ""
        self.unmerged = ""
        self._merging: Merging | None = None
        self._merge_pause_s = 0.0
        self._merge_not_before = 0.0

    @property
    def is_merging(self) -> bool:
        """Whether a merge goes on beside the work, or waits to be taken over by ``flush``."""
        return self._merging is not None

    @property
    def has_merged(self) -> bool:
        """Whether a merge waits to be taken over by ``flush``."""
        return self._merging is not None and self._merging.is_done

    @property
    def loaded(self) -> bool:
        return self._segments is not None

    @property
    def segments(self) -> SegmentList:
        """The segments; read from disk when first asked for, and made anew where they are stale."""
        if self._segments is None:
            self._load()
        assert self._segments is not None
        return self._segments

    @property
    def is_written(self) -> bool:
        """Whether the index is on disk as it is."""
        segments = self.segments
        on_disk = all(slot.folder is not None for slot in segments.slots) and self.vectors.is_written
        return on_disk and self.meta == self._described(segments)

    @property
    def vectors(self) -> HeldVectors:
        """The vectors; opened when first asked for, and never made here."""
        if self._vectors is None:
            try:
                self._open_vectors(index_files.read_meta(self.store.layout))
            except CorruptError:
                # Whoever loads the index is told. A rebuild comes here without; which vectors counted, nobody knows.
                self._open_vectors_in(vector_files.folders(self.store.layout))
        assert self._vectors is not None
        return self._vectors

    def _open_vectors(self, meta: IndexMeta | None) -> None:
        self._open_vectors_in(meta.vectors if meta else ())

    def _open_vectors_in(self, folders: Sequence[int]) -> None:
        if self._vectors is None:
            self._vectors = HeldVectors.load(self.store.layout, self.engine, folders)

    @property
    def holds_many_vectors(self) -> bool:
        """Whether so many vectors are in memory alone that they should be written."""
        return self._vectors is not None and self._vectors.is_long

    def take_vectors(self, vectors: HeldVectors) -> None:
        """Goes on with these vectors; they are written with the index."""
        self._vectors = vectors

    def spill(self, vectors: HeldVectors) -> HeldVectors:
        """Writes vectors that are in the making, and that no index names before ``take_vectors``."""
        written = vectors.written(self.store.layout, soon=True)
        self._vectors_in_the_making = written.folders
        return written

    def drop_spilled(self) -> None:
        """Vectors are in the making no more; folders that the index does not name go when it is written next."""
        self._vectors_in_the_making = ()

    def tell(self, notice: str) -> None:
        """Adds a notice, once."""
        if notice not in self.notices:
            self.notices.append(notice)

    def reading(self, store: Store) -> Indexer:
        """The index as it is now over a store for readers, for others to read while this goes on."""
        still = self.still()
        still.store = store
        return still

    def still(self) -> Indexer:
        """The index as it is now; later changes do not show in it."""
        still = copy(self)
        still.notices, still.left_out = list(self.notices), set(self.left_out)
        return still

    def go_back(self, before: Indexer) -> bool:
        """Returns to an earlier state, the one that the truth files show; false where it was written anew since."""
        if self.meta is not before.meta:
            return False
        self._segments, self._left_behind = before._segments, before._left_behind
        self._vectors = before._vectors
        self.left_out, self.was_stale = set(before.left_out), before.was_stale
        return True

    def abandon(self, reason: str) -> None:
        """Lets go of an index that may not show the last commit; it is made anew when next asked for."""
        self.end_merge()
        self._segments, self._left_behind = None, reason

    def stored(self, kbid: str) -> StoredSection | None:
        """What the index keeps of a section, or None where it does not hold it."""
        data = self._stored_bytes(kbid)
        return None if data is None else StoredSection.decode(data)

    def manifests_listing(self, *kbids: str) -> list[Manifest]:
        """The manifests that list any of the sections, by docid, live or not; each is read once."""
        docids = {place.docid for kbid in kbids if (stored := self.stored(kbid)) for place in stored.places}
        manifests, wanted = filter(None, map(self.manifest, sorted(docids))), frozenset(kbids)
        return [manifest for manifest in manifests if any(p.kbid in wanted for p in manifest.sections)]

    def holding(self, key: str) -> set[str]:
        """The kbids of the sections that hold a filter key."""
        found: set[str] = set()
        for slot in self.segments.slots:
            holders = slot.segment.holders(key)
            found.update(kbid_encode(slot.segment.kbid(e)) for e in holders if bitmaps.has(slot.current, e))
        return found

    def documents_from(self, source: str) -> list[str]:
        """The docids of documents with sections that were learned from a path, sorted."""
        found: set[str] = set()
        for slot in self.segments.slots:
            for entry in slot.segment.holders(source_key(source)):
                if bitmaps.has(slot.current, entry):
                    places = StoredSection.decode(slot.segment.stored(entry)).places
                    found.update(place.docid for place in places if place.source == source)
        return sorted(found)

    def listings(self, changes: Sequence[Change]) -> DocumentListings:
        """What the documents that these changes touch are listed with in the index now.

        The index is loaded by this at the latest: once a change is stored, one that was not cannot take it in.
        """
        assert self.segments is not None
        return {docid: self.holding(f"doc:{docid}") for change in changes for docid in touched(change)}

    def absorb(self, changes: Sequence[Change], before: DocumentListings) -> set[str]:
        """Brings the index up to changes that are stored; ``before`` are the ``listings`` of just before.

        Returns:
            The sections that only a description speaks for, and that have another one now.
        """
        removed: set[str] = set()
        fresh = {section.kbid: section for change in changes for section in change.sections}
        listing: dict[str, set[str]] = {kbid: set() for kbid in set(fresh).union(*before.values())}
        told: dict[str, Listing | None] = {}
        for change in changes:
            removed.difference_update(section.kbid for section in change.sections)
            removed.update(change.removed_sections)
            for manifest in change.manifests:
                told[manifest.docid] = Listing(manifest)
                for placement in manifest.sections:
                    listing.setdefault(placement.kbid, set()).add(manifest.docid)
            told.update(dict.fromkeys(change.removed_documents))
        entries = []
        redescribed: set[str] = set()
        for kbid in sorted(listing.keys() - removed):
            known = self._stored_bytes(kbid)
            docids = listing[kbid]
            if known is not None:
                docids = docids.union(place.docid for place in StoredSection.decode(known).places)
            for docid in docids:
                if docid not in told:
                    told[docid] = self._listing(docid)
            listings = [known_as for docid in docids if (known_as := told[docid])]
            entry = self._entry(kbid, listings, fresh.get(kbid))
            if entry is None:
                removed.add(kbid)
                self.left_out.add(kbid)
                continue
            self.left_out.discard(kbid)
            if known != entry.stored:
                entries.append(entry)
                if known is not None and _is_redescribed(known, entry.stored):
                    redescribed.add(kbid)
        self.left_out.difference_update(*(change.removed_sections for change in changes))
        if entries or removed:
            gone = sorted(map(kbid_decode, removed))
            self._segments = self.segments.added(entries, gone)
            self._vectors = self.vectors.without(gone).again([entry.kbid for entry in entries])
        return redescribed

    def rebuild(self, progress: Report | None = None) -> int:
        """Makes the index anew from the truth files alone; a large one in pieces, which lie on disk until ``flush``.

        Args:
            progress: called after some sections, and at the end.

        Returns:
            The number of sections indexed.
        """
        self.end_merge()
        self.notices.clear()
        listings = Listings(filter(None, map(self.manifest, self.store.manifest_ids())))
        kbids = self.store.section_ids()
        self.left_out = set()
        fresh = SegmentList(self.engine, self.fingerprint, self.params, self.stem)
        entries, room = self._entries(kbids, listings, progress), _Room(self)
        self._segments = build_in_pieces(fresh, entries, self.build_memory, room)
        self.meta, self._left_behind = None, ""
        self._vectors = self.vectors.only(lambda kbid: self.segments.find(kbid) is not None)
        return sum(slot.segment.sections for slot in self._segments.slots)

    def flush(self, *, soon: bool = False) -> None:
        """Writes what is only in memory, merged with what is not much larger, and makes it the current set.

        Args:
            soon: a commit waits for it. Larger segments are merged beside the work then, and the next call takes over
                what was; else a merge that goes on is ended.
        """
        self._take_over(soon=soon)
        self._write_current(soon=soon)
        if soon:
            self._merge_beside()

    def end_merge(self) -> None:
        """Ends a merge that goes on beside the work, and removes nothing of it."""
        merging, self._merging = self._merging, None
        if merging is not None:
            merging.cancel()

    def drop_merge(self) -> None:
        """Ends a merge that goes on beside the work, and removes what it wrote where this database still stands."""
        merging = self._merging
        self.end_merge()
        if merging is not None:
            self._remove_merged(merging)

    def _remove_merged(self, merging: Merging) -> None:
        # What stays goes with the next opening.
        with contextlib.suppress(KbdbError):
            self.store.require_in_place()
            index_files.remove_segment(self.store.layout, merging.folder)

    def _write_current(self, *, soon: bool) -> None:
        segments, layout = self.segments, self.store.layout
        if self.is_written:
            return
        merging = self._merging
        first = segments.flush_from(soon=soon, least=merging.end if merging else 0)
        if first < len(segments.slots):
            self.store.require_in_place()
            folder = index_files.next_folder(layout)
            index_files.write_segment(layout, folder, partial(segments.write, first))
            segments = segments.with_merged(first, self.open_segment(folder), folder, None)
        self.store.require_in_place()
        self._vectors = self._written_vectors(soon=soon)
        meta = self._described(segments)
        index_files.write_meta(layout, meta)
        self.meta, self._segments, self.was_stale = meta, segments, False
        keep = [*self.meta.all_folders, *self._vectors_in_the_making, *([merging.folder] if merging else ())]
        index_files.sweep(layout, keep)

    def _written_vectors(self, *, soon: bool) -> HeldVectors:
        try:
            return self.vectors.written(self.store.layout, soon=soon)
        except CorruptError as error:
            # The truth is not kept waiting for vectors that can be made anew.
            return self.vectors.damaged(error)

    def _merge_beside(self) -> None:
        """Begins to merge segments on disk where enough of about one size stand side by side."""
        if self._merging is not None or time.monotonic() < self._merge_not_before:
            return
        if run := self.segments.run_to_merge():
            self.store.require_in_place()
            self._merging = Merging(self.store.layout, self.segments, *run)

    def _take_over(self, *, soon: bool) -> None:
        """Puts what was merged beside the work in the place of what it was made from, once that is done."""
        merging = self._merging
        if merging is None or (soon and not merging.is_done):
            return
        if not merging.is_done:
            self.drop_merge()
            return
        self._merging = None
        try:
            merging.check()
            merged = self.open_segment(merging.folder)
        except KbdbError as error:
            # What it was to replace goes on to serve.
            self._remove_merged(merging)
            self.unmerged = f"the index stays in more parts than it should: {error.message}"
            self._merge_pause_s = min(2 * self._merge_pause_s or MERGE_PAUSE_S, LONGEST_MERGE_PAUSE_S)
            self._merge_not_before = time.monotonic() + self._merge_pause_s
            return
        self.unmerged, self._merge_pause_s = "", 0.0
        self._segments = self.segments.with_run_merged(merging.run, merged, merging.folder)

    def sweep_left_over(self) -> None:
        """Removes what a rebuild left that did not come to its end, unless nobody can tell it from an index."""
        layout = self.store.layout
        with contextlib.suppress(CorruptError):
            meta = index_files.read_meta(layout)
            if meta is not None and meta.fingerprint != index_files.NOBODYS:
                held = _folders(self._segments) if self._segments else ()
                held += self._vectors.folders if self._vectors else ()
                index_files.sweep(layout, [*meta.all_folders, *self._vectors_in_the_making, *held])

    def _described(self, segments: SegmentList) -> IndexMeta:
        """What meta.toml has to say of segments that are all on disk."""
        return IndexMeta(
            generation=self.store.generation,
            fingerprint=self.fingerprint,
            built_with=self.built_with,
            folders=_folders(segments),
            documents_changed=index_files.documents_changed(self.store.layout),
            left_out=tuple(sorted(self.left_out)),
            # Lost ones go on to count, else the next commit would make the loss good.
            events=self.count_events() + (self.lost_events or 0),
            vectors=self.vectors.folders,
        )

    def _load(self) -> None:
        layout, recovered = self.store.layout, self.store.recovered
        meta = index_files.read_meta(layout)
        self._open_vectors(meta)
        first = self.store.generation - len(recovered)
        if meta is not None and self.lost_events is None and meta.generation <= self.store.generation:
            missed = recovered[max(0, meta.generation - first) :]
            self.lost_events = self._count_lost(meta.events + sum(len(change.events) for change in missed))
        if reason := self._unfit(meta, first):
            self._remake(reason)
            return
        segments = SegmentList(self.engine, self.fingerprint, self.params, self.stem)
        if meta is not None:
            index_files.sweep(layout, meta.all_folders)
            try:
                for folder in meta.folders:
                    segments = segments.with_segment(self.open_segment(folder), folder, None)
            except StaleIndexError:
                self._remake("its files were of another version")
                return
        self._segments, self.meta = segments, meta
        self.left_out = set(meta.left_out) if meta else set()
        missed = recovered[meta.generation - first if meta else 0 :]
        if missed:
            self.absorb(missed, self.listings(missed))

    def _count_lost(self, known: int) -> int | None:
        try:
            return max(0, known - self.count_events())
        except CorruptError:
            # Damage is not loss, and nothing is believed before it is mended.
            return None

    def _unfit(self, meta: IndexMeta | None, first: int) -> str:
        """Why the commits after ``first`` cannot bring the index on disk up to the truth, or ``""``."""
        if self._left_behind:
            return self._left_behind
        if meta is None:
            return "it was missing" if first else ""
        if meta.fingerprint != self.fingerprint:
            return "it was built by another version or configuration"
        if not first <= meta.generation <= self.store.generation:
            return "it does not belong to this state of the files"
        if not self.store.recovered and meta.documents_changed != index_files.documents_changed(self.store.layout):
            return "something else changed the manifests"
        return ""

    def _remake(self, reason: str) -> None:
        self.rebuild()
        self.was_stale = True
        self.tell(f"the index was made anew: {reason}")

    def open_segment(self, folder: int) -> Segment:
        """The segment in a folder of ``indexes/``."""
        layout = self.store.layout
        name = str(layout.indexes / str(folder))
        return self.engine.Segment(*index_files.map_segment(layout, folder), fingerprint=self.fingerprint, name=name)

    def _stored_bytes(self, kbid: str) -> bytes | None:
        found = self.segments.find(kbid_decode(kbid))
        return found[0].segment.stored(found[1]) if found else None

    def _entries(self, kbids: Sequence[str], listings: Listings, progress: Report | None) -> Iterator[Entry]:
        """The entries of all sections that can be read."""
        tell = now_and_then(progress, len(kbids))
        for done, (kbid, section) in enumerate(zip(kbids, self.store.read_sections(kbids), strict=True), 1):
            tell(done)
            if isinstance(section, Section):
                yield entry_of(section, listings.take(kbid))
            else:
                self.left_out.add(kbid)
                self.tell(f"left out of the index: {section.message}")

    def _entry(self, kbid: str, listings: Sequence[Listing], section: Section | None = None) -> Entry | None:
        try:
            section = section or self.store.read_section(kbid)
        except (CorruptError, SectionNotFoundError, UnsupportedFormatError) as error:
            self.tell(f"left out of the index: {error.message}")
            return None
        return entry_of(section, [listing for listing in listings if kbid in listing.kbids])

    def _listing(self, docid: str) -> Listing | None:
        manifest = self.manifest(docid)
        return None if manifest is None else Listing(manifest)

    def manifest(self, docid: str) -> Manifest | None:
        """A manifest, or None where there is none that can be read."""
        try:
            return self.store.read_manifest(docid)
        except DocumentNotFoundError:
            return None
        except (CorruptError, UnsupportedFormatError) as error:
            self.tell(f"left out of the index: {error.message}")
            return None


class _Room:
    """Folders of ``indexes/`` for the pieces of a rebuild. What of them an end of the process leaves is swept away."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer
        self._used = False

    def put(self, write: Callable[[Into], None]) -> tuple[Segment, int] | None:
        layout = self._indexer.store.layout
        self._indexer.store.require_in_place()
        if not self._used:
            self._indexer.sweep_left_over()
            self._used = True
        folder = index_files.next_folder(layout)
        try:
            index_files.write_segment(layout, folder, write, sync=False)
            return self._indexer.open_segment(folder), folder
        except StorageError:
            # A disk that is full or read-only: memory may do, and whoever writes the index will hear of it.
            index_files.remove_segment(layout, folder)
            return None

    def remove(self, number: int) -> None:
        index_files.remove_segment(self._indexer.store.layout, number)


def _is_redescribed(before: bytes, after: bytes) -> bool:
    """Whether a section of no text, which is embedded by its description, got another one."""
    old, new = StoredSection.decode(before), StoredSection.decode(after)
    return old.description != new.description and not is_text(new.type)


def touched(change: Change) -> set[str]:
    """The documents whose manifests a change writes or removes."""
    return {manifest.docid for manifest in change.manifests}.union(change.removed_documents)


def _folders(segments: SegmentList) -> tuple[int, ...]:
    return tuple(slot.folder for slot in segments.slots if slot.folder is not None)
