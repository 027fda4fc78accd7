"""kbdb's defaults answer the shared test collections as well as bench/quality/README.md says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.quality.__main__ import BARS, HYBRID_BARS, OTHER_SCRIPTS, measure
from bench.quality.cache import CachedProvider, local_provider
from kbdb.index.engine import engine

CACHE = "KBDB_QUALITY_CACHE"


@pytest.mark.long
def test_every_collection_reaches_its_bar(shared_data: Path) -> None:
    if engine().IMPLEMENTATION != "c":
        pytest.skip("the twins rank alike (tests/differential); ten thousand questions take the reference an hour")
    results = {result.name: result for result in measure(shared_data)}
    assert list(results) == list(BARS)
    assert [name for name, result in results.items() if not result.is_good_enough] == []


@pytest.mark.long
def test_hybrid_search_reaches_its_bars(shared_data: Path) -> None:
    if CACHE not in os.environ or engine().IMPLEMENTATION != "c":
        pytest.skip(f"embedding the collections takes minutes: set {CACHE} to a folder for their vectors")
    names = (*HYBRID_BARS, *OTHER_SCRIPTS)
    provider = CachedProvider(local_provider(), Path(os.environ[CACHE]))
    results = [result for result in measure(shared_data, provider, names) if result.mode == "hybrid"]
    assert list(names) == [result.name for result in results]
    assert [result.name for result in results if not result.is_good_enough] == []
