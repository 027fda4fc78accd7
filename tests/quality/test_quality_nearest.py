"""The engine's search of vectors on real embeddings, held against exact scans."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bench.quality.nearest import Agreement, agreement


def test_the_nearest_by_sketches_are_the_nearest_of_all(shared_data: Path) -> None:
    lines = (shared_data / "minilm-reference" / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    rows = np.array([json.loads(line)["vector"] for line in lines], np.float32)
    assert len(rows) == 52
    assert Agreement(52, 52, 52) == agreement(rows, rows)


def test_one_question_in_a_thousand_may_be_off() -> None:
    assert Agreement(1000, 999, 1000).is_good_enough
    assert not Agreement(1000, 1000, 998).is_good_enough
