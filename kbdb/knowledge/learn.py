"""learn for files and folders: walks, plans each document, commits in batches, tells what became of each.

One document is stored whole or not at all; a bad one fails alone. Documents are committed some dozens at a time, so
that a large folder does not wait for one sync a file.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from types import FrameType

from kbdb.errors import (
    CorruptError,
    DocumentNotFoundError,
    InterruptedByUserError,
    InvalidArgumentError,
    KbdbError,
    SectionNotFoundError,
    SourceUnreadableError,
    StorageError,
)
from kbdb.ingest.parse import parse
from kbdb.ingest.walk import Reason, SourceFile, Walked, walk
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import clean_tags
from kbdb.knowledge.forget import revival_of
from kbdb.knowledge.given import given_before
from kbdb.knowledge.missing import account_for_missing
from kbdb.knowledge.planning import (
    LearnOptions,
    Planned,
    placements_of,
    says_the_same,
    section_type_of,
    sections_of,
    settle,
)
from kbdb.knowledge.reading import content_of
from kbdb.knowledge.sources import docid_of_source, source_of
from kbdb.knowledge.tally import Tally
from kbdb.knowledge.whole import called, read_whole, revised_by
from kbdb.model.learn import AddSectionResult, LearnedDocument, Suppressed
from kbdb.model.truth import Manifest, Origin
from kbdb.progress import Progress, Report
from kbdb.store.times import now_seconds

BATCH_DOCUMENTS = 64
BATCH_BYTES = 4 << 20
"""A batch is committed when it holds this many documents or bytes: few syncs, and little to redo after a crash."""

WORTH_TELLING = (Reason.NOT_TEXT, Reason.OUTSIDE, Reason.SPECIAL, Reason.EXPORT)
LEFT_OUT_SHOWN = 3
"""Of what was left out for one reason, this many are named."""


def learn_paths(core: Core, paths: Sequence[Path], options: LearnOptions, progress: Report | None) -> AddSectionResult:
    """Learns files and folders.

    Raises:
        InvalidArgumentError: a docid, a title or what it supersedes was given for several files.
    """
    started = perf_counter()
    walked = walk(paths, options.include, options.exclude)
    if len(walked.files) > 1 and (options.docid is not None or options.title is not None or options.supersedes):
        raise InvalidArgumentError(
            f"docid, title and supersedes speak of one document, but {len(walked.files)} files were found",
            "learn the files one by one",
        )
    tally = Tally(core)
    for failed in walked.errors:
        tally.fail(source_of(core.store.layout.home, failed.path), failed.error)
    with _interruptible() as interrupted:
        tally.interrupted_by = _learn_files(core, walked.files, options, tally, progress, interrupted)
    if not tally.interrupted_by:
        account_for_missing(core, [path for path in paths if path.is_dir()], options.prune, options.who, tally)
    tally.warnings.extend(_left_out(core, walked))
    return tally.result(perf_counter() - started)


def _left_out(core: Core, walked: Walked) -> Iterator[str]:
    """What a person may have expected to be learned and was not; hidden and ignored files are left out silently."""
    for reason in sorted(WORTH_TELLING):
        paths = [entry.path for entry in walked.skipped if entry.reason == reason]
        if paths:
            named = [source_of(core.store.layout.home, path) for path in paths[:LEFT_OUT_SHOWN]]
            more = ", …" if len(paths) > LEFT_OUT_SHOWN else ""
            yield f"left out {len(paths)}: {reason} ({', '.join(named)}{more})"


def _learn_files(
    core: Core,
    sources: Sequence[SourceFile],
    options: LearnOptions,
    tally: Tally,
    progress: Report | None,
    interrupted: Callable[[], bool],
) -> str:
    """Learns one file after the other; tells by an error's code why it stopped before all were done, else ``""``."""
    batch: list[Planned] = []
    size = 0
    for done, source in enumerate(sources, start=1):
        planned = _plan_or_fail(core, source, options, tally)
        if planned is not None:
            batch.append(planned)
            size += sum(len(section.content) for section in planned.added)
        if len(batch) >= BATCH_DOCUMENTS or size >= BATCH_BYTES or options.replace:
            _commit(core, batch, tally)
            batch, size = [], 0
            core.between_batches()
        step = Progress(done, len(sources), source_of(core.store.layout.home, source.path))
        end = _told_to_end(progress, step) or (InterruptedByUserError.code if interrupted() else "")
        if end:
            _commit(core, batch, tally)
            return end
    _commit(core, batch, tally)
    return ""


def _told_to_end(progress: Report | None, step: Progress) -> str:
    if progress is None:
        return ""
    try:
        progress(step)
    except InterruptedByUserError as error:
        return error.code
    return ""


