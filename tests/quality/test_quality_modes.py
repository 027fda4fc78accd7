"""The modes of search side by side, on a small collection and the real model."""

from __future__ import annotations

import pytest

from bench.quality.cache import local_provider
from bench.quality.collection import Document, Group, Query
from bench.quality.experiment import kbid_of
from bench.quality.meaning import Meaning, fused
from bench.quality.metrics import Scores
from bench.quality.modes import MODES, database_of, scores_by_mode
from bench.quality.verdicts import cosines_of
from kbdb.embed.onnx import OnnxEmbeddingProvider

DOCUMENTS = (
    Document("store", "Decision", "We chose Postgres because of JSONB."),
    Document("fruit", "Cellar", "Apples and pears keep until spring."),
    Document("again", "Cellar", "Apples and pears keep until spring."),
    Document("empty", "", ""),
    Document("zh", "\u5929\u6c14", "\u660e\u5929\u4f1a\u4e0b\u96e8\u3002"),
)
REASON = Query("reason", "why this database was picked", {"store": 1})
CELLAR = Query("cellar", "apples", {"again": 1, "fruit": -1})
RAIN = Query("rain", "\u4e0b\u96e8", {"zh": 1})
GROUP = Group(DOCUMENTS, (REASON, CELLAR, RAIN))


@pytest.fixture(scope="module")
def model() -> OnnxEmbeddingProvider:
    return local_provider()


def test_each_mode_is_judged_by_what_users_get(model: OnnxEmbeddingProvider) -> None:
    scores = scores_by_mode([GROUP], model)
    assert list(MODES) == list(scores)
    right, nothing = Scores(1.0, 1.0, 1.0), Scores(0.0, 0.0, 0.0)
    assert [nothing, right, right] == scores["lexical"]
    assert [right, right, right] == scores["vector"]
    assert [right, right, right] == scores["hybrid"]
    assert scores["lexical"] == scores_by_mode([GROUP], None)["lexical"]


def test_documents_alike_share_a_place_and_an_empty_one_has_none(model: OnnxEmbeddingProvider) -> None:
    with database_of(DOCUMENTS, model) as database:
        assert database.ranking(CELLAR, "lexical") == ["fruit", "again"]
        assert {"store", "fruit", "again", "zh"} == set(database.ranking(REASON, "vector"))
        assert database.ranking(RAIN, "lexical") == database.ranking(RAIN, "hybrid") == ["zh"]


def test_rankings_are_those_of_search(model: OnnxEmbeddingProvider) -> None:
    with database_of(DOCUMENTS, model) as database:
        for query in GROUP.queries:
            for mode in MODES:
                hits = database.kb.search(query.text, mode=mode, limit=100).hits
                assert database.documents_of(hit.kbid for hit in hits) == database.ranking(query, mode)


def test_exact_cosines_rank_as_the_database_does(model: OnnxEmbeddingProvider) -> None:
    (hits,) = Meaning(GROUP, model).answers([REASON])
    assert [document for document, _ in hits][:1] == ["store"]
    assert [cosine for _, cosine in hits] == sorted((cosine for _, cosine in hits), reverse=True)
    with database_of(DOCUMENTS, model) as database:
        assert database.ranking(REASON, "vector")[0] == hits[0][0]


def test_a_document_of_several_texts_counts_by_the_nearest(model: OnnxEmbeddingProvider) -> None:
    group = Group(DOCUMENTS[:2], (REASON,))
    (whole,) = Meaning(group, model).cosines([REASON.text])
    (parts,) = Meaning(group, model, lambda document: ["noise", REASON.text] if document.id == "store" else []).cosines(
        [REASON.text]
    )
    assert len(whole) == 2
    assert parts == pytest.approx([1.0])


def test_two_rankings_are_fused_by_ranks_and_ties_by_kbid() -> None:
    first, second = sorted(("a", "b"), key=kbid_of)
    assert ["both", first, second] == fused([second, "both"], [first, "both"])


def test_questions_of_others_are_told_from_a_collections_own(model: OnnxEmbeddingProvider) -> None:
    small = Group(DOCUMENTS[:2], (REASON,))
    others = Group(
        (Document("x", "", "Laminar flow over a flat plate."),), (Query("flow", "boundary layer", {"x": 1}),)
    )
    found = cosines_of("small", {"small": [small], "others": [others]}, model)
    assert (len(found.right), len(found.wrong)) == (1, 0)
    (elsewhere,) = found.elsewhere["others"]
    assert list(found.elsewhere) == ["others"]
    assert elsewhere < found.right[0]
