"""The bars of the speed benchmark: what passes, what misses, and how the table and the gate say so."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from bench import gate as gate_command
from bench.speed import engines, results
from bench.speed.bars import rows
from bench.speed.gate import failures
from bench.speed.latency import percentile
from bench.speed.phases import Options
from bench.speed.queries import SETS
from bench.speed.run import installed
from bench.speed.table import number, put_into, render


def times(p50: float, p99: float) -> dict[str, float]:
    return {"p50": p50, "p99": p99, "passes": 3, "hits": 10.0}


@pytest.fixture
def passing() -> results.Results:
    """Results of a kbdb that is as good as it must be, and no better."""
    used = {"wall_s": 1.0, "cpu_s": 6.0, "peak_rss_mb": 400.0}
    learned = {
        "learned_p50": 1.2,
        "cpu_p50": 0.9,
        "found_p50": 1.3,
        "file_p50": 0.6,
        "learned_p99": 3.0,
        "file_p99": 1.0,
    }
    found = {
        "build": {"kbdb": used, "tantivy": used | {"cpu_s": 10.0}},
        "disk": {"kbdb": 60_000_000, "tantivy": 60_000_000},
        "rank": {
            "kbdb": {which: times(0.5, 1.0) for which in SETS},
            "tantivy": {which: times(0.5, 2.0) for which in SETS},
            "bm25s": {which: times(0.7, 1.0) for which in SETS if which != "phrase2"},
        },
        "search": {name: {which: times(1.0, 2.0) for which in SETS} for name in ("kbdb", "tantivy-stored")},
        "first": {name: {"p50": 1.0, "open_p50": 0.5} for name in ("kbdb", "tantivy", "kbdb-database")},
        "learn": {"kbdb": learned, "small": learned | {"learned_p50": 1.0}},
        "memory": {"kbdb": {"opened_mb": 1.0, "queried_mb": 10.0, "index_mb": 60.0}},
        "upkeep": {"kbdb": {"supersede_s": 9.0, "gc_s": 10.0, "check_s": 10.0, "removed": 10_000, "check_ok": True}},
    }
    small = {"learn": {"kbdb": learned | {"learned_p50": 1.0}}}
    return results.empty() | {"sizes": {"1000": small, "100000": found}}


def changed(found: results.Results, value: object, *path: str) -> results.Results:
    """The results at 100,000 sections with another value at a path; None takes it out."""
    new = deepcopy(found)
    place: Any = new["sizes"]["100000"]
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return new


def test_a_value_on_its_bar_passes(passing: results.Results) -> None:
    assert {row.verdict for row in rows(passing)} == {"pass"}
    assert failures(passing) == []


@pytest.mark.parametrize(
    ("path", "worse", "missed"),
    [
        (("rank", "kbdb", "common1", "p50"), 0.51, "rank common1 p50: 1.02 x tantivy, bar 1 x tantivy"),
        (("rank", "kbdb", "nl58", "p99"), 1.1, "rank nl58 p99: 1.10 x bm25s, bar 1 x bm25s"),
        (("rank", "kbdb", "phrase2", "p99"), 2.2, "rank phrase2 p99: 1.10 x tantivy, bar 1 x tantivy"),
        (("search", "kbdb", "rare1", "p50"), 2.0, "search rare1 p50: 2.00 x tantivy-stored, bar 1 x tantivy-stored"),
        (
            ("build", "kbdb", "cpu_s"),
            7.0,
            "rebuild from section files, CPU: 0.700 x tantivy from memory, bar 0.6 x tantivy from memory",
        ),
        (("build", "kbdb", "peak_rss_mb"), 401.0, "rebuild, peak memory: 401 MB, bar 400 MB"),
        (("disk", "kbdb"), 90_000_000, "terms + positions + corpus on disk: 1.50 x tantivy, bar 1 x tantivy"),
        (("first", "kbdb", "p50"), 1.5, "open + first query: 1.50 x tantivy, bar 1 x tantivy"),
        (("memory", "kbdb", "queried_mb"), 11.0, "private memory of a searcher: 11.0 MB, bar 10 MB"),
        (
            ("learn", "kbdb", "file_p50"),
            0.5,
            "learn one section, p50: 2.40 x write + fsync + rename, bar 2 x write + fsync + rename",
        ),
        (("upkeep", "kbdb", "gc_s"), 11.0, "gc after superseding 10 %: 11.0 s, bar 10 s"),
        (("upkeep", "kbdb", "check_s"), 11.0, "check: 11.0 s, bar 10 s"),
    ],
)
def test_what_is_worse_than_its_bar_is_named(
    passing: results.Results, path: tuple[str, ...], worse: float, missed: str
) -> None:
    assert failures(changed(passing, worse, *path)) == [missed]


def test_learning_must_not_grow_with_the_store(passing: results.Results) -> None:
    slower = changed(passing, 1.3, "learn", "kbdb", "learned_p50")
    assert "learn one section, p50: 1.30 x the same at 1,000, bar 1.2 x the same at 1,000" in failures(slower)


@pytest.mark.parametrize("phase", ["build", "disk", "rank", "search", "first", "learn", "memory", "upkeep"])
def test_what_was_not_measured_does_not_pass(passing: results.Results, phase: str) -> None:
    found = failures(changed(passing, None, phase))
    assert found
    assert all("not measured" in line for line in found)


def test_the_better_peer_of_each_column_counts(passing: results.Results) -> None:
    by_what = {row.what: row for row in rows(passing)}
    assert (by_what["rank common1 p50"].against, by_what["rank common1 p50"].reference) == ("tantivy", 0.5)
    assert (by_what["rank common1 p99"].against, by_what["rank common1 p99"].reference) == ("bm25s", 1.0)
    alone = {row.what: row for row in rows(changed(passing, None, "rank", "bm25s"))}
    assert alone["rank common1 p99"].against == "tantivy"


def test_the_table_shows_ratio_bar_and_verdict_of_each_measure(passing: results.Results) -> None:
    table = render(changed(passing, 0.51, "rank", "kbdb", "common1", "p50"))
    assert "| rank common1 p50 | 0.510 ms | 0.500 ms (tantivy) | 1.02 | ≤ 1 x (aim 0.5) | **miss** |" in table
    assert "| rebuild, peak memory | 400 MB | - | - | ≤ 400 MB | pass |" in table
    assert "| bm25s | 0.700 / 1.00 | 0.700 / 1.00 | 0.700 / 1.00 | 0.700 / 1.00 | - |" in table


def test_the_table_shows_how_each_figure_grows_with_the_store(passing: results.Results) -> None:
    table = render(passing)
    assert "| what | 1,000 | 100,000 |" in table
    assert "| learn one section, p50 | 1.00 ms (1.67 x) | 1.20 ms (2.00 x) |" in table
    assert "| check | - | 10.0 s |" in table


def test_results_go_between_the_marks_of_a_file_and_nowhere_else(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n")
    for _ in range(2):
        put_into(file, "new\n")
        assert file.read_text() == "before\n<!-- results -->\n\nnew\n\n<!-- end of results -->\nafter\n"
    file.write_text("no marks")
    with pytest.raises(ValueError, match="results"):
        put_into(file, "new\n")


def test_the_short_table_has_the_bars_alone(passing: results.Results) -> None:
    assert "| check | 10.0 s |" in render(passing, short=True)
    assert "### 100,000 sections" not in render(passing, short=True)


def test_the_table_of_nothing_says_that_nothing_was_measured() -> None:
    assert "**not measured**" in render(results.empty())


def test_the_gate_opens_only_when_every_bar_passes(
    passing: results.Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results.json"
    results.write(file, passing)
    assert gate_command.main([str(file)]) == 0
    results.write(file, changed(passing, 11.0, "upkeep", "kbdb", "check_s"))
    assert gate_command.main([str(file)]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == ["check: 11.0 s, bar 10 s", "1 bar is missed"]
    assert gate_command.main([str(tmp_path / "absent.json")]) == 2


def test_a_phase_measured_again_replaces_only_what_it_measures(tmp_path: Path) -> None:
    found = results.empty()
    results.add(found, 1000, "disk", {"kbdb": 1, "tantivy": 2})
    results.add(found, 1000, "disk", {"kbdb": 3})
    results.write(tmp_path / "results.json", found)
    assert results.read(tmp_path / "results.json")["sizes"] == {"1000": {"disk": {"kbdb": 3, "tantivy": 2}}}
    assert json.loads((tmp_path / "results.json").read_text()) == found


def test_an_engine_that_is_not_installed_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "numba" else object())
    options, skipped = installed(Options(("kbdb", "tantivy", "bm25s"), passes=3))
    assert options == Options(("kbdb", "tantivy"), passes=3)
    assert skipped == {"bm25s": "numba not installed: pip install -e '.[bench]'"}


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(value) for value in range(200)]
    assert [percentile(values, share) for share in (0.0, 0.5, 0.99, 1.0)] == [0.0, 100.0, 198.0, 199.0]
    assert percentile([7.0], 0.99) == 7.0


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (0.04, "0.040"), (0.5, "0.500"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (1234.5, "1,234")],
)
def test_numbers_have_three_digits(value: float | None, shown: str) -> None:
    assert number(value) == shown
