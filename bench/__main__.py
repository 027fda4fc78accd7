"""The command line of the speed benchmark; ``python -m bench --help`` tells more, README.md the rest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.speed import engines, results
from bench.speed.phases import PHASES, Options, prepare
from bench.speed.places import Places
from bench.speed.queries import SETS
from bench.speed.run import run
from bench.speed.table import put_into, render

BUILD = "build"
DEFAULTS = Options(engines.NAMES)


def main(arguments: list[str]) -> int:
    """Runs one command; its exit code."""
    parsed = _parser().parse_args(arguments)
    places = Places(parsed.work)
    if parsed.command == "where":
        for part in _where(places, parsed.size, parsed.counted):
            print(part, end="\n\n", flush=True)
        return 0
    file = parsed.results or places.results_file
    if parsed.command == "run":
        names = engines.with_both_kinds(parsed.engines)
        options = Options(names, parsed.passes, parsed.budget, parsed.repeats, parsed.learned)
        run(parsed.sizes, parsed.phases, places, options, file)
    else:
        if not file.is_file():
            print(f"no results at {file}: python -m bench run makes them", file=sys.stderr)
            return 2
        text = render(results.read(file), short=parsed.short)
        if parsed.into is None:
            print(text, end="")
        else:
            put_into(parsed.into, text)
    return 0


def _where(places: Places, size: int, counted: list[str]) -> Iterator[str]:
    from bench.speed import where

    prepare(size, places, Options(("kbdb",)))
    yield from where.of_queries(places, size)
    yield from where.of_build(places, size)
    for which in counted:
        if which != BUILD:
            yield where.cycles(places, size, which)
        yield from where.instructions(places, size, which)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="kbdb's speed beside its peers'.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run", help="measure, and add to the results")
    table = commands.add_parser("table", help="print the results as Markdown")
    explain = commands.add_parser("where", help="print where the time of a query and of a build goes")
    for command in (measure, table, explain):
        command.add_argument("--work", type=Path, required=True, metavar="DIR", help="where indexes and results are")
    for command in (measure, table):
        command.add_argument("--results", type=Path, metavar="FILE", help="default: results.json in the work folder")
    table.add_argument("--short", action="store_true", help="the bars alone")
    table.add_argument("--into", type=Path, metavar="FILE", help="put it between the marks in this Markdown file")
    measure.add_argument("--sizes", type=_numbers, default=[1_000, 10_000, 100_000], help="sections, with commas")
    measure.add_argument("--engines", type=_among(engines.NAMES), default=list(engines.NAMES), help="with commas")
    measure.add_argument("--phases", type=_among(tuple(PHASES)), default=list(PHASES), help="with commas")
    measure.add_argument("--passes", type=int, default=DEFAULTS.passes, help="over each query set")
    measure.add_argument("--budget", type=float, default=DEFAULTS.budget, help="seconds an engine may spend on a set")
    measure.add_argument("--repeats", type=int, default=DEFAULTS.repeats, help="builds, and openings of each query")
    measure.add_argument("--learned", type=int, default=DEFAULTS.learned, help="sections learned one by one")
    explain.add_argument("--size", type=int, default=10_000, help="sections")
    explain.add_argument(
        "--counted", type=_among((*SETS, BUILD)), default=["nl58", BUILD], help="whose instructions are counted"
    )
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _among(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Reads a list of names, each one of those allowed."""

    def read(text: str) -> list[str]:
        asked = text.split(",")
        for name in asked:
            if name not in names:
                raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(names)}")
        return asked

    return read


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
