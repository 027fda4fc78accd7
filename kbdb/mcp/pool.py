"""Connections to the daemon, made when first needed and used again: each does one call at a time, so there are several.

The database is looked for until there is one, since it may be made while the server runs. From then on that one is
meant, whatever comes to lie nearer, until it is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from kbdb.client import Client
    from kbdb.mcp.registry import Context
    from kbdb.progress import Report


class Caller(Protocol):
    """What calls methods of the daemon: a pool, or a pool for one request."""

    def call_raw(
        self, method: str, params: Mapping[str, Any] | None = None, progress: Report | None = None
    ) -> dict[str, Any]:
        """``Pool.call_raw``."""


KEPT = 8
"""Connections that stay open: as many as there are calls at once."""


class Pool:
    """The daemon of one database, for several threads.

    Args:
        db: what ``--db`` names; None for the usual database.
    """

    def __init__(self, db: str | None) -> None:
        self._db = db
        self._root: Path | None = None
        self._lock = Lock()
        self._idle: list[Client] = []
        self._all: set[Client] = set()
        self._closed = False

    def of(self, context: Context) -> Caller:
        """The same for one request: when nobody waits for its answer any more, the daemon is told to end its call."""
        return _Bound(self, context)

    def call_raw(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        progress: Report | None = None,
        context: Context | None = None,
    ) -> dict[str, Any]:
        """Calls a method of the daemon; gives the answer as JSON has it (``kbdb.client.Client.call_raw``).

        Raises:
            NotADatabaseError: there is no database; says where it was looked for, why, and what to do.
            DaemonStartError: no daemon came up; says why.
            KbdbError: as the daemon refuses.
        """
        from kbdb.client.methods import READS
        from kbdb.errors import AnotherDatabaseError, DaemonLostError, NotADatabaseError

        client, is_new = self._take()
        try:
            return self._call(client, method, params, progress, context)
        except (DaemonLostError, NotADatabaseError) as error:
            # What one connection found out holds for all that are as old: the database may be another, or gone.
            self._forget(is_gone=isinstance(error, NotADatabaseError))
            nothing_was_done = method in READS or isinstance(error, (AnotherDatabaseError, NotADatabaseError))
            if is_new or not nothing_was_done:
                raise
        return self._call(self._take()[0], method, params, progress, context)

    def _call(
        self,
        client: Client,
        method: str,
        params: Mapping[str, Any] | None,
        progress: Report | None,
        context: Context | None,
    ) -> dict[str, Any]:
        from kbdb.errors import DaemonLostError, DatabaseClosedError, KbdbError, NotADatabaseError

        try:
            with context.ended_by(client.cancel) if context else nullcontext():
                answer = client.call_raw(method, params, progress)
        except (DaemonLostError, DatabaseClosedError, NotADatabaseError):
            self._drop(client)
            raise
        except KbdbError:
            self._give(client)
            raise
        except BaseException:
            self._drop(client)
            raise
        self._give(client)
        return answer

    def close(self) -> None:
        """Ends all connections, and the calls that wait on them. What comes later is refused."""
        with self._lock:
            self._closed = True
            clients, self._all, self._idle = self._all, set(), []
        for client in clients:
            client.close()

    def _take(self) -> tuple[Client, bool]:
        """A connection, and whether it is new."""
        with self._lock:
            if self._idle:
                return self._idle.pop(), False
        client = self._connect()
        with self._lock:
            if not self._closed:
                self._all.add(client)
                return client, True
        client.close()
        from kbdb.errors import DatabaseClosedError

        raise DatabaseClosedError("the server ends", "")

    def _give(self, client: Client) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < KEPT:
                self._idle.append(client)
                return
        self._drop(client)

    def _drop(self, client: Client) -> None:
        with self._lock:
            self._all.discard(client)
        client.close()

    def _forget(self, *, is_gone: bool) -> None:
        """Ends the connections that nobody uses; looks for the database anew where it is gone."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._all.difference_update(idle)
            if is_gone:
                self._root = None
        for client in idle:
            client.close()

    def _connect(self) -> Client:
        from kbdb.client import Client
        from kbdb.errors import NotADatabaseError
        from kbdb.paths import locate

        if root := self._root:
            return Client(root)
        location = locate(self._db)
        if not location.exists:
            raise NotADatabaseError(
                f"no database at {location.root} ({location.reason})",
                f"make one there: kbdb init --db {location.root.parent}; or name another when this server is started:"
                " kbdb mcp --db PATH, or $KBDB_DB",
            )
        with self._lock:
            self._root = root = self._root or location.root
        return Client(root)


class _Bound:
    def __init__(self, pool: Pool, context: Context) -> None:
        self._pool = pool
        self._context = context

    def call_raw(
        self, method: str, params: Mapping[str, Any] | None = None, progress: Report | None = None
    ) -> dict[str, Any]:
        return self._pool.call_raw(method, params, progress, self._context)
