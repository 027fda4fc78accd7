"""Turns the shares of an engine's explain into what a person reads: the query's words and the fields by name."""

from __future__ import annotations

from collections.abc import Sequence

from kbdb.model.search import ExplainShare
from kbdb.plan import FIELDS, Plan, Share


def explain_shares(plan: Plan, shares: Sequence[Share]) -> tuple[ExplainShare, ...]:
    """Names the clause and the stems behind each share.

    Args:
        plan: that gave the hit.
        shares: of the engine's explain for the hit, in plan order; their values added in order give its score.
    """
    return tuple(_named(plan, share) for share in shares)


def _named(plan: Plan, share: Share) -> ExplainShare:
    clause = plan.clauses[share.clause]
    return ExplainShare(
        clause=clause.label,
        term=" ".join(clause.alternatives[share.alternative].stems),
        value=share.value,
        weight=share.weight,
        idf=share.idf,
        saturation=share.saturation,
        frequencies=dict(zip(FIELDS, share.frequencies, strict=True)),
    )