def _commit(core: Core, batch: Sequence[Planned], tally: Tally) -> None:
    """Stores a batch; one that the file system refuses fails, and what was stored before it is told all the same."""
    reached = core.generation
    try:
        tally.commit(batch)
    except StorageError as error:
        if core.generation != reached:
            raise
        for planned in batch:
            tally.fail(planned.document.source, error)


def _plan_or_fail(core: Core, source: SourceFile, options: LearnOptions, tally: Tally) -> Planned | None:
    try:
        return plan_file(core, source, options)
    except KbdbError as error:
        tally.fail(source_of(core.store.layout.home, source.path), error)
        return None


def plan_file(core: Core, source: SourceFile, options: LearnOptions) -> Planned:
    """Plans what learning one file changes."""
    name = source_of(core.store.layout.home, source.path)
    docid = _document_of(core, name) if options.docid is None else options.docid
    old = _known(core, docid)
    belief = core.beliefs.document(docid)
    by_name = source.named and options.who == "user"
    if old is not None and belief.state == "forgotten" and not by_name:
        back = f"kbdb restore {docid}"
        held = Suppressed("", old.title or docid, "forgotten", belief.since, belief.reason, back)
        return replace(_unchanged(old), suppressed=(held,))
    data = _read(source.path)
    digest = sha256(data).hexdigest()
    same = old is not None and old.origin.sha256 == digest and belief.state == "live"
    if old is not None and same and _says_nothing_new(old, options) and _is_whole(core, old, data):
        return _unchanged(old)
    given = given_before(core, old)
    title = given.title if options.title is None else options.title
    section_type = section_type_of(core, old, options)
    read = (core.parse or parse)(data, source.path.name, options.type or given.type, title or "")
    parsed = read_whole(read, section_type, title or "")
    said = given.description if options.description is None else options.description
    sections = sections_of(parsed.parts, section_type, parsed.type)
    revises = tuple(revised_by(core, old, section_type, {section.kbid for section in sections}))
    now = now_seconds()
    manifest = Manifest(
        docid=docid,
        type=parsed.type,
        title=parsed.title,
        description=parsed.description if said is None else said,
        tags=clean_tags((*parsed.tags, *options.tags, *given.tags)),
        subject=old.subject if old else "",
        origin=Origin(options.who, name, digest),
        created=old.created if old else now,
        updated=now,
        head=parsed.head,
        sections=placements_of(parsed.parts, sections),
    )
    events = (revival_of(core, docid, options.who, sections),) if belief.state != "live" else ()
    planned = settle(core, old, manifest, sections, options, revises=revises, events=events)
    if old is not None and says_the_same(manifest, old) and planned.changes_nothing:
        return replace(_unchanged(old), suppressed=planned.suppressed)
    back = f"{manifest.title!r} was forgotten on {belief.since[:10]}; learned again by name, it is back"
    told = (*parsed.warnings, *called(section_type, parsed.title, said=source.named))
    warnings = [f"{name}: {warning}" for warning in told]
    warnings += [back] if belief.state == "forgotten" else []
    return replace(planned, warnings=(*warnings, *planned.warnings))


def _document_of(core: Core, source: str) -> str:
    """The docid under which a path is learned: its own, or the one that it was given before."""
    own = docid_of_source(source)
    given = [] if core.store.has_manifest(own) else core.indexer.documents_from(source)
    return given[0] if given else own


def _known(core: Core, docid: str) -> Manifest | None:
    """The manifest of before; None where there is none, or it is damaged and about to be made good."""
    try:
        return core.store.read_manifest(docid)
    except (CorruptError, DocumentNotFoundError):
        return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceUnreadableError(
            f"cannot read {path}: {error.strerror}", "check that it exists and its permissions"
        ) from error


def _says_nothing_new(old: Manifest, options: LearnOptions) -> bool:
    untouched = (options.title, options.description, options.section_type, options.type) == (None,) * 4
    return untouched and set(clean_tags(options.tags)) <= set(old.tags) and not options.supersedes


def _is_whole(core: Core, old: Manifest, data: bytes) -> bool:
    """Whether a document reads back as its file; one that is damaged is learned anew."""
    try:
        return content_of(core, old) == data
    except (CorruptError, SectionNotFoundError):
        return False


def _unchanged(old: Manifest) -> Planned:
    kbids = tuple(dict.fromkeys(placement.kbid for placement in old.sections))
    return Planned(LearnedDocument(old.docid, old.origin.source, "unchanged", len(old.sections), kbids))


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Makes Ctrl-C a request to stop after the current document; a second one interrupts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    seen = threading.Event()

    def stop(signum: int, frame: FrameType | None) -> None:
        if seen.is_set():
            signal.default_int_handler(signum, frame)
        seen.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield seen.is_set
    finally:
        signal.signal(signal.SIGINT, before)
