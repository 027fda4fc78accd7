"""The command line of the speed benchmark; ``python -m bench --help`` tells more, README.md the rest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.speed import engines, results
from bench.speed.phases import PHASES, Options
from bench.speed.places import Places
from bench.speed.run import run
from bench.speed.table import render

DEFAULTS = Options(engines.NAMES)


def main(arguments: list[str]) -> int:
    """Runs one command; its exit code."""
    parsed = _parser().parse_args(arguments)
    places = Places(parsed.work)
    file = parsed.results or places.results_file
    if parsed.command == "run":
        names = engines.with_both_kinds(parsed.engines)
        options = Options(names, parsed.passes, parsed.budget, parsed.repeats, parsed.learned)
        run(parsed.sizes, parsed.phases, places, options, file)
    else:
        if not file.is_file():
            print(f"no results at {file}: python -m bench run makes them", file=sys.stderr)
            return 2
        print(render(results.read(file)), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="kbdb's speed beside its peers'.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run", help="measure, and add to the results")
    table = commands.add_parser("table", help="print the results as Markdown")
    for command in (measure, table):
        command.add_argument("--work", type=Path, required=True, metavar="DIR", help="where indexes and results are")
        command.add_argument("--results", type=Path, metavar="FILE", help="default: results.json in the work folder")
    measure.add_argument("--sizes", type=_numbers, default=[1_000, 10_000, 100_000], help="sections, with commas")
    measure.add_argument("--engines", type=_among(engines.NAMES), default=list(engines.NAMES), help="with commas")
    measure.add_argument("--phases", type=_among(tuple(PHASES)), default=list(PHASES), help="with commas")
    measure.add_argument("--passes", type=int, default=DEFAULTS.passes, help="over each query set")
    measure.add_argument("--budget", type=float, default=DEFAULTS.budget, help="seconds an engine may spend on a set")
    measure.add_argument("--repeats", type=int, default=DEFAULTS.repeats, help="builds, and openings of each query")
    measure.add_argument("--learned", type=int, default=DEFAULTS.learned, help="sections learned one by one")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _among(names: tuple[str, ...]) -> _Among:
    return _Among(names)


class _Among:
    """Reads a list of names, each one of those allowed."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def __call__(self, text: str) -> list[str]:
        asked = text.split(",")
        for name in asked:
            if name not in self._names:
                raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(self._names)}")
        return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
