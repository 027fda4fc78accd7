"""A daemon on its way out."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

from locks import unlocked

import kbdb
from kbdb.daemon.connection import Connection
from kbdb.daemon.server import Server


def test_a_connection_that_comes_after_it_let_go_is_told_so_and_closed(root: Path) -> None:
    async def received() -> bytes:
        server = Server(kb, unlocked, lambda _: None)
        server.let_go("no reason")
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: Connection(server), ours)
            told = await loop.sock_recv(theirs, 1000)
            assert await loop.sock_recv(theirs, 1000) == b""
        finally:
            theirs.close()
            await asyncio.to_thread(server.close)
        return told

    with kbdb.init(root) as kb:
        assert json.loads(asyncio.run(received()))["method"] == "closing"
