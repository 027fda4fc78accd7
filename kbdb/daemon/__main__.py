"""The daemon's process, as a client starts it: ``python -m kbdb.daemon FOLDER``, its stderr being the log.

People run ``kbdb daemon run``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kbdb.daemon.process import run_for_client

if __name__ == "__main__":
    sys.exit(run_for_client(Path(sys.argv[1])))
