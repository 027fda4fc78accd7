"""Connections to the daemon, made when first needed and used again: each does one call at a time, so there are several.

The database is looked for anew as long as there is none: it may be made while the server runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
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
        from kbdb.errors import DaemonLostError, DatabaseClosedError, KbdbError, NotADatabaseError

        client = self._take()
        try:
            with context.ended_by(client.cancel) if context else nullcontext():
                answer = client.call_raw(method, params, progress)
        except (DaemonLostError, DatabaseClosedError, NotADatabaseError):
            # Another database may stand there by now: the next call looks anew.
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

    def _take(self) -> Client:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        client = self._connect()
        with self._lock:
            if not self._closed:
                self._all.add(client)
                return client
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

    def _connect(self) -> Client:
        from kbdb.client import Client
        from kbdb.errors import NotADatabaseError
        from kbdb.paths import locate

        location = locate(self._db)
        if not location.exists:
            raise NotADatabaseError(
                f"no database at {location.root} ({location.reason})",
                f"make one there: kbdb init --db {location.root.parent}; or name another when this server is started:"
                " kbdb mcp --db PATH, or $KBDB_DB",
            )
        return Client(location.root)


class _Bound:
    def __init__(self, pool: Pool, context: Context) -> None:
        self._pool = pool
        self._context = context

    def call_raw(
        self, method: str, params: Mapping[str, Any] | None = None, progress: Report | None = None
    ) -> dict[str, Any]:
        return self._pool.call_raw(method, params, progress, self._context)
