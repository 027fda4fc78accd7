"""Commits sections for ever and prints the title of each once it is stored; run as a script with a folder."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from kbdb.store.store import Change, Store
from tests.crash.history import section


def main(root: Path) -> None:
    """Runs until killed."""
    store = Store.create(root)
    for number in itertools.count():
        store.commit(Change(sections=(section(f"s{number}"),)))
        print(f"s{number}", flush=True)
        if number % 7 == 6:
            store.checkpoint()


if __name__ == "__main__":
    main(Path(sys.argv[1]) / ".kbdb")
