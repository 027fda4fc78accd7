"""The gate of release branches: exit code 1 where the results of a run miss a bar or lack one.

python -m bench.gate RESULTS.json
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.speed import gate, results


def main(arguments: list[str]) -> int:
    """Prints what fails; 0 when nothing does, 1 when something does, 2 without a file of results."""
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        print("usage: python -m bench.gate RESULTS.json", file=sys.stderr)
        return 2
    failures = gate.failures(results.read(Path(arguments[0])))
    for failure in failures:
        print(failure)
    missed = "1 bar is missed" if len(failures) == 1 else f"{len(failures)} bars are missed"
    print(missed if failures else "every bar passes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
