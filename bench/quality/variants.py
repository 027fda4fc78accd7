"""Prints the Markdown tables of README.md: nDCG@10 of other parameters and habits than kbdb's.

    python -m bench.quality.variants [DATA]

A star marks what differs from kbdb's own by more than two standard errors of the paired difference.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bench.quality.__main__ import BARS, data_folder
from bench.quality.collection import Group, load_collection
from bench.quality.experiment import ALL_HABITS, PARAMS, Experiment, Habits
from bench.quality.metrics import mean
from kbdb.plan import FIELDS, Params

SPLIT = "docs-qa split"
"""docs-qa with its titles split into title and heading path, as kbdb learns such pages."""

NAMES = (*BARS, SPLIT)
TITLE, BODY, HEADING = map(FIELDS.index, ("title", "body", "heading"))
Values = Mapping[str, Sequence[float]]
"""nDCG@10 of each question, by collection."""


def parameter_variants() -> Iterator[tuple[str, Params]]:
    """Each parameter moved alone, then some together."""
    for b in (0.0, 0.3, 0.4, 0.5, 0.7, 0.75, 0.9):
        yield f"b {b}", with_params(b=b)
    for k1 in (0.8, 1.0, 1.5, 2.0):
        yield f"k1 {k1}", with_params(k1=k1)
    for title in (1.0, 1.5, 2.0, 2.5, 4.0, 5.0):
        yield f"title {title}", with_params(title=title)
    for b in (0.3, 1.0):
        yield f"b of title {b}", replace(PARAMS, b=(b, *PARAMS.b[1:]))
    for heading in (0.0, 0.5, 1.5, 2.0):
        yield f"heading {heading}", with_params(heading=heading)
    yield "b 0.5, title 2.0", with_params(b=0.5, title=2.0)
    yield "b 0.75, title 2.0", with_params(b=0.75, title=2.0)
    yield "b 0.4, k1 1.5, title 2.5", with_params(b=0.4, k1=1.5, title=2.5)
    yield "b 0.75, k1 1.0", with_params(b=0.75, k1=1.0)


HABITS = {
    "stop words kept in queries": Habits(stop_words=False),
    "no synonyms": Habits(synonyms=False),
    "no near spellings": Habits(near=False),
    "whole identifiers weigh 0.5": Habits(whole_weight=0.5),
    "parts of identifiers only": Habits(whole_weight=0.0),
}


def main(arguments: list[str]) -> None:
    """Measures everything; takes some minutes."""
    data = data_folder(arguments[0] if arguments else None)
    collections = {name: load_collection(data / name) for name in BARS}
    collections[SPLIT] = load_collection(data / "docs-qa", split_titles=True)
    experiments = _experiments(collections, ALL_HABITS)
    own = _values(experiments, PARAMS)
    print("| | " + " | ".join(NAMES) + " |")
    print("| --- " * (len(NAMES) + 1) + "|")
    _print_row("**kbdb**", own, own)
    for label, params in parameter_variants():
        _print_row(label, _values(experiments, params), own)
    for label, habits in HABITS.items():
        _print_row(label, _values(_experiments(collections, habits), PARAMS), own)


def with_params(
    *,
    k1: float = PARAMS.k1,
    b: float = PARAMS.b[BODY],
    title: float = PARAMS.weights[TITLE],
    heading: float = PARAMS.weights[HEADING],
) -> Params:
    """kbdb's parameters with these instead of its own."""
    _, body, description, tags, _ = PARAMS.weights
    return Params(k1, (b, b, b, b, b), (title, body, description, tags, heading))


def _experiments(collections: Mapping[str, Sequence[Group]], habits: Habits) -> dict[str, Experiment]:
    return {name: Experiment(groups, habits) for name, groups in collections.items()}


def _values(experiments: Mapping[str, Experiment], params: Params) -> Values:
    return {name: [one.ndcg for one in experiment.scores(params)] for name, experiment in experiments.items()}


def _print_row(label: str, values: Values, own: Values) -> None:
    cells = [f"{mean(values[name]):.4f}{'*' * _differs(values[name], own[name])}" for name in NAMES]
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def _differs(values: Sequence[float], own: Sequence[float]) -> bool:
    differences = [one - other for one, other in zip(values, own, strict=True)]
    middle = mean(differences)
    variance = math.fsum((one - middle) ** 2 for one in differences) / (len(differences) - 1)
    return abs(middle) > 2 * math.sqrt(variance / len(differences))


if __name__ == "__main__":
    main(sys.argv[1:])
