"""nDCG, recall and reciprocal rank on rankings worked by hand, and how a collection is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.quality.collection import Document, Query, load_collection
from bench.quality.metrics import Difference, Scores, average, paired_bootstrap, scores_of


def test_gains_are_linear_and_discounted_by_rank() -> None:
    scores = scores_of(["a", "x", "b"], {"a": 1, "b": 3, "c": 2})
    # 1/log2(2) + 0 + 3/log2(4), of at best 3/log2(2) + 2/log2(3) + 1/log2(4).
    assert scores.ndcg == pytest.approx((1 + 1.5) / (3 + 2 / math.log2(3) + 0.5))
    assert (scores.recall, scores.mrr) == (2 / 3, 1.0)


@pytest.mark.parametrize(
    ("ranking", "grades", "expected"),
    [
        ([], {"a": 1}, Scores(0.0, 0.0, 0.0)),
        (["x", "y"], {"a": 1, "x": 0}, Scores(0.0, 0.0, 0.0)),
        (["b", "a"], {"a": 2, "b": 2}, Scores(1.0, 1.0, 1.0)),
        (["x", "y", "a"], {"a": 1}, Scores(0.5, 1.0, 1 / 3)),
        ([*map(str, range(10)), "a"], {"a": 1}, Scores(0.0, 0.0, 1 / 11)),
        ([*map(str, range(100)), "a"], {"a": 1}, Scores(0.0, 0.0, 0.0)),
    ],
    ids=["nothing found", "nothing relevant", "perfect", "third", "after ten", "after a hundred"],
)
def test_where_the_relevant_stand(ranking: list[str], grades: Mapping[str, int], expected: Scores) -> None:
    assert scores_of(ranking, grades) == expected


def test_a_document_of_negative_grade_is_taken_out_of_the_ranking() -> None:
    assert scores_of(["source", "a"], {"source": -1, "a": 4}) == Scores(1.0, 1.0, 1.0)


def test_an_average_is_that_of_each_measure() -> None:
    assert average([Scores(1.0, 0.5, 0.0), Scores(0.0, 0.5, 1.0)]) == Scores(0.5, 0.5, 0.5)


def test_what_holds_for_every_question_is_no_noise() -> None:
    found = paired_bootstrap([0.5, 0.75, 1.0], [0.25, 0.5, 0.75], 100)
    assert (Difference(0.25, 0.25, 0.25), False) == (found, found.is_noise)
    assert str(found) == "+0.250 (+0.250..+0.250)"


def test_what_goes_this_way_and_that_is_noise() -> None:
    one, other = [0.0, 1.0] * 20, [1.0, 0.0] * 20
    found = paired_bootstrap(one, other, 1000)
    assert (found.mean, found.is_noise) == (0.0, True)
    assert found.low < 0 < found.high
    assert paired_bootstrap(one, other, 1000) == found


def test_a_collection_is_read_by_groups_without_unanswerable_questions(tmp_path: Path) -> None:
    documents = [
        {"id": "1", "title": "page > part > heading", "text": "x", "group": "g"},
        {"id": "2", "title": "", "text": "y", "group": "h"},
    ]
    queries = [{"id": "q", "text": "?", "group": "h"}, {"id": "r", "text": "!", "group": "g"}]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("query-id\tdoc-id\tgrade\nq\t2\t1\nr\t1\t0\n", encoding="utf-8")
    first, second = load_collection(tmp_path, split_titles=True)
    assert first.documents == (Document("1", "heading", "x", "page\npart"),)
    assert first.queries == ()
    assert second.documents == (Document("2", "", "y"),)
    assert second.queries == (Query("q", "?", {"2": 1}),)
