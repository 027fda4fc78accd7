"""BM25F in doubles, each operation in the order of csrc/README.md, section 9; searcher.py scores with it."""

from __future__ import annotations

import math

from kbdb.checks import check_counts
from kbdb.plan import Params
from kbdb.reference.corpus import Lengths
from kbdb.reference.terms import Frequencies


def bm25f_idf(sections: int, df: int) -> float:
    """The weight of a stem that ``df`` of ``sections`` live entries hold."""
    check_counts(sections, df)
    return math.log(1.0 + (sections - df + 0.5) / (df + 0.5))


def bm25f_averages(sections: int, totals: Lengths) -> tuple[float, ...]:
    """The average length of each field over the live entries; 0 when there are none."""
    return tuple(total / sections if sections else 0.0 for total in totals)


def bm25f_norm(params: Params, averages: tuple[float, ...], field: int, length: int) -> float:
    """By what frequencies in a field of this length are divided."""
    if averages[field] == 0.0:
        return 1.0
    return (1.0 - params.b[field]) + params.b[field] * (length / averages[field])


def bm25f_saturation(params: Params, averages: tuple[float, ...], lengths: Lengths, frequencies: Frequencies) -> float:
    """How much of its full weight a stem gives to an entry.

    Args:
        params: k1, b, weights.
        averages: of the fields, over all live entries.
        lengths: of the entry's fields.
        frequencies: of the stem or phrase in them.
    """
    x = 0.0
    for field, frequency in enumerate(frequencies):
        if frequency > 0:
            x = x + (params.weights[field] * frequency) / bm25f_norm(params, averages, field, lengths[field])
    return x / (params.k1 + x)


def bm25f_impact(saturation: float) -> int:
    """A saturation in 255ths, rounded up."""
    return math.ceil(255.0 * saturation)
