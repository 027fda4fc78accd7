"""similar: the live sections whose vectors are nearest to that of one section."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from kbdb.errors import InvalidArgumentError, KbdbError, NoVectorError, StaleIndexError
from kbdb.knowledge.core import Core
from kbdb.knowledge.embed_sections import stale_because
from kbdb.knowledge.entries import StoredSection
from kbdb.knowledge.legs import still_waiting
from kbdb.knowledge.named import require_section
from kbdb.knowledge.search import MAX_LIMIT, shown_place
from kbdb.knowledge.view import View
from kbdb.model.search import Unreadable
from kbdb.model.similar import SimilarHit, SimilarResult
from kbdb.plan import VectorHit
from kbdb.store.ids import kbid_decode


def similar(core: Core, kbid: str, limit: int) -> SimilarResult:
    """The sections nearest to one, by falling cosine, then kbid.

    Raises:
        InvalidArgumentError: limit out of range.
        EmbeddingProviderNotConfiguredError: there is no provider.
        SectionNotFoundError: nothing of that id is stored.
        StaleIndexError: the vectors are of another model, or cannot be read.
        NoVectorError: the section has none; says why.
        CorruptError: the vectors turn out to be damaged.
    """
    started = perf_counter()
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidArgumentError(f"limit is {limit}", f"use 1 to {MAX_LIMIT}")
    core.embedding.require_for("similar")
    require_section(core, kbid)
    if not core.embedding.serves(core.indexer.vectors):
        raise StaleIndexError(stale_because(core), "run: kbdb rebuild")
    snapshot = core.snapshot()
    vector = None if snapshot.vectors is None else snapshot.vectors.vector(kbid_decode(kbid))
    searcher = snapshot.vector_searcher
    if vector is None or searcher is None:
        raise _no_vector(core, snapshot, kbid)
    asked = perf_counter()
    # One more: the section itself is nearest to itself, unless others are the same.
    nearest = [hit for hit in searcher.search(vector, limit + 1) if hit.kbid != kbid][:limit]
    engine_ms = (perf_counter() - asked) * 1000
    hits, unreadable = _shown(core, snapshot, nearest)
    return SimilarResult(
        kbid=kbid,
        title=core.title_of(kbid),
        generation=snapshot.generation,
        limit=limit,
        engine_ms=engine_ms,
        elapsed_ms=(perf_counter() - started) * 1000,
        warnings=still_waiting(core, snapshot),
        unreadable=tuple(unreadable),
        hits=tuple(hits),
    )


def _no_vector(core: Core, snapshot: View, kbid: str) -> NoVectorError:
    """Says why a section has no vector."""
    if reason := core.embedding.refused.get(kbid):
        return NoVectorError(f"section {kbid} got no vector: {reason}", "kbdb rebuild tries it again")
    if kbid in core.embedding.wordless:
        return NoVectorError(f"section {kbid} has no words, so it has no vector", "recall shows what it holds")
    if not snapshot.is_live(kbid_decode(kbid)):
        hint = "restore makes a section live that was taken out"
        return NoVectorError(f"section {kbid} has no vector, and only live sections get one", hint)
    wait = "wait until kbdb status shows none waiting, or run: kbdb rebuild"
    return NoVectorError(f"section {kbid} has no vector yet", wait)


def _shown(core: Core, snapshot: View, found: Sequence[VectorHit]) -> tuple[list[SimilarHit], list[Unreadable]]:
    hits, unreadable = [], []
    for hit, section in zip(found, core.store.read_sections(hit.kbid for hit in found), strict=True):
        if isinstance(section, KbdbError):
            unreadable.append(Unreadable(hit.kbid, core.store.layout.section(hit.kbid), section.message))
            continue
        stored = StoredSection.decode(snapshot.slots[hit.segment].segment.stored(hit.entry))
        place = shown_place(core, stored)
        hits.append(
            SimilarHit(
                kbid=hit.kbid,
                docid=place.docid,
                title=section.title,
                heading_path=place.heading_path,
                line=place.line,
                line_end=place.line_end,
                source=place.source,
                score=hit.score,
                tags=stored.tags,
                section_type=section.section_type,
            )
        )
    return hits, unreadable
