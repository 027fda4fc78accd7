"""Vectors that are kept between runs of the quality scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench.quality.cache import CachedProvider, cached, local_provider
from kbdb.embed.onnx import OnnxEmbeddingProvider

if TYPE_CHECKING:
    from kbdb.embed.api import Vectors

TEXTS = ["a cat sits outside", "", "a man plays guitar", "a cat sits outside"]


@pytest.fixture(scope="module")
def model() -> OnnxEmbeddingProvider:
    return local_provider()


class Counted(CachedProvider):
    """Notes what the cache did not have."""

    asked: Sequence[str] = ()

    def _add(self, batch: Sequence[tuple[bytes, str]]) -> None:
        self.asked = [text for _, text in batch]
        super()._add(batch)


def same(one: Vectors, other: Vectors) -> bool:
    return bool(np.array_equal(one, other)) and one.dtype == other.dtype


def test_a_cache_gives_the_rows_of_the_model_itself(model: OnnxEmbeddingProvider, tmp_path: Path) -> None:
    provider = Counted(model, tmp_path / "not yet there")
    rows = provider.embed(TEXTS)
    assert same(model.embed(TEXTS), rows)
    assert TEXTS[:3] == provider.asked
    assert (model.dimensions(), model.model_name(), model.scripts(), model.floors(), model.fingerprint()) == (
        *(provider.dimensions(), provider.model_name(), provider.scripts(), provider.floors()),
        provider.fingerprint(),
    )
    assert provider.embed([]).shape == (0, model.dimensions())


def test_the_next_run_asks_the_model_for_new_texts_only(model: OnnxEmbeddingProvider, tmp_path: Path) -> None:
    first = Counted(model, tmp_path).embed(TEXTS)
    later = Counted(model, tmp_path)
    assert same(first, later.embed(TEXTS))
    assert later.asked == ()
    later.embed([*TEXTS, "something else"])
    assert later.asked == ["something else"]


def test_a_record_that_was_torn_is_embedded_again(model: OnnxEmbeddingProvider, tmp_path: Path) -> None:
    rows = Counted(model, tmp_path).embed(TEXTS)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    later = Counted(model, tmp_path)
    assert same(rows, later.embed(TEXTS))
    assert later.asked == [TEXTS[2]]
    assert same(rows, CachedProvider(model, tmp_path).embed(TEXTS))


def test_without_a_folder_nothing_is_kept(model: OnnxEmbeddingProvider, tmp_path: Path) -> None:
    assert cached(model, None) is model
    assert isinstance(cached(model, tmp_path), CachedProvider)
