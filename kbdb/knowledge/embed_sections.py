"""Vectors for the sections of a database: which wait for one, how they are made, and how all are made anew.

What is missing is found by looking: nothing is written down about it, so no crash can lose it. Who asks is the
daemon's embedder, a learn that waits, or a rebuild; ``vectors`` holds what comes out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import NamedTuple

from kbdb.embed.api import BATCH
from kbdb.errors import (
    CorruptError,
    EmbeddingBadAnswerError,
    EmbeddingTextRefusedError,
    KbdbError,
    StaleIndexError,
    StorageError,
)
from kbdb.index import bitmaps
from kbdb.ingest.embedding_input import embedding_input
from kbdb.knowledge.core import Core
from kbdb.knowledge.embedding import Embedding
from kbdb.knowledge.vectors import HeldVectors
from kbdb.knowledge.view import View
from kbdb.model.embedding import EmbeddingStatus, Fingerprint
from kbdb.model.learn import AddSectionResult
from kbdb.model.truth import Section
from kbdb.progress import Progress, Report
from kbdb.store.ids import kbid_decode, kbid_encode

FOUND_BY_WORDS = "stored, and found by words"

HARMLESS = "a short text"
"""What every model takes."""

MEANWHILE_S = 0.05
"""How often a rebuild lets others write while it waits for a provider, and looks whether it is still wanted."""


class Made(NamedTuple):
    """Vectors of some sections.

    Attributes:
        made_by: what made them.
        kbids: whose they are.
        rows: little-endian f32, those of the kbids in turn.
    """

    made_by: Fingerprint
    kbids: tuple[str, ...]
    rows: bytes


def waiting(core: Core) -> Iterator[str]:
    """The live sections that still get a vector, what was learned last first.

    Raises:
        CorruptError: the vectors are damaged.
        KbdbError: the provider cannot say what its vectors may be compared with.
    """
    embedding = core.embedding
    if not embedding.is_configured or embedding.at_rest or not embedding.serves(core.indexer.vectors):
        return
    shown = core.snapshot()
    yield from (kbid for kbid in sorted(embedding.outdated) if shown.is_live(kbid_decode(kbid)))
    for slot, missing in zip(reversed(shown.slots), reversed(shown.without_vector), strict=True):
        for entry in bitmaps.entries(missing):
            kbid = kbid_encode(slot.segment.kbid(entry))
            if kbid not in embedding.wordless and kbid not in embedding.refused:
                yield kbid


def next_waiting(core: Core) -> list[str]:
    """Some of those that wait, as many as a provider takes at once (errors as ``waiting``)."""
    return list(islice(waiting(core), BATCH))


def failed(core: Core, kbids: Sequence[str], fresh: Collection[str] = ()) -> bool | None:
    """Whether some of these sections get no vector: True where one was refused or nothing is embedded before a rebuild,
    None while one still waits.

    Args:
        kbids: the sections.
        fresh: those of them that were not there before: they have none, which need not be looked up.
    """
    embedding = core.embedding
    if not embedding.is_configured:
        return False
    try:
        if not embedding.serves(core.indexer.vectors) or any(kbid in embedding.refused for kbid in kbids):
            return True
        shown = core.snapshot()
        if any(shown.is_live(kbid_decode(kbid)) for kbid in fresh):
            return None
        return None if any(_without(core, kbids)) else False
    except KbdbError:
        # Why, is told by whoever embeds.
        return True


def make_now(core: Core, kbids: Sequence[str]) -> None:
    """Makes the vectors that these sections wait for.

    Raises:
        KbdbError: the provider serves nobody now, or vectors of another model are in the way; what was made stays.
    """
    if not core.embedding.serves(core.indexer.vectors):
        raise StaleIndexError(f"{stale_because(core)}; run: kbdb rebuild")
    left = list(_without(core, kbids))
    for start in range(0, len(left), BATCH):
        take(core, make(core, left[start : start + BATCH]))


def with_vectors(core: Core, learned: AddSectionResult) -> AddSectionResult:
    """What was learned, once its sections have their vectors, or cannot get them."""
    if not core.embedding.is_configured:
        return not_waited(learned)
    try:
        make_now(core, learned.kbids)
    except KbdbError as error:
        return without_vectors(learned, error.in_a_line)
    return outcome(core, learned) or learned


def outcome(core: Core, learned: AddSectionResult) -> AddSectionResult | None:
    """What was learned, and what came of its vectors; None while some of its sections still get theirs."""
    embedding = core.embedding
    try:
        if not embedding.serves(core.indexer.vectors):
            return without_vectors(learned, f"{stale_because(core)}; run: kbdb rebuild")
        if any(_without(core, learned.kbids)):
            return None
    except KbdbError as error:
        return without_vectors(learned, error.in_a_line)
    reasons = dict.fromkeys(reason for kbid in learned.kbids if (reason := embedding.refused.get(kbid)))
    refused = tuple(f"{FOUND_BY_WORDS}; a section got no vector: {reason}" for reason in reasons)
    return replace(learned, vector_embedding_failed=bool(reasons), warnings=(*learned.warnings, *refused))


def not_waited(learned: AddSectionResult) -> AddSectionResult:
    """What was learned, with a word on that there was nothing to wait for."""
    return replace(learned, warnings=(*learned.warnings, "no embedding provider is configured: no vectors were made"))


def without_vectors(learned: AddSectionResult, reason: str) -> AddSectionResult:
    """What was learned, with a word on why its sections get no vectors now."""
    warning = f"{FOUND_BY_WORDS}; no vectors were made: {reason}"
    return replace(learned, vector_embedding_failed=True, warnings=(*learned.warnings, warning))


def take(core: Core, made: Made) -> None:
    """Adds vectors to those that are there, unless those are of another model by now.

    What was removed while its vector was made gets none: nothing of it may come back to the disk.
    """
    held, size = core.indexer.vectors, 4 * made.made_by.dimensions
    places = [place for place, kbid in enumerate(made.kbids) if core.indexer.stored(kbid) is not None]
    if places and held.serves(made.made_by):
        kbids = [kbid_decode(made.kbids[place]) for place in places]
        rows = b"".join(made.rows[size * place : size * (place + 1)] for place in places)
        core.hold_vectors(held.added(made.made_by, kbids, rows))
    core.embedding.outdated.difference_update(made.kbids)


def _without(core: Core, kbids: Sequence[str]) -> Iterator[str]:
    """Those of the sections that still get a vector: they are live, and have none (errors as ``waiting``)."""
    files, known, shown = core.indexer.vectors.files, core.embedding, core.snapshot()
    for kbid in kbids:
        decoded = kbid_decode(kbid)
        if kbid in known.wordless or kbid in known.refused or not shown.is_live(decoded):
            continue
        if kbid in known.outdated or files is None or files.vector(decoded) is None:
            yield kbid


def make(core: Core, kbids: Sequence[str]) -> Made:
    """Vectors of those sections that have words; what has none or is refused is noted in ``core.embedding``.

    Raises:
        KbdbError: the provider serves nobody now.
    """
    embedding = core.embedding
    texts = dict(_texts(core, kbids))
    found = _embedded(embedding, texts)
    return Made(embedding.fingerprint, tuple(found), b"".join(found.values()))


def status(core: Core) -> EmbeddingStatus:
    """How the database stands with vectors. Loads no model."""
    embedding, config = core.embedding, core.config.embedding
    if not embedding.is_configured:
        return EmbeddingStatus()
    known = EmbeddingStatus(config.provider, config.model, config.dimensions)
    try:
        if not embedding.serves(core.indexer.vectors):
            return replace(known, stale=True, trouble=stale_because(core))
        shown = core.snapshot()
        missing = sum(map(bitmaps.count, shown.without_vector))
        live = sum(map(bitmaps.count, shown.live))
    except CorruptError as error:
        return replace(known, stale=True, trouble=error.message)
    except KbdbError as error:
        return replace(known, trouble=error.message)
    failed = sum(shown.is_live(kbid_decode(kbid)) for kbid in tuple(embedding.refused))
    waiting = max(0, without_vector(core, shown) - failed)
    return replace(known, vectors=live - missing, waiting=waiting, failed=failed, trouble=embedding.trouble)


def without_vector(core: Core, shown: View) -> int:
    """How many live sections have words and no vector (errors as ``waiting``)."""
    wordless = sum(shown.is_live(kbid_decode(kbid)) for kbid in tuple(core.embedding.wordless))
    return max(0, sum(map(bitmaps.count, shown.without_vector)) - wordless)


def stale_because(core: Core) -> str:
    """Why the vectors on disk cannot be used with the provider."""
    held = core.indexer.vectors
    if held.fault or held.made_by is None:
        return f"the vectors cannot be read: {held.fault}"
    now = core.embedding.fingerprint
    if held.made_by.model != now.model:
        return f"the vectors were made by {held.made_by.model}, and the model is {now.model} now"
    return f"the vectors were made by {now.model} in another way (dimensions, pooling or tokenizer)"


def rebuild(core: Core, progress: Report | None = None) -> int:
    """Makes the vectors of all live sections anew, and puts them in the place of those there are once all are made; a
    checkpoint writes them.

    Others write meanwhile; what they add gets its vectors afterwards.

    Args:
        core: the database.
        progress: called before each batch, now and then while it is made, and at the end.

    Returns:
        How many vectors there are; 0 without a provider, and what there is stays, unless it cannot be read.

    Raises:
        KbdbError: the provider serves nobody now; what there was stays.
    """
    embedding = core.embedding
    if not embedding.is_configured:
        if core.indexer.vectors.fault:
            core.hold_vectors(HeldVectors(core.engine))
        return 0
    embedding.at_rest = True
    try:
        core.hold_vectors(_made_anew(core, progress))
        embedding.trouble = ""
    finally:
        embedding.at_rest = False
        core.indexer.drop_spilled()
    files = core.indexer.vectors.files
    return files.records if files else 0


def _made_anew(core: Core, progress: Report | None) -> HeldVectors:
    for known in (core.embedding.refused, core.embedding.wordless, core.embedding.outdated):
        known.clear()
    shown, generation = core.snapshot(), core.generation
    kbids = [
        kbid_encode(slot.segment.kbid(entry))
        for slot, live in zip(shown.slots, shown.live, strict=True)
        for entry in bitmaps.entries(live)
    ]
    fresh = HeldVectors(core.engine)

    def tell(done: int) -> None:
        if progress is not None:
            progress(Progress(done, len(kbids)))
        core.between_batches()

    beside = _Beside()
    try:
        for start in range(0, len(kbids), BATCH):
            tell(start)
            made = beside.make(core, kbids[start : start + BATCH], partial(tell, start))
            if made.kbids:
                fresh = fresh.added(made.made_by, list(map(kbid_decode, made.kbids)), made.rows)
            if fresh.is_long:
                fresh = core.indexer.spill(fresh)
    finally:
        beside.end()
    tell(len(kbids))
    if core.generation != generation:
        fresh = fresh.without([kbid_decode(kbid) for kbid in kbids if not core.store.has_section(kbid)])
    return fresh


class _Beside:
    """One thread that makes vectors while others write: nobody waits for a provider that is slow.

    The same thread for all batches: memory that a model's run takes from the heap of one is not there for another.
    """

    def __init__(self) -> None:
        self._asked: SimpleQueue[tuple[Core, Sequence[str], Future[Made]] | None] = SimpleQueue()
        # An end of the process does not wait for a service that hangs.
        threading.Thread(target=self._work, name="kbdb-rebuild", daemon=True).start()

    def make(self, core: Core, kbids: Sequence[str], meanwhile: Callable[[], None]) -> Made:
        """Vectors of sections.

        Args:
            core: the database.
            kbids: whose vectors.
            meanwhile: called again and again until they are made; what it raises ends the wait.
        """
        answer: Future[Made] = Future()
        self._asked.put((core.reading(), kbids, answer))
        while not wait([answer], MEANWHILE_S).done:
            meanwhile()
        return answer.result()

    def end(self) -> None:
        """Lets the thread end once it has done what it is at."""
        self._asked.put(None)

    def _work(self) -> None:
        while (asked := self._asked.get()) is not None:
            reading, kbids, answer = asked
            try:
                answer.set_result(make(reading, kbids))
            except BaseException as error:
                answer.set_exception(error)


def _texts(core: Core, kbids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What each section has to be embedded."""
    embedding = core.embedding
    for kbid, section in zip(kbids, core.store.read_sections(kbids), strict=True):
        if isinstance(section, StorageError):
            raise section
        if not isinstance(section, Section):
            embedding.refused[kbid] = section.message
            continue
        stored = core.indexer.stored(kbid)
        text = embedding_input(section, stored.description if stored else "")
        if text:
            yield kbid, text
        else:
            embedding.wordless.add(kbid)


def _embedded(embedding: Embedding, texts: dict[str, str]) -> dict[str, bytes]:
    """The vectors of texts by kbid. Where the provider refuses them together, each goes alone: one bad text must not
    keep the others from their vectors."""
    if not texts:
        return {}
    size = 4 * embedding.provider.dimensions()
    try:
        rows = embedding.vectors_of(list(texts.values()))
    except (EmbeddingTextRefusedError, EmbeddingBadAnswerError):
        return _each_alone(embedding, texts)
    return {kbid: rows[size * place : size * (place + 1)] for place, kbid in enumerate(texts)}


def _each_alone(embedding: Embedding, texts: dict[str, str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    for kbid, text in texts.items():
        try:
            found[kbid] = embedding.vectors_of([text])
        except (EmbeddingTextRefusedError, EmbeddingBadAnswerError) as error:
            if not found and not refused:
                # Where this is refused, too, it is not the text: a wrong model, or a wrong address.
                embedding.vectors_of([HARMLESS])
            refused[kbid] = error.message
    embedding.refused |= refused
    return found
