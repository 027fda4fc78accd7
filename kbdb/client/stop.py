"""Stopping the daemon of a database, whatever it is doing: coming, answering, going, or hanging."""

from __future__ import annotations

import time
from pathlib import Path

from kbdb.client.address import Owner, owner
from kbdb.client.client import Client
from kbdb.client.launch import GRACE_S
from kbdb.errors import BusyError, DaemonLostError, DatabaseLockedError

PATIENCE_S = 60.0
"""How long a daemon may take to end: it finishes a document and short writes, and writes the index."""

ASKING_S = 2.0
"""How long one that works may take to hear that it is to end."""

PAUSE_S = 0.05


def stop(root: Path) -> bool:
    """Stops the daemon and waits until the database is free; false where there was none.

    Raises:
        BusyError: it has not ended in time.
        DatabaseLockedError: a process that is no daemon owns the database.
    """
    began = time.monotonic()
    asked = {_ask(root)}
    was_there = asked != {0}
    while (found := owner(root)) is not None:
        waited = time.monotonic() - began
        if not (found.is_daemon or was_there) and waited > GRACE_S:
            raise DatabaseLockedError.held_by(found.pid, root)
        if waited > PATIENCE_S:
            raise _too_late(found, root)
        was_there = was_there or found.is_daemon
        time.sleep(PAUSE_S)
        # One that was coming listens by and by, and another may have come after the one that was asked.
        if found.pid not in asked:
            asked.add(_ask(root))
    return was_there


def _ask(root: Path) -> int:
    """Asks the daemon that listens, if one does, to end; its process, or 0."""
    try:
        with Client(root, start=False, timeout_s=ASKING_S) as client:
            client.shutdown()
            return client.daemon_pid
    except DaemonLostError:
        return 0


def _too_late(found: Owner, root: Path) -> BusyError:
    waited = f"within {PATIENCE_S:.0f} s"
    if found.pid is None:
        return BusyError(
            f"the daemon of {root} has not ended {waited}", "it may be writing; its process is not seen here"
        )
    return BusyError(
        f"process {found.pid}, the daemon of {root}, has not ended {waited}",
        f"it may be writing; where it hangs: kill {found.pid}, and if that does not help, kill -9 {found.pid}",
    )
