"""A real HTTP server on loopback that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """One answer. ``pieces`` takes the place of ``body`` where a test wants to send it bit by bit."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Callable[[], Iterator[bytes]] | None = None
    length: int | None = None


Answer = Callable[[Asked], Reply]


class HttpServer:
    """Listens from the start; ``answer`` may be replaced at any time."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            """One connection."""

            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                """Answers a GET."""
                self._serve()

            def do_POST(self) -> None:
                """Answers a POST."""
                self._serve()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = Asked(self.command, self.path, dict(self.headers), body)
                owner.asked.append(asked)
                reply = owner.answer(asked)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.pieces is None or reply.length is not None:
                    self.send_header("Content-Length", str(len(reply.body) if reply.length is None else reply.length))
                else:
                    self.send_header("Connection", "close")
                self.end_headers()
                # The client may have had enough.
                with contextlib.suppress(OSError):
                    for piece in reply.pieces() if reply.pieces else [reply.body]:
                        self.wfile.write(piece)
                if reply.pieces is not None:
                    self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
