"""Runs the phases at the sizes asked for, and keeps the results after each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from bench.speed import engines, results
from bench.speed.phases import PHASES, Options, prepare
from bench.speed.places import Places
from bench.speed.process import WorkerProcess


def run(sizes: Sequence[int], phases: Sequence[str], places: Places, options: Options, file: Path) -> None:
    """Measures, and adds to the results in a file.

    Args:
        sizes: of the corpora, in sections.
        phases: names of ``PHASES``.
        places: the work folder; what is in it is not made again.
        options: how much is measured. Engines that are not installed are left out, and the results say why.
        file: of the results.
    """
    found = results.read(file)
    found["machine"] = results.machine()
    options, skipped = installed(options)
    found["skipped"].update(skipped)
    for name, reason in skipped.items():
        _tell(f"{name}: skipped, {reason}")
        found["versions"].pop(name, None)
    for name in options.engines:
        found["skipped"].pop(name, None)
    for size in sizes:
        _tell(f"{size} sections: corpus and indexes")
        results.add(found, size, "made", prepare(size, places, options))
        for name in phases:
            began = perf_counter()
            results.add(found, size, name, PHASES[name](size, places, options))
            results.write(file, found)
            _tell(f"{size} sections: {name}, {perf_counter() - began:.1f} s")
    for name in options.engines:
        with WorkerProcess(name, sizes[-1], places) as worker:
            found["versions"][name] = worker.ask("version")
    results.write(file, found)


def installed(options: Options) -> tuple[Options, dict[str, str]]:
    """The options without the engines that cannot be measured here, and the reasons."""
    skipped = {name: reason for name in options.engines if (reason := engines.missing(name))}
    able = tuple(name for name in options.engines if name not in skipped)
    return replace(options, engines=able), skipped


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
