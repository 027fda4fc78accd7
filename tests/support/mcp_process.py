"""A server as a process of its own, and a client that says whatever it likes to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).with_name("mcp_registry.py")
COMMAND = [sys.executable, str(FIXTURES)]
"""Serves the fixtures."""

_WITH_FIXTURES = """
import sys, types
sys.path.insert(0, {folder!r})
import mcp_registry
class Server(mcp_registry.FixtureRegistry):
    def __init__(self, db, *, read_only, tools):
        self.instructions = repr((db, read_only, tools))
sys.modules["kbdb.mcp.server"] = types.SimpleNamespace(KbdbServer=Server)
from kbdb.__main__ import main
sys.exit(main())
"""
KBDB_MCP = [sys.executable, "-c", _WITH_FIXTURES.format(folder=str(FIXTURES.parent)), "mcp"]
"""The command ``kbdb mcp``, with the fixtures in the place of a database; its instructions tell what it was given."""


class Server:
    """The process.

    Attributes:
        process: the process itself.
    """

    def __init__(self, command: list[str], **how: Any) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command, bufsize=0, **{**pipes, **how})

    def write(self, data: bytes) -> None:
        """Writes bytes to its stdin."""
        assert self.process.stdin
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def send(self, *messages: dict[str, Any]) -> None:
        """Sends messages."""
        self.write(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages))

    def receive(self) -> dict[str, Any]:
        """The next message."""
        line = bytearray()
        assert self.process.stdout
        while not line.endswith(b"\n"):
            read = os.read(self.process.stdout.fileno(), 1)
            assert read, f"the server hung up after {bytes(line)!r}"
            line += read
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, method: str, id: int | str = "id", **params: Any) -> dict[str, Any]:
        """Makes a request; gives the next message, which should be its answer."""
        self.send({"id": id, "method": method, "params": params})
        return self.receive()

    def begin(self, **capabilities: Any) -> None:
        """Shakes hands."""
        info = {"name": "test", "version": "1"}
        answer = self.ask("initialize", protocolVersion="2025-11-25", capabilities=capabilities, clientInfo=info)
        assert answer["result"]["protocolVersion"] == "2025-11-25"
        self.send({"method": "notifications/initialized"})

    def hang_up(self) -> None:
        """Closes its stdin."""
        assert self.process.stdin
        self.process.stdin.close()

    def end(self) -> tuple[int, bytes, bytes]:
        """Hangs up and waits; gives the exit code, and what was left on stdout and stderr."""
        assert self.process.stdout
        assert self.process.stderr
        self.hang_up()
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return self.process.wait(), out, err


@contextmanager
def server(command: list[str] | None = None, **how: Any) -> Iterator[Server]:
    """A context with a server, which is gone afterwards."""
    found = Server(command or COMMAND, **how)
    try:
        yield found
    finally:
        with suppress(ProcessLookupError):
            found.process.kill()
        found.process.wait()
        for stream in (found.process.stdin, found.process.stdout, found.process.stderr):
            if stream:
                stream.close()
