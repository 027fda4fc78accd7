"""gc, rebuild and status: what can go, what can be made anew, and how things stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import perf_counter

from kbdb.errors import InterruptedByUserError, InvalidArgumentError, KbdbError
from kbdb.index import bitmaps
from kbdb.knowledge import embed_sections
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import StoredSection
from kbdb.knowledge.reading import section_state
from kbdb.knowledge.view import View
from kbdb.model.upkeep import DbStatus, EngineStatus, GcResult, IndexStatus, RebuildResult
from kbdb.progress import Report, now_and_then
from kbdb.store import index_files, vector_files
from kbdb.store.ids import kbid_encode
from kbdb.store.store import Change
from kbdb.store.times import instant

BATCH = 1000
"""Sections removed in one commit."""


def gc(core: Core, keep_days: int | None, *, dry_run: bool, progress: Report | None = None) -> GcResult:
    """Removes retired documents and sections that no document lists, once they have been so long enough.

    Args:
        keep_days: how long what was retired or superseded stays; None: as worker.toml says. What no event speaks of
            goes at once.
        dry_run: only tell what would go.
        progress: called while it is looked for; what is found goes all at once.
    """
    started = perf_counter()
    days = core.config.history.keep_days if keep_days is None else keep_days
    if days < 0:
        raise InvalidArgumentError(f"keep_days is {days}", "use 0 or more")
    horizon = instant(datetime.now(UTC) - timedelta(days=days))
    documents = tuple(_expired_documents(core, horizon))
    kbids = tuple(_unlisted_sections(core, horizon, frozenset(documents), progress))
    freed = sum(core.store.section_size(kbid) or 0 for kbid in kbids)
    freed += sum(len(core.store.manifest_bytes(docid)) for docid in documents)
    if not dry_run and (documents or kbids):
        first = Change(removed_documents=documents, removed_sections=kbids[:BATCH])
        rest = [Change(removed_sections=kbids[at : at + BATCH]) for at in range(BATCH, len(kbids), BATCH)]
        core.commit([first, *rest])
    return GcResult(len(kbids), freed, kbids, dry_run, (perf_counter() - started) * 1000)


def rebuild(core: Core, progress: Report | None = None) -> RebuildResult:
    """Makes the index anew from the truth files, vectors last, and tells what could not go in.

    Raises:
        InterruptedByUserError: by ``progress``; the vectors that were there stay.
    """
    started = perf_counter()
    sections = core.rebuild(progress)
    warnings, failed = core.notices, False
    try:
        vectors = embed_sections.rebuild(core, progress)
    except InterruptedByUserError:
        raise
    except KbdbError as error:
        vectors, failed = 0, True
        there = "what vectors there were stay" if core.indexer.vectors.folders else "there are none"
        warnings += (f"no vectors were made, {there}: {error.in_a_line}",)
    core.checkpoint()
    return RebuildResult(sections, vectors, (perf_counter() - started) * 1000, warnings, failed)


def status(core: Core) -> DbStatus:
    """Counts by state, sizes, generation, engine and what is stale."""
    layout = core.store.layout
    kbids = core.store.section_ids()
    snapshot = core.snapshot()
    states = _states(core, snapshot)
    states["unindexed"] = len(kbids) - states.total()
    meta = core.indexer.meta
    sizes = index_files.sizes(layout, meta.folders if meta else ())
    return DbStatus(
        database=core.store.catalog.id,
        path=str(layout.root),
        generation=core.generation,
        sections=len(kbids),
        documents=len(core.store.manifest_ids()),
        states={state: count for state, count in sorted(states.items()) if count > 0},
        index=IndexStatus(
            terms_idx_bytes=sizes["terms.idx"],
            positions_idx_bytes=sizes["positions.idx"],
            corpus_dat_bytes=sizes["corpus.dat"],
            references_idx_bytes=sizes["references.idx"],
            vectors_idx_bytes=sum(vector_files.size(layout, folder) for folder in meta.vectors) if meta else 0,
            segments=len(snapshot.slots),
            stale=core.indexer.was_stale,
        ),
        engine=EngineStatus(core.engine.IMPLEMENTATION, snapshot.searcher.memory_bytes),
        journal_bytes=core.store.journal_bytes,
        embedding=embed_sections.status(core),
        auto_capture={"enabled": core.config.auto_capture.enabled},
        warnings=core.notices,
    )


def _states(core: Core, snapshot: View) -> Counter[str]:
    """How many sections of the index are in each state. Those that are not live are looked at one by one."""
    states = Counter[str]()
    for slot, live in zip(snapshot.slots, snapshot.live, strict=True):
        states["active"] += bitmaps.count(live)
        for entry in bitmaps.entries(bitmaps.without(slot.current, live)):
            stored = StoredSection.decode(slot.segment.stored(entry))
            states[section_state(core, kbid_encode(slot.segment.kbid(entry)), stored)] += 1
    return states


def _expired_documents(core: Core, horizon: str) -> Iterator[str]:
    """Documents retired since before the horizon. Forgotten ones stay: they can be restored at any time."""
    for docid in core.beliefs.documents():
        belief = core.beliefs.document(docid)
        if belief.state == "retired" and belief.since <= horizon and core.store.has_manifest(docid):
            yield docid


def _unlisted_sections(core: Core, horizon: str, gone: frozenset[str], progress: Report | None) -> Iterator[str]:
    """Sections that no manifest lists any more. A damaged manifest is an error: nobody knows what it lists."""
    spoken: dict[str, str] = {}
    for event in core.events.values():
        for kbid in event.kbids:
            spoken[kbid] = max(spoken.get(kbid, ""), event.time)
    docids = [docid for docid in core.store.manifest_ids() if docid not in gone]
    listed: set[str] = set()
    tell = now_and_then(progress, len(docids))
    for done, docid in enumerate(docids, 1):
        listed.update(placement.kbid for placement in core.store.read_manifest(docid).sections)
        tell(done)
    for kbid in core.store.section_ids():
        if kbid not in listed and spoken.get(kbid, "") <= horizon:
            yield kbid
