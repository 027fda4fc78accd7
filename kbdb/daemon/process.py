"""A daemon's life: becomes the owner, listens, watches that it is still wanted, and leaves nothing behind.

It ends when it is told to (a client's ``shutdown``, a signal), when nobody called for ``daemon.idle_timeout_s``, when
its database is gone, and when storing failed in a way that only opening anew mends. Before it gives the database up it
answers what it took on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from setproctitle import setproctitle

import kbdb
from kbdb import platform
from kbdb.config import load, settings_digest
from kbdb.daemon.connection import Connection
from kbdb.daemon.log import log_path, own_log, start_log
from kbdb.daemon.parsing import Parser
from kbdb.daemon.places import Places
from kbdb.daemon.server import Server
from kbdb.daemon.writer import Ended
from kbdb.errors import DatabaseLockedError, KbdbError, NotADatabaseError
from kbdb.knowledge import KnowledgeBase
from kbdb.paths import Layout

log = logging.getLogger(__name__)

WATCH_S = 1.0
"""How often a daemon looks whether its database and its files are still there."""

OWNER_PATIENCE_S = 10.0
OWNER_PAUSE_S = 0.05
"""How long, and how often, it tries to become the owner: the daemon before it may be closing."""

SWITCH_INTERVAL_S = 50e-6
"""How long a thread in Python may keep a search from going on: its default is a hundred times what a search takes."""


def run(root: Path, *, to_stderr: bool = True, ready: Callable[[dict[str, Any]], None] | None = None) -> int:
    """Serves a database until there is a reason to stop.

    Args:
        root: the ``.kbdb`` folder.
        to_stderr: whether to log there, too.
        ready: called once it listens, with what ``daemonStatus`` tells.

    Returns:
        0, also where another daemon serves the database already; 1 where the daemon failed, which its log explains.

    Raises:
        KbdbError: it cannot start.
    """
    start_log(log_path(root), to_stderr=to_stderr)
    setproctitle(platform.DAEMON_NAME)
    owned = _own(root)
    if owned is None:
        return 0
    try:
        asyncio.run(_Life(root, *owned, ready).live())
    except Exception as error:
        if isinstance(error, KbdbError):
            raise
        log.exception("the daemon failed")
        return 1
    return 0


def run_for_client(root: Path) -> int:
    """``run`` in a process that a client started, which reads from the log why it could not."""
    try:
        return run(root, to_stderr=False)
    except KbdbError as error:
        print(json.dumps(error.as_dict()), file=sys.stderr, flush=True)
        return 1


def _own(root: Path) -> tuple[KnowledgeBase, str] | None:
    """The opened database, and of which settings; None where another daemon has it, and answers."""
    give_up = time.monotonic() + OWNER_PATIENCE_S
    while True:
        settings = settings_digest(Layout(root))
        try:
            return KnowledgeBase.open(root), settings
        except DatabaseLockedError:
            if Places(root).is_served():
                log.info("another daemon serves %s", root)
                return None
            if time.monotonic() > give_up:
                raise
            time.sleep(OWNER_PAUSE_S)


class _Life:
    """One run of a daemon, from the opened database to the closed one."""

    def __init__(
        self, root: Path, kb: KnowledgeBase, settings: str, ready: Callable[[dict[str, Any]], None] | None
    ) -> None:
        self._root = root
        self._kb = kb
        self._settings = settings
        self._ready = ready
        self._places = Places(root)
        self._places.announce_coming()
        self._database = _identity(root)
        self._idle_timeout_s = load(Layout(root).config).daemon.idle_timeout_s
        self._leaving = asyncio.Event()
        self._reason = ""

    async def live(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._leave, f"signal {number.name}")
        with Parser() as parser:
            self._kb.parse_with(parser.parse)
            server = Server(self._kb, self._turn, self._leave, self._about)
            listener: asyncio.Server | None = None
            try:
                listener = await self._listen(server)
                log.info("serves %s, kbdb %s, at %s", self._root, kbdb.__version__, self._places.address)
                if self._ready is not None:
                    self._ready(server.status())
                if platform.is_network_file_system(self._root):
                    log.warning("%s is on a network file system: locks may not hold there", self._root)
                listener = await self._watch(server, listener, parser)
            finally:
                if listener is not None:
                    listener.close()
                await self._end(server)

    def _about(self) -> dict[str, Any]:
        return {"address": self._places.address, "log": own_log(), "settings": self._settings}

    async def _end(self, server: Server) -> None:
        """Answers what was taken on, then gives the database up; the loop goes on to send answers meanwhile."""
        self._places.stop_listening()
        reason = self._reason or "it cannot go on"
        log.info("leaves: %s", reason)
        server.let_go(reason)
        try:
            await asyncio.to_thread(server.close)
            await asyncio.to_thread(self._close)
        finally:
            self._places.clear()
            self._places.sweep()
            await server.hang_up()

    @contextmanager
    def _turn(self, patience_s: float | None, ended: Ended) -> Iterator[None]:
        """Held for one write operation; nothing is written where the database was removed."""
        if not self._is_there():
            raise NotADatabaseError(f"{self._root} was removed", "kbdb init makes a new one")
        with self._kb.writing(patience_s, ended):
            yield

    def _close(self) -> None:
        if self._is_there():
            self._kb.close()
        else:
            self._kb.let_go()

    async def _listen(self, server: Server) -> asyncio.Server:
        listening = self._places.listen()
        listener = await asyncio.get_running_loop().create_unix_server(lambda: Connection(server), sock=listening)
        self._places.announce()
        return listener

    async def _watch(self, server: Server, listener: asyncio.Server, parser: Parser) -> asyncio.Server:
        """Looks after its files until there is a reason to leave."""
        while not self._leaving.is_set():
            try:
                await asyncio.wait_for(self._leaving.wait(), WATCH_S)
            except TimeoutError:
                parser.rest()
                if not self._is_there():
                    self._leave("its database is gone")
                    server.cancel_all()
                elif server.is_idle and time.monotonic() - server.last_call >= self._idle_timeout_s:
                    self._leave(f"nobody called for {self._idle_timeout_s} s")
                elif not self._places.has_socket():
                    log.warning("its socket went away; it is made anew")
                    listener.close()
                    listener = await self._listen(server)
                else:
                    self._places.keep_announced()
        return listener

    def _is_there(self) -> bool:
        return _identity(self._root) == self._database is not None

    def _leave(self, reason: str) -> None:
        self._reason = self._reason or reason
        self._leaving.set()


def _identity(root: Path) -> tuple[int, int] | None:
    """Which database stands there: one made anew in the same folder is another."""
    try:
        found = os.stat(Layout(root).lock)
    except OSError:
        return None
    return found.st_dev, found.st_ino
