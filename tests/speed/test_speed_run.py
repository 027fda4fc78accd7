"""A whole benchmark run of kbdb alone on a handful of sections: everything is measured, nothing of it judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import main
from bench.speed import results
from bench.speed.phases import PHASES
from bench.speed.queries import SETS
from kbdb.index.engine import engine

SIZE = 40


@pytest.mark.long
def test_a_run_measures_every_phase_and_leaves_the_database_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if engine().IMPLEMENTATION != "c":
        pytest.skip("the benchmark is of the compiled engine")
    few = ["--passes", "1", "--repeats", "1", "--learned", "3", "--engines", "kbdb"]
    assert main(["run", "--work", str(tmp_path), "--sizes", str(SIZE), *few]) == 0
    found = results.read(tmp_path / "results.json")["sizes"][str(SIZE)]
    assert set(found) == {"made", *PHASES}
    assert set(found["rank"]["kbdb"]) == set(found["search"]["kbdb"]) == set(SETS)
    assert found["upkeep"]["kbdb"]["removed"] == SIZE // 10
    assert found["upkeep"]["kbdb"]["check_ok"]
    sections = list((tmp_path / f"kbdb-{SIZE}" / ".kbdb" / "sections").rglob("*.sec"))
    assert len(sections) == SIZE
    assert not (tmp_path / f"kbdb-{SIZE}-clone").exists()
    assert main(["table", "--work", str(tmp_path)]) == 0
    assert f"### {SIZE} sections" in capsys.readouterr().out


def test_a_table_without_results_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--work", str(tmp_path)]) == 2
    assert "python -m bench run" in capsys.readouterr().err
