"""Large texts are taken apart in a process of its own, so that searches do not wait while Python parses.

The process is started when first needed, and let go when nothing came for a while. It ends by itself when its pipe
does, so a daemon that is killed leaves none behind. A frame is a length and a pickle; both ends are kbdb.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import IO, Any

from kbdb import platform
from kbdb.errors import KbdbError
from kbdb.ingest.document import ParsedDocument
from kbdb.ingest.parse import parse

log = logging.getLogger(__name__)

SMALL_BYTES = 4096
"""Texts below this are parsed at once: sending them costs a search more."""

KEPT_S = 60.0
"""How long the process stays with nothing to do."""

LIMIT_S = 120.0
"""How long the process may give no sign. No text takes that long to parse, and the writer waits meanwhile."""

LENGTH = struct.Struct("<Q")
CHUNK = 1 << 16


Question = tuple[bytes, str, str | None, str]
"""The arguments of ``kbdb.ingest.parse.parse``."""


class Parser:
    """Parses for one thread at a time; a context, at whose end the process goes."""

    def __init__(self) -> None:
        self._child: _Child | None = None
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
                self._child = self._child or _Child()
                answer = self._child.ask((data, name, type, title))
            except (OSError, EOFError) as error:
                log.warning("the process that parses failed (%s); parsing here", error or "it ended")
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

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """The process, from this side. It does not stand in the daemon's folder, where a file may have a module's name."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kbdb.daemon.parsing"],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=os.path.abspath(os.sep),
            env=platform.python_environment(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)

    def ask(self, question: object) -> object:
        """One question and its answer.

        Raises:
            EOFError: the process is gone.
            TimeoutError: it has given no sign for ``LIMIT_S``.
        """
        data = memoryview(frame(question))
        while data:
            _wait(self._to, select.POLLOUT)
            data = data[os.write(self._to, data) :]
        (length,) = LENGTH.unpack(self._read(LENGTH.size))
        return pickle.loads(self._read(length))

    def end(self) -> None:
        """Kills it, and waits until it is gone."""
        self._process.kill()
        # What was still to be written to it does not matter any more.
        with contextlib.suppress(OSError):
            self._process.__exit__(None, None, None)

    def _read(self, length: int) -> bytearray:
        found = bytearray()
        while len(found) < length:
            _wait(self._from, select.POLLIN)
            data = os.read(self._from, min(length - len(found), CHUNK))
            if not data:
                raise EOFError
            found += data
        return found


def _wait(fd: int, event: int) -> None:
    """Waits until a pipe can be read or written, or has ended."""
    poll = select.poll()  # select() knows no descriptors past 1023, and a daemon may have more
    poll.register(fd, event)
    if not poll.poll(LIMIT_S * 1000):
        raise TimeoutError(f"it gave no sign for {LIMIT_S:g} s")


def frame(value: object) -> bytes:
    """The bytes of one frame."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def write_frame(file: IO[bytes], value: object) -> None:
    """Writes one frame."""
    file.write(frame(value))
    file.flush()


def read_frame(file: IO[bytes]) -> Any:
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
            question: Question = read_frame(source)
            write_frame(sink, _answer(*question))
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
