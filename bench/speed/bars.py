"""What must hold at 100,000 sections: each bar, what was measured, and whether it passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.speed.phases import SMALL
from bench.speed.queries import PHRASES, SETS
from bench.speed.results import Results

SIZE = 100_000
WORD_SETS = tuple(name for name in SETS if name != PHRASES)
WORD_PEERS = ("tantivy", "bm25s")
SECONDS, MILLISECONDS, MEGABYTES = "s", "ms", "MB"


@dataclass(frozen=True, slots=True)
class Row:
    """One bar.

    Attributes:
        what: is measured.
        unit: of value and reference.
        value: kbdb's; None where it was not measured.
        reference: what it is compared with; None where that was not measured, or where the bar stands alone.
        against: the name of the reference; empty where the bar stands alone.
        bar: the most that value may be, as a multiple of the reference, or in the unit where the bar stands alone.
        aim: what would be good, likewise.
    """

    what: str
    unit: str
    value: float | None
    reference: float | None
    against: str
    bar: float
    aim: float | None = None

    @property
    def measured(self) -> float | None:
        """What is held against the bar."""
        if self.value is None or (self.against and not self.reference):
            return None
        return self.value / self.reference if self.reference is not None else self.value

    @property
    def verdict(self) -> str:
        """``pass``, ``miss`` or ``not measured``."""
        if self.measured is None:
            return "not measured"
        return "pass" if self.measured <= self.bar else "miss"


def rows(results: Results, size: int = SIZE) -> list[Row]:
    """Every bar, in the order of the table.

    Args:
        results: of a run.
        size: at which the bars are to hold.
    """
    found = results["sizes"].get(str(size), {})
    return [*_ranking(found), *_search(found), *_index(found), *_store(found)]


def _ranking(found: Results) -> Iterator[Row]:
    for share in ("p50", "p99"):
        for which in WORD_SETS:
            value = _get(found, "rank", "kbdb", which, share)
            best, against = _best(found, WORD_PEERS, which, share)
            yield Row(f"rank {which} {share}", MILLISECONDS, value, best, against, 1.0, 0.5 if share == "p50" else None)
    for share in ("p50", "p99"):
        value, best = (_get(found, "rank", name, PHRASES, share) for name in ("kbdb", "tantivy"))
        yield Row(f"rank {PHRASES} {share}", MILLISECONDS, value, best, "tantivy", 1.0, 0.7)


def _search(found: Results) -> Iterator[Row]:
    for which in SETS:
        value, peer = (_get(found, "search", name, which, "p50") for name in ("kbdb", "tantivy-stored"))
        yield Row(f"search {which} p50", MILLISECONDS, value, peer, "tantivy-stored", 1.0)


def _index(found: Results) -> Iterator[Row]:
    value, peer = (_get(found, "build", name, "cpu_s") for name in ("kbdb", "tantivy"))
    yield Row("rebuild from section files, CPU", SECONDS, value, peer, "tantivy from memory", 0.6, 0.4)
    yield Row("rebuild, peak memory", MEGABYTES, _get(found, "build", "kbdb", "peak_rss_mb"), None, "", 400.0)
    value, peer = (_megabytes(_get(found, "disk", name)) for name in ("kbdb", "tantivy"))
    yield Row("terms + positions + corpus on disk", MEGABYTES, value, peer, "tantivy", 1.0)
    value, peer = (_get(found, "first", name, "p50") for name in ("kbdb", "tantivy"))
    yield Row("open + first query", MILLISECONDS, value, peer, "tantivy", 1.0)
    yield Row("private memory of a searcher", MEGABYTES, _get(found, "memory", "kbdb", "queried_mb"), None, "", 10.0)


def _store(found: Results) -> Iterator[Row]:
    value, file, before = (
        _get(found, "learn", *path)
        for path in (("kbdb", "learned_p50"), ("kbdb", "file_p50"), ("small", "learned_p50"))
    )
    yield Row("learn one section, p50", MILLISECONDS, value, file, "write + fsync + rename", 2.0)
    yield Row("learn one section, p50", MILLISECONDS, value, before, f"the same at {SMALL:,}", 1.2)
    yield Row("gc after superseding 10 %", SECONDS, _get(found, "upkeep", "kbdb", "gc_s"), None, "", 10.0)
    yield Row("check", SECONDS, _get(found, "upkeep", "kbdb", "check_s"), None, "", 10.0)


def _best(found: Results, names: Sequence[str], which: str, share: str) -> tuple[float | None, str]:
    """The best of the peers that were measured, and its name; the names of all where none was."""
    measured = [(value, name) for name in names if (value := _get(found, "rank", name, which, share)) is not None]
    return min(measured) if measured else (None, " or ".join(names))


def _get(found: Any, *path: str) -> float | None:
    """The number at a path into nested results, or None where something on it is missing."""
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return None if found is None else float(found)


def _megabytes(count: float | None) -> float | None:
    return None if count is None else count / 1e6
