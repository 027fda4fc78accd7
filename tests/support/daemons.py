"""A real daemon in a process of its own, and a plain socket to talk to it with."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kbdb

PATIENCE_S = 60.0


class Daemon:
    """A daemon that serves a database.

    Attributes:
        root: its ``.kbdb`` folder.
        process: it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.process = subprocess.Popen([sys.executable, "-m", "kbdb.daemon", str(root)], stderr=subprocess.PIPE)
        wait_for(lambda: self.address() != "" or self.process.poll() is not None)

    def address(self) -> str:
        """Where it listens, as it announced; empty before it does."""
        try:
            told = json.loads((self.root / "daemon").read_text())
        except (OSError, ValueError):
            return ""
        return str(told["address"]) if told["pid"] == self.process.pid else ""

    def talk(self) -> Talk:
        """A new connection that has said hello."""
        talk = Talk(self.address())
        talk.ask("hello", version=kbdb.__version__)
        return talk

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it with a signal, and waits; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE_S)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code


class Talk:
    """One connection, message by message."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(address)
        self.file = self.socket.makefile("rb")
        self.id = 0
        self.answers: dict[int, dict[str, Any]] = {}

    def send(self, method: str, **params: Any) -> int:
        """Sends a request; returns its id."""
        self.id += 1
        self.send_raw(
            json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).encode() + b"\n"
        )
        return self.id

    def notify(self, method: str, **params: Any) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def send_raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self) -> dict[str, Any] | None:
        """The next message; None when the daemon closed the connection."""
        line = self.file.readline()
        return json.loads(line) if line else None

    def answer_to(self, id: int) -> dict[str, Any]:
        """The answer to a request, in whatever order answers come."""
        while id not in self.answers:
            message = self.receive()
            assert message is not None, "the daemon closed the connection before it answered"
            if "id" in message:
                self.answers[message["id"]] = message
        return self.answers.pop(id)

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a call; an error of the daemon's is one of the test's."""
        answer = self.answer_to(self.send(method, **params))
        assert "error" not in answer, answer
        return answer["result"]

    def refusal(self, method: str, **params: Any) -> str:
        """The code of the error that a call ends with."""
        answer = self.answer_to(self.send(method, **params))
        return str(answer["error"].get("data", {}).get("code", answer["error"]["code"]))

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@contextmanager
def running(root: Path) -> Iterator[Daemon]:
    """A daemon for a database, made where there is none."""
    if not (root / "catalog.toml").exists():
        kbdb.init(root).close()
    daemon = Daemon(root)
    try:
        yield daemon
    finally:
        daemon.stop(signal.SIGKILL)


def wait_for(holds: Any, patience_s: float = PATIENCE_S) -> None:
    """Waits until something holds; fails where it never does."""
    until = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:
        os.kill(pid, 0)
        return True
