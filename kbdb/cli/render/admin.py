"""What init, status, check, rebuild, gc, export and import say, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kbdb.cli.render.paper import Paper, counted, duration, joined, milliseconds, notes, size
from kbdb.cli.render.table import Column, columns

if TYPE_CHECKING:
    from kbdb.model.embedding import EmbeddingStatus
from kbdb.model.upkeep import (
    CheckFault,
    CheckResult,
    DbStatus,
    DuplicateReport,
    ExportResult,
    GcResult,
    RebuildResult,
)


def draw_created(created: Mapping[str, str], paper: Paper) -> str:
    """Where the new database is and what comes next."""
    return joined([f"created {paper.plain(created['path'])}", paper.paint("next: kbdb learn PATH", "dim")])


def draw_status(status: DbStatus, paper: Paper) -> str:
    """A table of facts, then warnings."""
    table = columns(paper, list(_facts(status)), (Column("dim"), Column(cut=True)))
    return joined([*table, *notes(status.warnings, paper)])


def _facts(status: DbStatus) -> Iterator[tuple[str, str]]:
    index = status.index
    yield "database", status.path
    yield "id", status.database
    yield "generation", f"{status.generation:,}"
    yield "documents", f"{status.documents:,}"
    yield "sections", f"{status.sections:,}" + _in_brackets(f"{n:,} {state}" for state, n in status.states.items() if n)
    yield "journal", size(status.journal_bytes)
    yield "index", _stale(index.stale) + counted(index.segments, "segment")
    yield "terms.idx", size(index.terms_idx_bytes)
    yield "positions.idx", size(index.positions_idx_bytes)
    yield "corpus.dat", size(index.corpus_dat_bytes)
    yield "references.idx", size(index.references_idx_bytes)
    if index.vectors_idx_bytes:
        yield "vectors.idx", size(index.vectors_idx_bytes)
    yield "engine", f"{status.engine.implementation}, {size(status.engine.memory_bytes)} of memory"
    if status.daemon:
        yield "daemon", daemon_words(status.daemon)
    yield "embedding", embedding_words(status.embedding)
    if status.auto_capture:
        yield "auto-capture", ", ".join(f"{key} {_word(value)}" for key, value in status.auto_capture.items())


def embedding_words(facts: EmbeddingStatus) -> str:
    """How a database stands with vectors, in a line."""
    if facts.provider == "none":
        return "none: searches are by words"
    counts = [(facts.vectors, "embedded"), (facts.waiting, "waiting"), (facts.failed, "refused")]
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count or word == "embedded")
    stale = "stale (kbdb rebuild), " if facts.stale else ""
    trouble = f"; {facts.trouble}" if facts.trouble else ""
    return f"{facts.provider}, {facts.model}, {stale}{told}{trouble}"


def daemon_words(facts: Mapping[str, Any]) -> str:
    """What a daemon says of itself, in a line."""
    doing = facts["doing"] or "idle"
    waiting = f", {facts['waiting']:,} waiting" if facts["waiting"] else ""
    if facts.get("embedding"):
        waiting += f", {counted(facts['embedding'], 'section')} to embed"
    connections = counted(facts["connections"], "connection")
    up = duration(facts["uptime_s"])
    return f"process {facts['pid']}, up {up}, {size(facts['rss_bytes'])} of memory, {connections}, {doing}{waiting}"


def _word(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _stale(stale: bool) -> str:
    return "stale (kbdb rebuild), " if stale else ""


def _in_brackets(parts: Iterable[str]) -> str:
    text = ", ".join(parts)
    return f" ({text})" if text else ""


def draw_check(result: CheckResult, paper: Paper) -> str:
    """Every fault with its code, place and remedy, then the verdict."""
    lines = [*_faults(result.errors, "error", paper), *_faults(result.warnings, "warning", paper)]
    seen = f"{counted(result.sections, 'section')} in {counted(result.documents, 'document')}"
    verdict = paper.paint("ok", "good") if result.ok else paper.paint(counted(len(result.errors), "error"), "bad")
    also = f", {counted(len(result.warnings), 'warning')}" if result.warnings else ""
    if result.duplicates is not None:
        lines += _duplicates(result.duplicates, paper)
    return joined([*lines, f"{verdict}{also}: {seen} checked in {milliseconds(result.elapsed_ms)}"])


def _duplicates(report: DuplicateReport, paper: Paper) -> Iterator[str]:
    """Each pair on two lines, then how many there are among how many."""
    rows = [
        (score, section.title or "(untitled)", section.kbid, f"{section.source or section.docid}:{section.line}")
        for pair in report.pairs
        for score, section in ((f"{pair.score:.4f}", pair.first), ("", pair.second))
    ]
    if rows:
        yield from columns(paper, rows, (Column("dim"), Column(cut=True), Column("dim"), Column(cut=True, rank=1)))
    if not report.sections:
        yield "near duplicates: no section has a vector, so none was compared"
        return
    total = f"{report.total:,}" + ("" if report.total_is_exact else " or more")
    pairs = "pair" if total == "1" else "pairs"
    shown = f", the nearest {len(report.pairs):,} shown" if len(report.pairs) < report.total else ""
    among = f"among {counted(report.sections, 'section')}"
    left = f"; {report.without_vector:,} without a vector not compared" if report.without_vector else ""
    yield f"near duplicates: {total} {pairs} {among} (cosine {report.threshold:g} or more){shown}{left}"


def _faults(faults: tuple[CheckFault, ...], kind: str, paper: Paper) -> Iterator[str]:
    for fault in faults:
        label = paper.paint(f"{kind} {fault.code}:", "bad" if kind == "error" else "warn")
        place = " ".join(part for part in (fault.path, fault.kbid and f"({fault.kbid})") if part)
        yield f"{label} {paper.plain(fault.message)}"
        if place:
            yield f"  at:   {paper.plain(place)}"
        if fault.hint:
            yield f"  {paper.paint('hint:', 'dim')} {paper.plain(fault.hint)}"


def draw_rebuilt(result: RebuildResult, paper: Paper) -> str:
    """What the new index holds, and what it had to leave out."""
    vectors = f" and {counted(result.vectors, 'vector')}" if result.vectors else ""
    made = f"index of {counted(result.sections, 'section')}{vectors} made anew in {milliseconds(result.elapsed_ms)}"
    return joined([made, *notes(result.warnings, paper)])


def draw_gc(result: GcResult, paper: Paper) -> str:
    """What was or would be removed."""
    verb = "would remove" if result.dry_run else "removed"
    lines = [f"{verb} {counted(result.removed, 'section')}, {size(result.bytes_freed)}"]
    return joined([*lines, *(paper.paint(f"  {kbid}", "dim") for kbid in result.kbids)])


def draw_exported(result: ExportResult, paper: Paper) -> str:
    """What was written, and where."""
    return joined([f"exported {_contents(result)} to {paper.plain(result.path)}"])


def draw_imported(result: ExportResult, paper: Paper) -> str:
    """What was read, and from where."""
    return joined([f"imported {_contents(result)} from {paper.plain(result.path)}"])


def _contents(result: ExportResult) -> str:
    held = f" ({result.suppressed:,} held back)" if result.suppressed else ""
    return f"{counted(result.sections, 'section')} in {counted(result.documents, 'document')}{held}"
