"""check: is everything on disk what it should be, and does the index say what the truth files say.

Each fault has a code, a place and what to do about it. Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter

from kbdb.errors import CorruptError, KbdbError
from kbdb.index import bitmaps
from kbdb.index.segments import Slot
from kbdb.knowledge.core import RESTORE_EVENTS, Core
from kbdb.knowledge.entries import Listing, StoredSection, entry_of
from kbdb.model import CheckFault, CheckResult, Event, Manifest, Section
from kbdb.plan import Entry
from kbdb.store.beliefs import replay
from kbdb.store.events import decode_events
from kbdb.store.ids import kbid_encode

RELEARN = "learn its source again, or restore the file from a copy"
REBUILD = "run: kbdb rebuild"
MANIFEST_FIRST = "restore the manifest from a copy or learn its source again, then run: kbdb rebuild"


@dataclass(slots=True)
class _Findings:
    """What has been found so far, and the truth that could be read."""

    errors: list[CheckFault] = field(default_factory=list)
    warnings: list[CheckFault] = field(default_factory=list)
    sections: dict[str, Section] = field(default_factory=dict)
    manifests: dict[str, Manifest] = field(default_factory=dict)

    def error(self, code: str, path: object, kbid: str, message: str, hint: str) -> None:
        self.errors.append(CheckFault(code, str(path), kbid, message, hint))

    def warning(self, code: str, path: object, kbid: str, message: str, hint: str) -> None:
        self.warnings.append(CheckFault(code, str(path), kbid, message, hint))


def check(core: Core) -> CheckResult:
    """Verifies truth against itself, index against truth in both directions, and every checksum."""
    started = perf_counter()
    findings = _Findings()
    kbids, docids = core.store.section_ids(), core.store.manifest_ids()
    _check_sections(core, kbids, findings)
    _check_manifests(core, docids, set(kbids), findings)
    _check_events(core, findings)
    _check_index(core, set(kbids), findings)
    if core.lost_events:
        findings.error("EVENTS_MISSING", core.store.layout.events, "", core.lost_events, RESTORE_EVENTS)
    return CheckResult(
        ok=not findings.errors,
        errors=tuple(findings.errors),
        warnings=tuple(findings.warnings),
        sections=len(kbids),
        documents=len(docids),
        elapsed_ms=(perf_counter() - started) * 1000,
    )


def _check_sections(core: Core, kbids: list[str], findings: _Findings) -> None:
    for kbid in kbids:
        try:
            findings.sections[kbid] = core.store.read_section(kbid)
        except KbdbError as error:
            findings.error("SECTION_CORRUPT", core.store.layout.section(kbid), kbid, error.message, RELEARN)
    expected = {core.store.layout.section(kbid) for kbid in kbids}
    _check_strays(core.store.layout.sections, expected, "section", findings)


def _check_strays(folder: Path, expected: set[Path], what: str, findings: _Findings) -> None:
    for path in sorted({path for path in folder.rglob("*") if not path.is_dir()} - expected):
        findings.warning("STRAY_FILE", path, "", f"{path} holds no {what} that is known", "move it away")


def _check_manifests(core: Core, docids: list[str], kbids: set[str], findings: _Findings) -> None:
    for docid in docids:
        path = core.store.layout.manifest(docid)
        try:
            manifest = findings.manifests[docid] = core.store.read_manifest(docid)
        except KbdbError as error:
            findings.error("MANIFEST_CORRUPT", path, "", error.message, MANIFEST_FIRST)
            continue
        missing = {placement.kbid for placement in manifest.sections} - kbids
        for kbid in sorted(missing):
            findings.error("SECTION_MISSING", path, kbid, f"{docid} lists section {kbid}, which is not stored", RELEARN)
        if not missing and all(p.kbid in findings.sections for p in manifest.sections):
            _check_mirror(core, manifest, findings)
    layout = core.store.layout
    _check_strays(layout.documents, {layout.manifest(docid) for docid in docids}, "document", findings)


def _check_mirror(core: Core, manifest: Manifest, findings: _Findings) -> None:
    """A document read back must be the bytes that were learned."""
    digest = sha256(manifest.head.encode())
    for placement in manifest.sections:
        digest.update(findings.sections[placement.kbid].content + placement.gap.encode())
    if digest.hexdigest() != manifest.origin.sha256:
        path = core.store.layout.manifest(manifest.docid)
        message = f"{manifest.docid} does not read back as it was learned: its SHA-256 differs"
        findings.error("DOCUMENT_DIFFERS", path, "", message, RELEARN)


def _check_events(core: Core, findings: _Findings) -> None:
    names = core.store.event_files()
    folder = core.store.layout.events
    _check_strays(folder, {folder / name for name in names}, "event", findings)
    known: list[Event] = []
    for name in names:
        path = core.store.layout.events / name
        try:
            events = decode_events(core.store.events_bytes(name), path)
        except KbdbError as error:
            findings.error("EVENTS_CORRUPT", path, "", error.message, error.hint)
            continue
        known += events
        for event in events:
            for kbid in _unknown_kbids(core, event):
                message = f"event {event.id} ({event.kind}) speaks of section {kbid}, which is not stored"
                findings.warning("EVENT_OF_UNKNOWN_SECTION", path, kbid, message, "nothing to do if gc removed it")
            if event.docid and not core.store.has_manifest(event.docid):
                message = f"event {event.id} ({event.kind}) speaks of document {event.docid}, which is not stored"
                findings.warning("EVENT_OF_UNKNOWN_DOCUMENT", path, "", message, "nothing to do if gc removed it")
    try:
        replay(known)
    except CorruptError as error:
        findings.error("EVENTS_DIFFER", folder, "", error.message, error.hint)


def _unknown_kbids(core: Core, event: Event) -> list[str]:
    spoken = {*event.kbids, *((event.successor,) if event.successor else ())}
    return sorted(kbid for kbid in spoken if not core.store.has_section(kbid)) if event.kind != "erase" else []


def _check_index(core: Core, kbids: set[str], findings: _Findings) -> None:
    try:
        slots = core.indexer.segments.slots
        for slot in slots:
            slot.segment.verify()
    except KbdbError as error:
        findings.error("INDEX_CORRUPT", core.store.layout.indexes, "", error.message, REBUILD)
        return
    indexed: set[str] = set()
    for slot in slots:
        indexed.update(kbid_encode(slot.segment.kbid(entry)) for entry in bitmaps.entries(slot.current))
    folder = core.store.layout.indexes
    for kbid in sorted(indexed - kbids):
        findings.error("INDEX_EXTRA", folder, kbid, f"the index holds {kbid}, which is not stored", REBUILD)
    for kbid in sorted(set(findings.sections) - indexed):
        findings.error("INDEX_MISSING", folder, kbid, f"the index lacks section {kbid}", REBUILD)
    for entry in _expected(findings, indexed):
        found = core.indexer.segments.find(entry.kbid)
        if found is not None and not _agrees(entry, *found):
            kbid = kbid_encode(entry.kbid)
            shown = {place.docid for place in StoredSection.decode(found[0].segment.stored(found[1])).places}
            if unread := sorted(shown - findings.manifests.keys()):
                message = f"section {kbid} was listed by {', '.join(unread)}, whose manifest is missing or damaged"
            else:
                message = f"the index shows section {kbid} otherwise than its manifests do"
            findings.error("INDEX_DIFFERS", folder, kbid, message, MANIFEST_FIRST if unread else REBUILD)


def _expected(findings: _Findings, indexed: set[str]) -> Iterator[Entry]:
    listing: dict[str, list[Listing]] = {}
    for manifest in findings.manifests.values():
        listed = Listing(manifest)
        for kbid in listed.kbids:
            listing.setdefault(kbid, []).append(listed)
    for kbid, section in findings.sections.items():
        if kbid in indexed:
            yield entry_of(section, listing.get(kbid, ()))


def _agrees(entry: Entry, slot: Slot, place: int) -> bool:
    segment = slot.segment
    return entry.stored == segment.stored(place) and entry.listed == bitmaps.has(segment.listed(), place)
