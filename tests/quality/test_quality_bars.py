"""kbdb's defaults answer the shared test collections as well as bench/quality/README.md says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.quality.__main__ import BARS, measure
from kbdb.index.engine import engine


@pytest.mark.long
def test_every_collection_reaches_its_bar(shared_data: Path) -> None:
    if engine().IMPLEMENTATION != "c":
        pytest.skip("the twins rank alike (tests/differential); ten thousand questions take the reference an hour")
    results = {result.name: result for result in measure(shared_data)}
    assert list(results) == list(BARS)
    assert [name for name, result in results.items() if not result.is_good_enough] == []
