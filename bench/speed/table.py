"""Results as Markdown: the bars with their verdicts, then everything measured at each size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.speed.bars import SIZE, Row, rows
from bench.speed.phases import SMALL
from bench.speed.queries import SETS
from bench.speed.results import Results

UNKNOWN = "-"
BEGIN, END = "<!-- results -->", "<!-- end of results -->"


def render(results: Results, size: int = SIZE, *, short: bool = False) -> str:
    """The report.

    Args:
        results: of a run.
        size: at which the bars are to hold.
        short: the bars alone.
    """
    parts = [_machine(results), f"### Bars, {size:,} sections", _bars(rows(results, size))]
    sizes = [] if short else sorted(map(int, results["sizes"]))
    if len(sizes) > 1:
        parts += ["### By size", _growth(results, sizes)]
    for one in sizes:
        parts.extend(_size(one, results["sizes"][str(one)]))
    return "\n\n".join(parts) + "\n"


def put_into(path: Path, text: str) -> None:
    """Replaces what stands between ``BEGIN`` and ``END`` in a Markdown file.

    Raises:
        ValueError: the file lacks them.
    """
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} has no {BEGIN} and {END} to put the results between")
    path.write_text(f"{before}{begin}\n\n{text}\n{end}{after}", encoding="utf-8")


def number(value: float | None) -> str:
    """Three significant digits."""
    if value is None:
        return UNKNOWN
    if value >= 1000:
        return f"{value:,.0f}"
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{decimals}f}"


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text."""
    rule = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *body])


def _machine(results: Results) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    lines = [f"Measured on {', '.join(value for value in machine.values() if value)}."] if machine else []
    lines += [f"Versions: {versions}."] if versions else []
    lines += [f"{name} was not measured: {reason}." for name, reason in results["skipped"].items()]
    return "\n".join(lines)


def _bars(found: Sequence[Row]) -> str:
    def cells(row: Row) -> list[str]:
        beside = f"{number(row.reference)} {row.unit} ({row.against})" if row.against else UNKNOWN
        unit = " x" if row.against else f" {row.unit}"
        verdict = row.verdict if row.verdict == "pass" else f"**{row.verdict}**"
        aim = f" (aim {row.aim:g})" if row.aim is not None else ""
        ratio = number(row.measured) if row.against else UNKNOWN
        return [row.what, f"{number(row.value)} {row.unit}", beside, ratio, f"≤ {row.bar:g}{unit}{aim}", verdict]

    return markdown_table(["what", "kbdb", "against", "ratio", "bar", ""], map(cells, found))


def _growth(results: Results, sizes: Sequence[int]) -> str:
    """kbdb's figures at each size, and in brackets their ratio to what they are compared with at the same size."""

    def cell(row: Row) -> str:
        ratio = f" ({number(row.measured)} x)" if row.against and row.measured is not None else ""
        return f"{number(row.value)} {row.unit}{ratio}" if row.value is not None else UNKNOWN

    columns = [rows(results, size) for size in sizes]
    return markdown_table(
        ["what", *(f"{size:,}" for size in sizes)],
        ([same[0].what, *map(cell, same)] for same in zip(*columns, strict=True) if "the same" not in same[0].against),
    )


def _size(size: int, found: Results) -> Iterator[str]:
    yield f"### {size:,} sections"
    for phase, title in (("rank", "`rank`"), ("search", "`search`")):
        if phase in found:
            yield f"{title}, p50 / p99 in ms: each query's best pass"
            yield _latencies(found[phase])
    yield markdown_table(["what", "", ""], _others(found))


def _latencies(found: Results) -> str:
    def cell(times: Results | None) -> str:
        return f"{number(times['p50'])} / {number(times['p99'])}" if times else UNKNOWN

    return markdown_table(
        ["engine", *SETS], ([name, *(cell(times.get(which)) for which in SETS)] for name, times in found.items())
    )


def _others(found: Results) -> Iterator[list[str]]:
    for name, used in found.get("made", {}).items():
        how = "made by learning Markdown files" if name == "kbdb" else "made from memory"
        yield [f"{name}: {how}", _used(used), ""]
    for name, used in found.get("build", {}).items():
        how = "rebuilt from section files" if name == "kbdb" else "built from memory"
        yield [f"{name}: {how}", _used(used), ""]
    for name, count in found.get("disk", {}).items():
        yield [f"{name}: index on disk", f"{number(count / 1e6)} MB", ""]
    for name, times in found.get("first", {}).items():
        yield [f"{name}: open + first query", f"{number(times['p50'])} ms", f"open {number(times['open_p50'])} ms"]
    for name, memory in found.get("memory", {}).items():
        if memory:
            opened = f"{number(memory['opened_mb'])} MB when opened, {number(memory['index_mb'])} MB mapped"
            yield [f"{name}: private memory", f"{number(memory['queried_mb'])} MB", opened]
    yield from _kept(found)


def _kept(found: Results) -> Iterator[list[str]]:
    for name, times in found.get("learn", {}).items():
        where = "" if name == "kbdb" else f", at {SMALL:,} in turns with it"
        rest = f"p99 {number(times['learned_p99'])} ms; found by a search after {number(times['found_p50'])} ms"
        yield [f"kbdb: learn one section{where}", f"{number(times['learned_p50'])} ms", rest]
        yield [f"kbdb: its CPU{where}", f"{number(times['cpu_p50'])} ms", ""]
        worst = f"p99 {number(times['file_p99'])} ms"
        yield [f"write + fsync + rename{where}", f"{number(times['file_p50'])} ms", worst]
    for times in found.get("upkeep", {}).values():
        yield ["kbdb: supersede 10 %", f"{number(times['supersede_s'])} s", f"{times['removed']:,} sections"]
        yield ["kbdb: gc", f"{number(times['gc_s'])} s", ""]
        yield ["kbdb: check", f"{number(times['check_s'])} s", "" if times["check_ok"] else "found errors"]


def _used(used: dict[str, Any]) -> str:
    return f"{number(used['cpu_s'])} CPU s, {number(used['wall_s'])} s, peak {number(used['peak_rss_mb'])} MB"
