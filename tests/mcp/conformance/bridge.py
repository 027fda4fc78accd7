"""A bridge from HTTP to the server's stdin and stdout, because the conformance suite tests over HTTP alone.

``python tests/mcp/conformance/bridge.py`` prints the address it serves. It adds what belongs to HTTP: sessions, status
codes, event streams, the checks of headers. A session of the handshake revisions has a process of its own; all requests
of the stateless ones share one, under ids of the bridge's, as they would behind any gateway.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import select
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit

from kbdb.mcp import codes
from kbdb.mcp.revisions import HANDSHAKE

SERVER = Path(__file__).parents[2] / "support" / "mcp_registry.py"
LOCAL = {"localhost", "127.0.0.1", "::1"}
META = "io.modelcontextprotocol/"
SUBSCRIPTION = META + "subscriptionId"

STATUS = {
    codes.METHOD_NOT_FOUND: 404,
    codes.INVALID_PARAMS: 400,
    codes.HEADER_MISMATCH: 400,
    codes.MISSING_REQUIRED_CLIENT_CAPABILITY: 400,
    codes.UNSUPPORTED_PROTOCOL_VERSION: 400,
}
"""The status of an error of the stateless revisions."""

LOOK_S = 0.05
"""How often an open stream looks whether its client is still there."""


class Child:
    """A server process, and who waits for which of its messages."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._streams: dict[int, tuple[dict[str, Any], Queue[dict[str, Any]]]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, request: dict[str, Any]) -> tuple[int, Queue[dict[str, Any]]]:
        """Sends a request under an id of ours; gives the id, and the queue of what comes for it."""
        queue: Queue[dict[str, Any]] = Queue()
        with self._lock:
            id = next(self._ids)
            self._streams[id] = request, queue
        self.tell({**request, "id": id})
        return id, queue

    def tell(self, message: dict[str, Any]) -> None:
        """Sends a message that nobody waits for an answer to."""
        assert self._process.stdin
        with self._lock:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def forget(self, id: int) -> None:
        """Nobody waits for this any more."""
        with self._lock:
            gone = self._streams.pop(id, None)
        if gone:
            params = {"requestId": id}
            self.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            with self._lock:
                id = message.get("id") if "method" not in message else self._addressee(message)
                if id in self._streams:
                    request, queue = self._streams[id] if "method" in message else self._streams.pop(id)
                    if "method" not in message:
                        message["id"] = request["id"]
                    elif SUBSCRIPTION in message.get("params", {}).get("_meta", {}):
                        message["params"]["_meta"][SUBSCRIPTION] = request["id"]
                    queue.put(message)

    def _addressee(self, message: dict[str, Any]) -> int | None:
        """Which request a message belongs to; where it does not say, the last one that was made."""
        params = message.get("params", {})
        if SUBSCRIPTION in params.get("_meta", {}):
            return int(params["_meta"][SUBSCRIPTION])
        for id, (request, _queue) in self._streams.items():
            token = request.get("params", {}).get("_meta", {}).get("progressToken")
            if token is not None and token == params.get("progressToken"):
                return id
        open_calls = [id for id, (request, _) in self._streams.items() if request["method"] != "subscriptions/listen"]
        return open_calls[-1] if open_calls else None


class Sessions:
    """The processes: one for each session, and one for all without."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._children: dict[str, Child] = {}

    def begin(self) -> str:
        """A new session."""
        with self._lock:
            name = f"session-{next(self._ids)}"
            self._children[name] = Child()
        return name

    def child(self, name: str) -> Child | None:
        """The process of a session; the shared one for an empty name."""
        with self._lock:
            if name == "" and name not in self._children:
                self._children[name] = Child()
            return self._children.get(name)

    def end(self, name: str) -> None:
        """Ends a session."""
        with self._lock:
            child = self._children.pop(name, None)
        if child:
            child.close()

    def end_all(self) -> None:
        """Ends everything."""
        for name in list(self._children):
            self.end(name)


SESSIONS = Sessions()


class Handler(BaseHTTPRequestHandler):
    """One HTTP exchange."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        self._answer(405, None)

    def do_DELETE(self) -> None:
        SESSIONS.end(self.headers.get("Mcp-Session-Id", ""))
        self._answer(200, None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self._is_local():
            self._answer(403, {"jsonrpc": "2.0", "error": {"code": codes.INVALID_REQUEST, "message": "not local"}})
            return
        message = json.loads(body)
        session = self.headers.get("Mcp-Session-Id", "")
        stateless = not session and self.headers.get("MCP-Protocol-Version") not in HANDSHAKE
        headers = {}
        if message.get("method") == "initialize" and not _meta(message):
            stateless, session = False, SESSIONS.begin()
            headers["Mcp-Session-Id"] = session
        child = SESSIONS.child(session)
        if child is None:
            self._answer(404, {"jsonrpc": "2.0", "error": {"code": codes.INVALID_REQUEST, "message": "no session"}})
        elif "method" not in message or "id" not in message:
            child.tell(message)
            self._answer(202, None)
        elif stateless and self._mismatch(message):
            error = {"code": codes.HEADER_MISMATCH, "message": "the header names another revision than the message"}
            self._answer(400, {"jsonrpc": "2.0", "id": message["id"], "error": error})
        else:
            self._exchange(child, message, headers, stateless=stateless)

    def _exchange(self, child: Child, message: dict[str, Any], headers: dict[str, str], *, stateless: bool) -> None:
        id, queue = child.ask(message)
        first = queue.get()
        if "method" not in first:
            code = first.get("error", {}).get("code")
            self._answer(STATUS.get(code, 200) if stateless else 200, first, headers)
            return
        self.send_response(200)
        for name, value in {"Content-Type": "text/event-stream", "Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            self._event(first)
            while not self._hung_up():
                with contextlib.suppress(Empty):
                    event = queue.get(timeout=LOOK_S)
                    self._event(event)
                    if "method" not in event:
                        return
        child.forget(id)

    def _event(self, message: dict[str, Any]) -> None:
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()

    def _hung_up(self) -> bool:
        return bool(select.select([self.connection], [], [], 0)[0]) and not self.connection.recv(1)

    def _answer(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def _is_local(self) -> bool:
        hosts = [urlsplit("//" + self.headers.get("Host", "")).hostname]
        if "Origin" in self.headers:
            hosts.append(urlsplit(self.headers["Origin"]).hostname)
        return set(hosts) <= LOCAL

    def _mismatch(self, message: dict[str, Any]) -> bool:
        told = _meta(message).get(META + "protocolVersion")
        return told is not None and told != self.headers.get("MCP-Protocol-Version")


def _meta(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


class Bridge(ThreadingHTTPServer):
    """The HTTP server."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up early are part of the suite."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main() -> None:
    """Serves until its stdin ends."""
    server = Bridge(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
    sys.stdin.read()
    SESSIONS.end_all()


if __name__ == "__main__":
    main()
