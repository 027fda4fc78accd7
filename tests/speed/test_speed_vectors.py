"""The bench of vectors finds what numpy finds, and prints a line for each collection."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numpy")

from bench import vectors
from kbdb.index.engine import engine

pytestmark = pytest.mark.skipif(engine().IMPLEMENTATION != "c", reason="the benchmark is of the compiled engine")


def test_it_compares_made_collections(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["--sizes", "300", "--kinds", "clustered,uniform", "--passes", "1", "--work", str(tmp_path)]
    assert vectors.main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:]] == [["| clustered", "300"], ["| uniform", "300"]]
    assert [line.split(" | ")[5] for line in lines[2:]] == ["1.0000"] * 2
    assert list(tmp_path.iterdir()) == []


def test_it_takes_arrays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import numpy as np

    made = vectors.made("clustered", 250)
    np.save(tmp_path / "rows.npy", made.rows)
    np.save(tmp_path / "queries.npy", made.queries)
    files = ["--file", str(tmp_path / "rows.npy"), "--queries", str(tmp_path / "queries.npy")]
    assert vectors.main([*files, "--passes", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("| rows | 250 |")
