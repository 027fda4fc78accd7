"""export and import: the truth files as a folder that can be carried, checked and taken in elsewhere.

An export holds ``catalog.toml``, ``sections/``, ``documents/``, ``events/`` as in a database, and ``SHA256SUMS`` over
them, which ``sha256sum -c`` reads too. Import verifies all of it before it writes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from time import perf_counter
from typing import TypeVar

from kbdb.errors import CorruptError, HashMismatchError, InvalidArgumentError, SourceNotFoundError, StorageError
from kbdb.knowledge.admission import Gate, live_twins
from kbdb.knowledge.core import Core
from kbdb.model.truth import Event, Manifest, Section
from kbdb.model.upkeep import ExportResult
from kbdb.paths import absolute
from kbdb.progress import Report, now_and_then
from kbdb.store import files
from kbdb.store.beliefs import replay
from kbdb.store.catalog import decode_catalog, encode_catalog
from kbdb.store.events import decode_events, is_event_file
from kbdb.store.manifest import decode_manifest
from kbdb.store.section import decode_section
from kbdb.store.store import Change

SUMS = "SHA256SUMS"
CATALOG = "catalog.toml"
CONTENTS = frozenset((SUMS, CATALOG, "sections", "documents", "events"))

CHECK = "run: kbdb check"

Decoded = TypeVar("Decoded")

WITHDRAWING = ("forget", "invalidate", "erase")
"""Events after which nothing says the texts of the sections they name."""


@dataclass(frozen=True, slots=True)
class Package:
    """What an export holds, verified."""

    sections: dict[str, Section]
    manifests: tuple[Manifest, ...]
    events: tuple[Event, ...]


def export(core: Core, target: Path, progress: Report | None = None) -> ExportResult:
    """Writes the truth files to a folder; it is there whole or not at all.

    Works in ``.<name>.kbdb-new`` beside it; an earlier export waits in ``.<name>.kbdb-old`` until the new one is in
    its place. What a process that ended there left behind is cleared away by the next export.

    Raises:
        InvalidArgumentError: the folder exists and is not an earlier export.
        CorruptError: a truth file is damaged or missing, so that what came out could not be imported.
    """
    started = perf_counter()
    target = Path(absolute(target))
    making, waiting = target.with_name(f".{target.name}.kbdb-new"), target.with_name(f".{target.name}.kbdb-old")
    if target.is_relative_to(core.store.layout.root):
        raise InvalidArgumentError(f"{target} lies inside the database", "name a folder outside .kbdb")
    for folder in (target, making, waiting):
        if folder.is_symlink() or not _may_replace(folder, unfinished=folder != target):
            raise InvalidArgumentError(f"{folder} exists and is not an export", "name a folder that does not exist yet")
    files.remove_folder(making, point="export")
    try:
        sections, documents = _write(core, making, progress)
        files.replace_folder(making, target, waiting, point="export")
    except BaseException:
        with suppress(StorageError):
            _give_up(making, target, waiting)
        raise
    return ExportResult(str(target), sections, documents, 0, (perf_counter() - started) * 1000)


def _write(core: Core, making: Path, progress: Report | None) -> tuple[int, int]:
    """Writes an export durably; returns how many sections and documents it holds."""
    sums = []
    sections = documents = 0
    store = core.store
    tell = now_and_then(progress, 1 + len(store.section_ids()) + len(store.manifest_ids()) + len(store.event_files()))
    for done, (name, data) in enumerate(_truth(core), 1):
        files.make_folder(making / PurePosixPath(name).parent)
        files.write_atomic(making / name, data, sync=False, point="export")
        sums.append(f"{sha256(data).hexdigest()}  {name}\n")
        sections += name.startswith("sections/")
        documents += name.startswith("documents/")
        tell(done)
    files.write_atomic(making / SUMS, "".join(sums).encode(), sync=False, point="export")
    made = list(making.rglob("*"))
    folders = [making, *(path for path in made if path.is_dir())]
    files.sync_many([path for path in made if path.is_file()], folders, making, None)
    return sections, documents


def _give_up(making: Path, target: Path, waiting: Path) -> None:
    """Leaves things as they were before an export that failed."""
    if waiting.exists() and not target.exists():
        files.replace_folder(waiting, target, making, point="export")
    files.remove_folder(making, point="export")


def import_(core: Core, source: Path, progress: Report | None = None) -> ExportResult:
    """Takes an export in, all of it or nothing: what is new is stored, what was decided there or here goes on to hold.

    Of a document that both have, the one updated last stays. A text forgotten or marked wrong there is held back here
    in whatever live section says it, as long as one that said it there is stored on either side.

    Raises:
        SourceNotFoundError: there is no export.
        HashMismatchError: a file is not what the export's list says.
        CorruptError: a file is not what its name says, or an event says something else here.
    """
    started = perf_counter()
    source = Path(absolute(source))
    package = read_package(source, progress)
    gate = Gate(core, "import", revives=False, beliefs=core.beliefs_with(package.events))
    core.follow(package.events)
    wanted = [manifest for manifest in package.manifests if _is_newer(core, manifest)]
    newer = {manifest.docid for manifest in wanted}
    skipped = {p.kbid for manifest in package.manifests if manifest.docid not in newer for p in manifest.sections}
    listed = dict.fromkeys(placement.kbid for manifest in wanted for placement in manifest.sections)
    loose = package.sections.keys() - skipped - listed.keys()
    events = {event.id: event for event in package.events if event.id not in core.events}
    admitted = [event for kbid in listed for event in gate.admit(package.sections[kbid])]
    twins = live_twins(core, _withdrawn(core, package, events.values()))
    admitted += [event for twin in twins if twin.kbid not in listed for event in gate.admit(twin)]
    fresh = [package.sections[kbid] for kbid in (*listed, *sorted(loose)) if not core.readable([kbid])]
    retired = [event for manifest in wanted for event in _retired(core, manifest)]
    if fresh or wanted or events:
        everything = (*events.values(), *admitted, *retired)
        core.commit([Change(sections=tuple(fresh), manifests=tuple(wanted), events=everything)])
    suppressed = len({one.kbid for one in gate.suppressed})
    return ExportResult(str(source), len(fresh), len(wanted), suppressed, (perf_counter() - started) * 1000)


def read_package(source: Path, progress: Report | None = None) -> Package:
    """Reads and verifies an export."""
    sums_path = source / SUMS
    if not sums_path.is_file():
        raise SourceNotFoundError(f"{source} is not an export: it has no {SUMS}", "name a folder that kbdb export made")
    contents = dict(_verified(source, sums_path, progress))
    decode_catalog(contents.pop(CATALOG, b""), source / CATALOG)
    sections: dict[str, Section] = {}
    manifests: list[Manifest] = []
    events: list[Event] = []
    for name, data in contents.items():
        path = source / name
        if name.startswith("sections/"):
            section = decode_section(data, path)
            _check_name(path, name, _section_name(section.kbid))
            sections[section.kbid] = section
        elif name.startswith("documents/"):
            manifest = decode_manifest(data, path)
            _check_name(path, name, _manifest_name(manifest.docid))
            manifests.append(manifest)
        elif name.startswith("events/") and is_event_file(name.removeprefix("events/")):
            events += decode_events(data, path)
        else:
            raise CorruptError(f"{path} is no file that an export holds", "export again")
    for manifest in manifests:
        for placement in manifest.sections:
            if placement.kbid not in sections:
                raise CorruptError(f"{source}: {manifest.docid} lists section {placement.kbid}, which is not there")
    return Package(sections, tuple(manifests), tuple(events))


def _withdrawn(core: Core, package: Package, events: Iterable[Event]) -> Iterator[Section]:
    """The sections whose texts these events say are to go."""
    for kbid in {kbid: None for event in events if event.kind in WITHDRAWING for kbid in event.kbids}:
        if kbid in package.sections:
            yield package.sections[kbid]
        else:
            yield from core.readable([kbid])


def _check_name(path: Path, name: str, expected: str) -> None:
    if name != expected:
        raise CorruptError(f"{path} holds what belongs into {expected}", "export again")


def _retired(core: Core, manifest: Manifest) -> Iterator[Event]:
    """Says which sections a document no longer lists when the imported one takes its place."""
    if core.store.has_manifest(manifest.docid):
        before = {placement.kbid for placement in core.store.read_manifest(manifest.docid).sections}
        gone = tuple(sorted(before - {placement.kbid for placement in manifest.sections}))
        if gone:
            yield core.event("retire", "import", docid=manifest.docid, kbids=gone)


def _is_newer(core: Core, manifest: Manifest) -> bool:
    if not core.store.has_manifest(manifest.docid):
        return True
    mine = core.store.read_manifest(manifest.docid)
    return mine != manifest and mine.updated < manifest.updated


def _truth(core: Core) -> Iterator[tuple[str, bytes]]:
    """The truth files by their names in an export, each checked as an import will check it."""
    store, layout = core.store, core.store.layout
    yield CATALOG, encode_catalog(store.catalog)
    kbids = store.section_ids()
    known, events = set(kbids), []
    for kbid in kbids:
        data = store.section_bytes(kbid)
        if _sound(decode_section, data, layout.section(kbid)).kbid != kbid:
            raise CorruptError(f"{layout.section(kbid)} holds another section than its name says", CHECK)
        yield _section_name(kbid), data
    for docid in store.manifest_ids():
        data, path = store.manifest_bytes(docid), layout.manifest(docid)
        manifest = _sound(decode_manifest, data, path)
        if manifest.docid != docid:
            raise CorruptError(f"{path} holds another document than its name says", CHECK)
        for placement in manifest.sections:
            if placement.kbid not in known:
                raise CorruptError(f"{path} lists section {placement.kbid}, which is not stored", CHECK)
        yield _manifest_name(docid), data
    for name in store.event_files():
        data = store.events_bytes(name)
        events += _sound(decode_events, data, layout.event_file(name))
        yield f"events/{name}", data
    try:
        replay(events)
    except CorruptError as error:
        raise CorruptError(f"{layout.events}: {error.message}", CHECK) from error


def _sound(decode: Callable[[bytes, str], Decoded], data: bytes, path: str) -> Decoded:
    """What a truth file says; where it is damaged, the error says how to find all that is."""
    try:
        return decode(data, path)
    except CorruptError as error:
        raise CorruptError(error.message, CHECK) from error


def _section_name(kbid: str) -> str:
    return f"sections/{kbid[:2]}/{kbid}.sec"


def _manifest_name(docid: str) -> str:
    return f"documents/{docid}.toml"


def _verified(source: Path, sums_path: Path, progress: Report | None) -> Iterator[tuple[str, bytes]]:
    try:
        lines = sums_path.read_bytes().decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise CorruptError(f"{sums_path} is not UTF-8: byte {error.start}", "export again") from error
    except OSError as error:
        raise StorageError(f"cannot read {sums_path}: {error.strerror}") from error
    listed: set[str] = set()
    tell = now_and_then(progress, len(lines))
    for number, line in enumerate(lines, start=1):
        digest, _, name = line.partition("  ")
        path = source / name
        if not _is_plain(name) or name in listed:
            raise CorruptError(f"{sums_path}: line {number} does not name a file of the export", "export again")
        listed.add(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise HashMismatchError(f"{path} is listed in {SUMS} but missing", "copy the export again") from error
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error
        if sha256(data).hexdigest() != digest:
            raise HashMismatchError(f"{path} is not what {SUMS} says: its SHA-256 differs", "copy the export again")
        yield name, data
        tell(number)
    found = {p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()} - {SUMS}
    if found != listed:
        extra = ", ".join(sorted(found - listed)[:3])
        raise HashMismatchError(f"{source} holds files that {SUMS} does not list: {extra}", "export again")


def _is_plain(name: str) -> bool:
    """Whether a listed name stays inside the export."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name


def _may_replace(path: Path, *, unfinished: bool) -> bool:
    """Whether there is nothing at a path, an empty folder, or an export and nothing else; or what is left of one."""
    if not path.exists():
        return True
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else {""}
    if unfinished:
        names = {name.removesuffix(files.TMP_SUFFIX) for name in names}
        return names <= CONTENTS
    return not names or (names <= CONTENTS and {SUMS, CATALOG} <= names)
