"""Shares named for people add up to the score."""

from __future__ import annotations

from query_store import Store

from kbdb.plan import FIELDS
from kbdb.query.explain import explain_shares


def test_shares_are_named_and_add_up(store: Store) -> None:
    query = "kuberxetes rate_limit deploying zzzz"
    resolved = store.resolve(query)
    best = store.best(query)
    assert best is not None
    explained = explain_shares(resolved.plan, store.searcher.explain(resolved.plan, best.segment, best.entry))
    assert [share.clause for share in explained] == ["kuberxetes", "rate_limit", "rate", "limit", "deploying"]
    assert [share.term for share in explained] == ["kubernet", "rate_limit", "rate", "limit", "deploy"]
    score = 0.0
    for share in explained:
        score = score + share.value
    assert score == best.score
    assert explained[-1].frequencies == dict(zip(FIELDS, (1, 1, 0, 0, 0), strict=True))
