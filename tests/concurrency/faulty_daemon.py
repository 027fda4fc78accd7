"""A daemon on a disk that breaks: from one passage of a fault point on, and until another, each fails.

python faulty_daemon.py ROOT POINT FIRST LAST ACTION
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

from kbdb.daemon.process import run_for_client
from kbdb.store import faults


def main(root: str, point: str, first: str, last: str, action: str) -> int:
    """Runs it."""
    passed = 0

    def hook(passing: str) -> faults.Action | None:
        nonlocal passed
        passed += passing == point
        return cast(faults.Action, action) if passing == point and int(first) <= passed <= int(last) else None

    with faults.hooked(hook):
        return run_for_client(Path(root))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
