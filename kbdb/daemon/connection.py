"""One client's connection: bytes to messages and back, who is at the other end, and what it still waits for."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from typing import Protocol, cast

from kbdb import platform
from kbdb.errors import TooLargeError
from kbdb.rpc.codes import INVALID_REQUEST
from kbdb.rpc.lines import LineReader
from kbdb.rpc.messages import BadMessageError, Failure, Id, Notification, Request, decode, encode

log = logging.getLogger(__name__)

MAX_PENDING = 64
"""A client that asks for more at once is not listened to until some are answered."""

TURN_S = 0.002
"""How long what a client sent at once is answered, or handed on, before others are listened to."""


class Handler(Protocol):
    """What a connection hands its messages to."""

    def connected(self, connection: Connection) -> None: ...
    def request(self, connection: Connection, request: Request) -> None: ...
    def cancel(self, connection: Connection, id: Id) -> None: ...
    def disconnected(self, connection: Connection) -> None: ...


class Connection(asyncio.Protocol):
    """A connected client. Lives on the event loop's thread.

    Attributes:
        peer: the client, for messages: ``process 123``.
        greeted: whether it said ``hello``.
    """

    def __init__(self, handler: Handler) -> None:
        self.peer = "a process"
        self.greeted = False
        self._handler = handler
        self._lines = LineReader()
        self._transport: asyncio.Transport | None = None
        self._pending: list[Id] = []
        self._blocked = False
        self._listens = True
        self._lets_others = False
        self._ends = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        connected = cast(socket.socket, transport.get_extra_info("socket"))
        try:
            uid, pid = platform.peer_uid(connected), platform.peer_pid(connected)
        except OSError as error:
            log.info("a connection ended before it could be told whose it is: %s", error.strerror)
            self._transport.abort()
            return
        if uid not in (None, os.geteuid()):
            log.warning("refused a connection of user %s", uid)
            self._transport.abort()
            return
        self.peer = f"process {pid}" if pid else self.peer
        self._handler.connected(self)

    def data_received(self, data: bytes) -> None:
        self._lines.feed(data)
        self._read_lines()

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._blocked = True
        self._listen()

    def resume_writing(self) -> None:
        self._blocked = False
        self._listen()

    def connection_lost(self, _: Exception | None) -> None:
        self._transport = None
        self._handler.disconnected(self)

    def answer(self, id: Id, line: bytes) -> None:
        """Sends the answer to a request."""
        self._pending.remove(id)
        self.send(line)
        if self._ends and not self._pending:
            self.close()
        self._listen()

    def send(self, line: bytes) -> None:
        """Sends a line, if anybody is there to read it."""
        if self._transport is not None:
            self._transport.write(line)

    def close_when_answered(self) -> None:
        """Takes no more requests, says which it still answers, and closes when those are answered."""
        self._ends = True
        self.send(encode(Notification("closing", {"answers": self._pending})))
        self._listen()
        if not self._pending:
            self.close()

    def close(self) -> None:
        """Closes once what was sent has gone out."""
        if self._transport is not None:
            self._transport.close()

    def _listen(self) -> None:
        """Reads on, or not: a client gets no more memory than it takes answers for."""
        waits = self._blocked or self._lets_others or self._ends
        listens = not waits and len(self._pending) < MAX_PENDING
        if self._transport is None or self._transport.is_closing() or listens == self._listens:
            return
        self._listens = listens
        if listens:
            self._transport.resume_reading()
            asyncio.get_running_loop().call_soon(self._read_lines)
        else:
            self._transport.pause_reading()

    def _let_others(self) -> None:
        """Reads on after the others had their turn; until then, no more than what has come is taken in."""
        self._lets_others = True
        self._listen()
        asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._lets_others = False
        self._listen()

    def _read_lines(self) -> None:
        began = time.monotonic()
        while self._listens and self._transport is not None and not self._transport.is_closing():
            try:
                line = self._lines.next_line()
            except TooLargeError as error:
                self._refuse(Failure(None, INVALID_REQUEST, error.message))
                self.close()
                return
            if line is None:
                return
            try:
                self._take(decode(line))
            except BadMessageError as error:
                self._refuse(error.as_failure())
            if self._lines.pending and time.monotonic() - began >= TURN_S:
                self._let_others()

    def _take(self, message: object) -> None:
        if isinstance(message, Request):
            self._pending.append(message.id)
            self._handler.request(self, message)
            self._listen()
        elif isinstance(message, Notification) and message.method == "cancel":
            id = message.params.get("id")
            if isinstance(id, (int, str)):
                self._handler.cancel(self, id)

    def _refuse(self, failure: Failure) -> None:
        log.info("%s: %s", self.peer, failure.message)
        self.send(encode(failure))
        if not self.greeted:
            self.close()
