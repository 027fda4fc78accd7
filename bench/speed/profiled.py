"""A program whose instructions are counted: kbdb ranking or rebuilding, so many times.

python -m bench.speed.profiled query FOLDER REPEATS QUERY...
python -m bench.speed.profiled build FOLDER REPEATS
"""

from __future__ import annotations

import sys
from pathlib import Path

import kbdb
from bench.speed.engines.kbdb import BareIndex, Settings


def main(arguments: list[str]) -> None:
    """Does what the arguments say; what it does with REPEATS less is its setup."""
    what, folder, repeats, *asked = arguments
    if what == "query":
        index = BareIndex(Path(folder), Settings.read(Path(folder)))
        for _ in range(int(repeats)):
            for query in asked:
                index.rank(query)
    else:
        with kbdb.open(folder) as base:
            for _ in range(int(repeats)):
                base.rebuild()


if __name__ == "__main__":
    main(sys.argv[1:])
