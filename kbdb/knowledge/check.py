"""check: is everything on disk what it should be, and does the index say what the truth files say.

Each fault has a code, a place and what to do about it. Nothing is changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter

from kbdb.errors import CorruptError, InvalidArgumentError, KbdbError
from kbdb.index import bitmaps
from kbdb.index.segments import Slot
from kbdb.knowledge.core import RESTORE_EVENTS, Core
from kbdb.knowledge.duplicates import THRESHOLD, check_threshold, near_duplicates
from kbdb.knowledge.entries import Listing, StoredSection, entry_of
from kbdb.model.truth import Event, Section
from kbdb.model.upkeep import CheckFault, CheckResult
from kbdb.paths import Layout
from kbdb.progress import Report, now_and_then
from kbdb.store import index_files, vector_files
from kbdb.store.beliefs import replay
from kbdb.store.events import decode_events
from kbdb.store.ids import kbid_decode, kbid_encode

RELEARN = "learn its source again, or restore the file from a copy"
REBUILD = "run: kbdb rebuild"
MANIFEST_FIRST = "restore the manifest from a copy or learn its source again, then run: kbdb rebuild"


@dataclass(slots=True)
class _Findings:
    """What has been found so far, and the truth that could be read."""

    errors: list[CheckFault] = field(default_factory=list)
    warnings: list[CheckFault] = field(default_factory=list)
    listings: dict[str, Listing] = field(default_factory=dict)
    sound: set[str] = field(default_factory=set)

    def error(self, code: str, path: object, kbid: str, message: str, hint: str) -> None:
        self.errors.append(CheckFault(code, str(path), kbid, message, hint))

    def warning(self, code: str, path: object, kbid: str, message: str, hint: str) -> None:
        self.warnings.append(CheckFault(code, str(path), kbid, message, hint))


def least_cosine(duplicates: bool, threshold: float | None) -> float | None:
    """From which cosine on sections are reported as near duplicates; None where none are looked for.

    Raises:
        InvalidArgumentError: the threshold is out of range, or of no use.
    """
    if threshold is None:
        return THRESHOLD if duplicates else None
    if not duplicates:
        raise InvalidArgumentError("threshold is given, and no duplicates are asked for", "ask for duplicates, too")
    return check_threshold(threshold)


def check(core: Core, progress: Report | None = None, duplicates: float | None = None) -> CheckResult:
    """Verifies truth against itself, index against truth in both directions, and every checksum.

    Args:
        core: the database.
        progress: called now and then; may end the run.
        duplicates: the least cosine of near duplicates to report; None: none are looked for.
    """
    started = perf_counter()
    findings = _Findings()
    kbids, docids = core.store.section_ids(), core.store.manifest_ids()
    damaged = _read_manifests(core, docids, findings)
    index = _Index(core, findings.listings)
    differing = list(_check_sections(core, kbids, index, findings, now_and_then(progress, len(kbids))))
    findings.errors += damaged
    _check_documents(core, docids, set(kbids), differing, findings)
    _check_events(core, findings)
    _check_index(core, set(kbids), index, findings)
    _check_vectors(core, findings)
    if core.lost_events:
        findings.error("EVENTS_MISSING", core.store.layout.events, "", core.lost_events, RESTORE_EVENTS)
    # Last: others write meanwhile.
    report = None if duplicates is None else near_duplicates(core, duplicates, progress)
    return CheckResult(
        ok=not findings.errors,
        errors=tuple(findings.errors),
        warnings=tuple(findings.warnings),
        sections=len(kbids),
        documents=len(docids),
        elapsed_ms=(perf_counter() - started) * 1000,
        duplicates=report,
    )


def _read_manifests(core: Core, docids: list[str], findings: _Findings) -> list[CheckFault]:
    damaged = []
    for docid in docids:
        try:
            findings.listings[docid] = Listing(core.store.read_manifest(docid))
        except KbdbError as error:
            path = core.store.layout.manifest(docid)
            damaged.append(CheckFault("MANIFEST_CORRUPT", path, "", error.message, MANIFEST_FIRST))
    return damaged


def _check_sections(
    core: Core, kbids: list[str], index: _Index, findings: _Findings, tell: Callable[[int], None]
) -> Iterator[str]:
    """Reads every section, document by document; gives the documents that do not read back as they were learned."""
    stored, faults, seen = set(kbids), dict[str, str](), set[str]()
    for listing in findings.listings.values():
        placements = listing.manifest.sections
        whole = all(placement.kbid in stored for placement in placements)
        digest = sha256(listing.manifest.head.encode())
        sections = core.store.read_sections(p.kbid for p in placements if p.kbid in stored)
        for placement, section in zip((p for p in placements if p.kbid in stored), sections, strict=True):
            if not isinstance(section, Section):
                faults[placement.kbid], whole = section.message, False
                continue
            digest.update(section.content + placement.gap.encode())
            if section.kbid not in seen:
                seen.add(section.kbid)
                index.compare(section)
                tell(len(seen))
        if whole and digest.hexdigest() != listing.manifest.origin.sha256:
            yield listing.manifest.docid
    unlisted = [kbid for kbid in kbids if kbid not in seen and kbid not in faults]
    for kbid, section in zip(unlisted, core.store.read_sections(unlisted), strict=True):
        if isinstance(section, Section):
            seen.add(kbid)
            index.compare(section)
            tell(len(seen))
        else:
            faults[kbid] = section.message
    findings.sound = seen
    for kbid in sorted(faults):
        findings.error("SECTION_CORRUPT", core.store.layout.section(kbid), kbid, faults[kbid], RELEARN)
    folder = core.store.layout.sections
    expected = {os.path.join(folder, kbid[:2], f"{kbid}.sec") for kbid in kbids}
    _check_strays(folder, expected, "section", findings)


def _check_strays(folder: Path, expected: set[str], what: str, findings: _Findings) -> None:
    found = (os.path.join(inside, name) for inside, _, names in os.walk(folder) for name in names)
    for path in sorted(path for path in found if path not in expected):
        findings.warning("STRAY_FILE", path, "", f"{path} holds no {what} that is known", "move it away")


def _check_documents(core: Core, docids: list[str], kbids: set[str], differing: list[str], findings: _Findings) -> None:
    layout = core.store.layout
    for docid, listing in findings.listings.items():
        path = layout.manifest(docid)
        for kbid in sorted(listing.kbids - kbids):
            findings.error("SECTION_MISSING", path, kbid, f"{docid} lists section {kbid}, which is not stored", RELEARN)
        if docid in differing:
            message = f"{docid} does not read back as it was learned: its SHA-256 differs"
            findings.error("DOCUMENT_DIFFERS", path, "", message, RELEARN)
    _check_strays(layout.documents, {layout.manifest(docid) for docid in docids}, "document", findings)


def _check_events(core: Core, findings: _Findings) -> None:
    names = core.store.event_files()
    folder = core.store.layout.events
    _check_strays(folder, {str(folder / name) for name in names}, "event", findings)
    known: list[Event] = []
    placed: list[tuple[Path, Event]] = []
    for name in names:
        path = core.store.layout.events / name
        try:
            events = decode_events(core.store.events_bytes(name), path)
        except KbdbError as error:
            findings.error("EVENTS_CORRUPT", path, "", error.message, error.hint)
            continue
        known += events
        placed += ((path, event) for event in events)
        for event in events:
            for kbid in _unknown_kbids(core, event):
                message = f"event {event.id} ({event.kind}) speaks of section {kbid}, which is not stored"
                findings.warning("EVENT_OF_UNKNOWN_SECTION", path, kbid, message, "nothing to do if gc removed it")
    # A document that was retired as a whole may be gone: gc and ungroup remove it.
    retired = {event.docid for event in known if event.kind == "retire" and not event.kbids}
    for path, event in placed:
        if event.docid and event.docid not in retired and not core.store.has_manifest(event.docid):
            message = f"event {event.id} ({event.kind}) speaks of document {event.docid}, which is not stored"
            findings.warning("EVENT_OF_UNKNOWN_DOCUMENT", path, "", message, "restore its manifest from a copy")
    try:
        replay(known)
    except CorruptError as error:
        findings.error("EVENTS_DIFFER", folder, "", error.message, error.hint)


def _unknown_kbids(core: Core, event: Event) -> list[str]:
    spoken = {*event.kbids, *((event.successor,) if event.successor else ())}
    return sorted(kbid for kbid in spoken if not core.store.has_section(kbid)) if event.kind != "erase" else []


class _Index:
    """What the index says, compared with the truth section by section.

    Attributes:
        fault: what is wrong with its files; then nothing is compared.
        slots: its segments.
        differing: (kbid, documents that it says list the section) of what it shows otherwise than the truth.
    """

    def __init__(self, core: Core, listings: dict[str, Listing]) -> None:
        self.fault = ""
        self.slots: tuple[Slot, ...] = ()
        self.differing: list[tuple[str, set[str]]] = []
        self._listing: dict[str, list[Listing]] = {}
        for listing in listings.values():
            for kbid in listing.kbids:
                self._listing.setdefault(kbid, []).append(listing)
        try:
            self._segments = core.indexer.segments
            for slot in self._segments.slots:
                slot.segment.verify()
            self._listed = {id(slot.segment): slot.segment.listed() for slot in self._segments.slots}
            self.slots = self._segments.slots
        except KbdbError as error:
            self.fault = error.message

    def compare(self, section: Section) -> None:
        """Notes a section that the index holds and shows otherwise than its file and manifests do."""
        found = self._segments.find(kbid_decode(section.kbid)) if self.slots else None
        if found is None:
            return
        slot, place = found
        expected, stored = entry_of(section, self._listing.get(section.kbid, ())), slot.segment.stored(place)
        if expected.stored != stored or expected.listed != bitmaps.has(self._listed[id(slot.segment)], place):
            self.differing.append((section.kbid, {p.docid for p in StoredSection.decode(stored).places}))


def _check_index(core: Core, kbids: set[str], index: _Index, findings: _Findings) -> None:
    folder = core.store.layout.indexes
    if index.fault:
        findings.error("INDEX_CORRUPT", folder, "", index.fault, REBUILD)
        return
    for slot in index.slots:
        for name in index_files.missing(core.store.layout, slot.folder):
            message = f"{folder / str(slot.folder) / name} is gone, and serves until the database is closed"
            findings.error("INDEX_CORRUPT", folder, "", message, REBUILD)
    indexed: set[str] = set()
    for slot in index.slots:
        indexed.update(kbid_encode(slot.segment.kbid(entry)) for entry in bitmaps.entries(slot.current))
    for kbid in sorted(indexed - kbids):
        findings.error("INDEX_EXTRA", folder, kbid, f"the index holds {kbid}, which is not stored", REBUILD)
    for kbid in sorted(findings.sound - indexed):
        findings.error("INDEX_MISSING", folder, kbid, f"the index lacks section {kbid}", REBUILD)
    for kbid, shown in sorted(index.differing):
        if unread := sorted(shown - findings.listings.keys()):
            message = f"section {kbid} was listed by {', '.join(unread)}, whose manifest is missing or damaged"
        else:
            message = f"the index shows section {kbid} otherwise than its manifests do"
        findings.error("INDEX_DIFFERS", folder, kbid, message, MANIFEST_FIRST if unread else REBUILD)


def _check_vectors(core: Core, findings: _Findings) -> None:
    held, layout = core.indexer.vectors, core.store.layout
    fault = held.fault
    try:
        for part in held.files.parts if held.files else ():
            part.vectors.verify()
            if part.folder is not None:
                _check_file_of_vectors(layout, part.folder)
    except KbdbError as error:
        fault = error.message
    if fault:
        findings.error("VECTORS_CORRUPT", layout.indexes, "", fault, REBUILD)


def _check_file_of_vectors(layout: Layout, folder: int) -> None:
    """What is on disk, not what was opened: files that are gone go on to serve until the database is closed."""
    if vector_files.digest_of(layout, folder) != vector_files.read_meta(layout, folder).sha256:
        path = layout.indexes / str(folder) / vector_files.NAME
        raise CorruptError(f"{path} is not what was written: its SHA-256 differs", REBUILD)
