"""A daemon that says what a test tells it to, over a real socket: for tests of the client."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kbdb
from kbdb import platform
from kbdb.rpc.messages import Failure, Message, Notification, Request, Result, decode, encode


class Talk:
    """One connection, as the daemon sees it."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._lines = connected.makefile("rb")

    def say(self, message: Message) -> None:
        self.say_bytes(encode(message))

    def say_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def hear(self) -> Message | None:
        """The next message; None when the client is gone."""
        try:
            line = self._lines.readline()
        except (OSError, ValueError):
            return None
        return decode(line) if line.endswith(b"\n") else None

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._socket.close()


Answer = Callable[[Talk, Request], object]


class ScriptedDaemon:
    """Listens for the database at ``root`` and writes where, as a daemon does.

    Args:
        root: the ``.kbdb`` folder.
        address: the socket; None for the usual one.
        version: what it tells in its ``hello``; ``told_root``, ``pid`` and ``database`` likewise.

    Attributes:
        heard: all messages but ``hello``.
        connections: how many there have been.
        answers: by method, what to do with a request; without an entry its params are the answer.
    """

    def __init__(
        self,
        root: Path,
        *,
        address: str | None = None,
        version: str = kbdb.__version__,
        told_root: Path | None = None,
        database: str = "a" * 26,
        pid: int | None = None,
    ) -> None:
        self.root = root
        self.address = address or platform.get_ipc_path(platform.context_id(root))
        self.heard: list[Message] = []
        self.connections = 0
        self.answers: dict[str, Answer] = {}
        self.pid = os.getpid() if pid is None else pid
        self.hello = {
            "version": version,
            "format": 1,
            "database": database,
            "root": str(told_root or root),
            "pid": self.pid,
            "lock": [0, 0] if told_root else _lock_of(root),
        }
        self._socket = socket.socket(socket.AF_UNIX)
        if os.path.exists(self.address):
            os.unlink(self.address)
        self._socket.bind(self.address)
        self._socket.listen(64)
        self._talks: list[Talk] = []
        threading.Thread(target=self._accept, daemon=True).start()
        self.announce()

    def announce(self) -> None:
        told = {"address": self.address, "pid": self.pid, "version": self.hello["version"]}
        (self.root / "daemon").write_text(json.dumps(told) + "\n")

    def close(self) -> None:
        """Stops listening and hangs up; the files stay, as after a crash."""
        with_suppressed(self._socket.shutdown, socket.SHUT_RDWR)
        self._socket.close()
        for talk in self._talks:
            with_suppressed(talk.close)

    def methods(self) -> list[str]:
        """What was asked for, in order."""
        return [message.method for message in self.heard if isinstance(message, (Request, Notification))]

    def _accept(self) -> None:
        while True:
            try:
                connected, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            talk = Talk(connected)
            self._talks.append(talk)
            threading.Thread(target=self._serve, args=(talk,), daemon=True).start()

    def _serve(self, talk: Talk) -> None:
        while (message := talk.hear()) is not None:
            if not (isinstance(message, Request) and message.method == "hello"):
                self.heard.append(message)
            if not isinstance(message, Request):
                continue
            answer = self.answers.get(message.method, hello(self.hello) if message.method == "hello" else echo)
            with_suppressed(answer, talk, message)


def hello(told: dict[str, Any]) -> Answer:
    return lambda talk, request: talk.say(Result(request.id, told))


def echo(talk: Talk, request: Request) -> None:
    """Answers with what was asked."""
    talk.say(Result(request.id, request.params))


def silence(_: Talk, __: Request) -> None:
    """Does not answer."""


def hang_up(talk: Talk, _: Request) -> None:
    """Goes away instead of answering."""
    talk.close()


def refuse(code: int, message: str, data: dict[str, Any] | None = None) -> Answer:
    return lambda talk, request: talk.say(Failure(request.id, code, message, data))


def once(first: Answer, then: Answer = echo) -> Answer:
    """Another answer the first time."""
    answers = [first]
    return lambda talk, request: (answers.pop() if answers else then)(talk, request)


def with_suppressed(call: Callable[..., object], *arguments: Any) -> None:
    """Calls, and does not mind when the other side is gone."""
    with contextlib.suppress(OSError, ValueError):
        call(*arguments)


Listen = Callable[..., ScriptedDaemon]
"""Makes scripted daemons (a fixture of ``tests/client``)."""


def _lock_of(root: Path) -> list[int]:
    """Device and inode of a database's lock file, made where there is none."""
    lock = root / "lock"
    lock.touch()
    found = lock.stat()
    return [found.st_dev, found.st_ino]
