"""``doctor``: what on this machine may keep kbdb from working, each with what to do about it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from kbdb.cli.daemon import status_of
from kbdb.cli.exits import Exit
from kbdb.cli.render.about import CHANGED_SETTINGS, RESTART, draw_diagnosis
from kbdb.cli.render.daemon import not_answering
from kbdb.cli.render.paper import counted, size
from kbdb.cli.session import DAEMON_VARIABLE, Db, Json, Session, wants_daemon
from kbdb.errors import DatabaseLockedError, KbdbError
from kbdb.paths import Layout, Location

if TYPE_CHECKING:
    from kbdb.embed.api import EmbeddingProvider
    from kbdb.model.embedding import EmbeddingStatus

LITTLE_SPACE = 200_000_000
"""Below this many free bytes a warning is due: a large index rebuilt beside its old self needs as much."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ``hint`` is empty when nothing needs doing."""

    name: str
    status: Literal["ok", "warning", "error"]
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings; ``ok`` when none is an error."""

    ok: bool
    findings: tuple[Finding, ...]


def doctor(context: typer.Context, db: Db = None, as_json_: Json = False) -> int:
    """Look for what may keep kbdb from working here."""
    session = Session.of(context, db, as_json_)
    findings = tuple(_findings(session))
    diagnosis = Diagnosis(all(finding.status != "error" for finding in findings), findings)
    session.answer(diagnosis, draw_diagnosis)
    return Exit.DONE if diagnosis.ok else Exit.FAILED


def _findings(session: Session) -> Iterator[Finding]:
    from kbdb import __version__

    yield Finding("python", "ok", f"{platform.python_implementation()} {platform.python_version()} at {sys.executable}")
    yield Finding("kbdb", "ok", f"{__version__} at {Path(__file__).parent.parent}")
    yield _engine()
    yield _text()
    location = session.locate()
    if not location.exists:
        hint = "kbdb init creates one in the current folder"
        yield Finding("database", "warning", f"none at {location.root} ({location.reason})", hint)
        return
    yield Finding("database", "ok", f"{location.root} ({location.reason})")
    yield _writable(location.root)
    yield _file_system(location.root)
    yield _space(location.root)
    yield _configuration(location)
    yield from _embedding(location)
    yield _daemon(location.root)
    yield from _contents(session)


def _engine() -> Finding:
    from kbdb.index.engine import engine

    try:
        chosen = engine()
    except KbdbError as error:
        return Finding("engine", "error", error.message, error.hint)
    compiled = find_spec("kbdb._engine") is not None
    message = f"{chosen.IMPLEMENTATION} (KBDB_ENGINE={os.environ.get('KBDB_ENGINE', '') or 'unset'})"
    if compiled:
        return Finding("engine", "ok", message)
    return Finding(
        "engine", "warning", f"{message}; not compiled, searches are slow", "reinstall with a C compiler present"
    )


def _text() -> Finding:
    encodings = f"output {sys.stdout.encoding}, file names {sys.getfilesystemencoding()}"
    if "utf" in (sys.stdout.encoding or "").lower() and "utf" in sys.getfilesystemencoding().lower():
        return Finding("text", "ok", encodings)
    hint = "set PYTHONUTF8=1, or a UTF-8 locale such as LANG=C.UTF-8"
    return Finding("text", "warning", f"{encodings}: other characters are shown as escapes", hint)


def _writable(root: Path) -> Finding:
    if os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return Finding("access", "ok", "readable and writable")
    return Finding(
        "access", "error", f"{root} cannot be read and written by this user", "mend its owner or permissions"
    )


def _file_system(root: Path) -> Finding:
    from kbdb.platform import is_network_file_system

    if is_network_file_system(root):
        hint = "move the database to a disk of this machine"
        return Finding("file system", "warning", "a network file system: locks may not hold there", hint)
    return Finding("file system", "ok", "of this machine, as far as it can be told")


def _space(root: Path) -> Finding:
    try:
        free = shutil.disk_usage(root).free
    except OSError as error:
        return Finding("space", "warning", f"cannot be told: {error.strerror}")
    if free < LITTLE_SPACE:
        return Finding("space", "warning", f"{size(free)} free", "make room before learning or rebuilding")
    return Finding("space", "ok", f"{size(free)} free")


def _configuration(location: Location) -> Finding:
    from kbdb.config import load

    path = Layout(location.root).config
    try:
        load(path)
    except KbdbError as error:
        return Finding("config", "error", error.message, error.hint)
    return Finding("config", "ok", str(path) if path.is_file() else "no worker.toml: all defaults")


def _embedding(location: Location) -> Iterator[Finding]:
    """Whether vectors can be had: tests a local model, asks a service for one vector. Downloads nothing."""
    from kbdb.config import load
    from kbdb.embed.api import provider_of

    try:
        config = replace(load(Layout(location.root).config).embedding, allow_download=False)
    except KbdbError:
        return  # told above
    if config.provider == "none":
        yield Finding("embedding", "ok", "no provider is configured: searches are lexical")
        return
    try:
        provider = provider_of(config)
        provider.embed(["kbdb"])
        message = f"{config.provider}, {provider.model_name()}, {counted(provider.dimensions(), 'dimension')}"
        yield Finding("embedding", "ok", f"{message}: {_where_from(provider)}")
    except KbdbError as error:
        yield Finding("embedding", "error", f"{config.provider}, {config.model}: {error.message}", error.hint)


def _vectors(facts: EmbeddingStatus) -> Iterator[Finding]:
    """Whether the sections have their vectors."""
    if facts.provider == "none":
        return
    held = f"{counted(facts.vectors, 'section')} embedded, {facts.waiting:,} waiting, {facts.failed:,} refused"
    if facts.stale:
        yield Finding("vectors", "warning", f"stale: {facts.trouble}", "kbdb rebuild makes them anew")
    elif facts.trouble:
        yield Finding("vectors", "warning", f"{held}; {facts.trouble}", "kbdb rebuild tries again")
    elif facts.failed:
        yield Finding("vectors", "warning", held, "kbdb rebuild tries those again that were refused")
    else:
        yield Finding("vectors", "ok", held)


def _where_from(provider: EmbeddingProvider) -> str:
    from kbdb.embed.onnx import OnnxEmbeddingProvider
    from kbdb.embed.service import ApiEmbeddingProvider

    if isinstance(provider, OnnxEmbeddingProvider):
        loaded = provider.load()
        return f"{loaded.place.path} ({loaded.place.why}); self-test passed, cosine {loaded.cosine:.4f} at the least"
    if isinstance(provider, ApiEmbeddingProvider):
        return f"{provider.address()} answers, {'with a key' if provider.has_key() else 'without a key'}"
    raise AssertionError("a provider that is configured is one of these")


def _daemon(root: Path) -> Finding:
    """Before the contents are looked at, which starts one."""
    from kbdb.platform import runtime_dir

    try:
        facts = status_of(root)
        if facts is None:
            begins = "the next command starts one" if wants_daemon() else f"switched off by ${DAEMON_VARIABLE}"
            return Finding("daemon", "ok", f"none runs; {begins}; its socket and log go to {runtime_dir()}")
    except KbdbError as error:
        return Finding("daemon", "error", error.message, error.hint)
    if not facts["answers"]:
        return Finding("daemon", "warning", f"process {facts['pid']} does not answer", not_answering(facts["pid"]))
    message = f"process {facts['pid']}, kbdb {facts['version']}, at {facts.get('address')}, log {facts.get('log')}"
    if not facts["settings_current"]:
        return Finding("daemon", "warning", f"{message}; {CHANGED_SETTINGS}", RESTART)
    return Finding("daemon", "ok", message)


def _contents(session: Session) -> Iterator[Finding]:
    """What only opening the database can tell."""
    try:
        with session.open() as kb:
            status = kb.status()
    except DatabaseLockedError as error:
        yield Finding("contents", "warning", error.message, error.hint)
        return
    except KbdbError as error:
        yield Finding("contents", "error", error.message, error.hint)
        return
    held = f"{counted(status.sections, 'section')} in {counted(status.documents, 'document')}"
    yield Finding("contents", "ok", f"{held}, generation {status.generation}")
    if status.index.stale:
        yield Finding("index", "warning", "stale: of another version or configuration", "kbdb rebuild makes it anew")
    else:
        yield Finding("index", "ok", f"current, {counted(status.index.segments, 'segment')}")
    yield from _vectors(status.embedding)
    yield from (Finding("note", "warning", text) for text in status.warnings)
