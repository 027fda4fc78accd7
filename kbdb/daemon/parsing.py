"""Large texts are taken apart in a process of its own, so that searches do not wait while Python parses.

The process is started when first needed, and let go when nothing came for a while. It ends by itself when its pipe
does, so a daemon that is killed leaves none behind. A frame is a length and a pickle; both ends are kbdb.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import IO

from kbdb.errors import KbdbError
from kbdb.ingest.document import ParsedDocument
from kbdb.ingest.parse import parse

log = logging.getLogger(__name__)

SMALL_BYTES = 4096
"""Texts below this are parsed at once: sending them costs a search more."""

KEPT_S = 60.0
"""How long the process stays with nothing to do."""

LENGTH = struct.Struct("<Q")


class Parser:
    """Parses for one thread at a time; a context, at whose end the process goes."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()
        self._used = 0.0

    def __enter__(self) -> Parser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._turn:
            self._end()

    def parse(self, data: bytes, name: str, type: str | None = None, title: str = "") -> ParsedDocument:
        """As ``kbdb.ingest.parse.parse``."""
        if len(data) < SMALL_BYTES:
            return parse(data, name, type, title)
        with self._turn:
            self._used = time.monotonic()
            try:
                answer = self._ask((data, name, type, title))
            except (OSError, EOFError) as error:
                log.warning("the process that parses ended (%s); parsing here", error or "end of file")
                self._end()
                return parse(data, name, type, title)
        if isinstance(answer, KbdbError):
            raise answer
        assert isinstance(answer, ParsedDocument)
        return answer

    def rest(self) -> None:
        """Lets the process go when it has had nothing to do for a while. To be called now and then."""
        if self._turn.acquire(blocking=False):
            try:
                if self._child is not None and time.monotonic() - self._used > KEPT_S:
                    self._end()
            finally:
                self._turn.release()

    def _ask(self, question: object) -> object:
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "kbdb.daemon.parsing"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        write_frame(self._child.stdin, question)
        return read_frame(self._child.stdout)

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            # Waits for it, too; what was still to be written to it does not matter any more.
            with contextlib.suppress(OSError):
                self._child.__exit__(None, None, None)
            self._child = None


def write_frame(file: IO[bytes], value: object) -> None:
    """Writes one frame."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    file.write(LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def read_frame(file: IO[bytes]) -> object:
    """Reads one frame.

    Raises:
        EOFError: the other end is gone.
    """
    header = file.read(LENGTH.size)
    if len(header) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(header)
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Parses what comes until nothing more can."""
    while True:
        try:
            question = read_frame(source)
            answer = _answer(*question)  # type: ignore[misc]
            write_frame(sink, answer)
        except (EOFError, BrokenPipeError):
            return


def _answer(data: bytes, name: str, type: str | None, title: str) -> ParsedDocument | KbdbError:
    try:
        return parse(data, name, type, title)
    except KbdbError as error:
        return error


if __name__ == "__main__":
    # Ctrl-C in the terminal of a daemon that runs there is for the daemon to understand.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
