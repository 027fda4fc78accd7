"""Reciprocal rank fusion, by hand."""

from __future__ import annotations

import pytest

from kbdb.query.rrf import fuse


def test_ranks_from_one_are_summed() -> None:
    fused = dict(fuse([["a", "b"], ["b", "c"]]))
    assert fused["b"] == pytest.approx(1 / 62 + 1 / 61)
    assert fused["a"] == pytest.approx(1 / 61)
    assert fused["c"] == pytest.approx(1 / 62)


def test_the_best_sum_is_first_and_ties_go_by_id() -> None:
    assert [kbid for kbid, _ in fuse([["b", "z"], ["b", "a"]])] == ["b", "a", "z"]


def test_lists_are_read_down_to_the_depth() -> None:
    assert [kbid for kbid, _ in fuse([["a", "b"]], depth=1)] == ["a"]
    assert fuse([]) == []
    assert fuse([[], []]) == []
