"""The transport: one client on stdin and stdout, until it closes them, breaks them or dies.

The main thread blocks in reads, so that signals have their usual effect; workers make the calls. The two streams are
taken over first: nothing else in this process can write to the client, and no child inherits its pipes.
"""

from __future__ import annotations

import os
import select

from kbdb import __version__
from kbdb.mcp.protocol import Protocol
from kbdb.mcp.registry import Registry
from kbdb.mcp.workers import Workers

INFO = {
    "name": "kbdb",
    "title": "kbdb knowledge base",
    "version": __version__,
    "description": "Searches, reads and keeps knowledge in a database of plain files on this machine",
}

CHUNK = 1 << 16
ROOM = 512
"""Bytes that certainly can be written without waiting where something can be: PIPE_BUF, by POSIX at least so many."""

LEAVING_S = 0.2
"""How long a handler may take to notice that the client is gone."""

LOOK_S = 5.0
"""How often a server that hears nothing looks whether its parent lives: a sibling may hold the pipe open. The system's
own way to tell (PR_SET_PDEATHSIG) means the thread that started us, which in some hosts ends at once."""


def serve(registry: Registry) -> int:
    """Serves until the client is gone.

    Returns:
        The exit code.
    """
    source, sink = _taken_over()
    parent = os.getppid()
    workers = Workers(registry, Protocol(registry, INFO), lambda line: _write(sink, line, source, parent))
    while data := _read(source, parent):
        workers.receive(data)
    if not workers.close(LEAVING_S):
        # A handler hangs where nothing wakes it, in a call to the daemon perhaps, or in an answer that is not read;
        # nobody waits for it.
        os._exit(0)
    return 0


def _taken_over() -> tuple[int, int]:
    """Private descriptors of the client's pipes; 0 reads nothing from now on, and 1 writes to stderr."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink


def _read(source: int, parent: int) -> bytes:
    """The next bytes; none once the client is gone."""
    while True:
        if not _ready(source, "POLLIN"):
            if os.getppid() != parent:
                return b""
            continue
        try:
            return os.read(source, CHUNK)
        except BlockingIOError:
            pass  # the host made its pipe so, or nothing came while we looked
        except OSError:
            return b""


def _write(sink: int, data: bytes, source: int, parent: int) -> None:
    left = memoryview(data)
    while left:
        if not _ready(sink, "POLLOUT"):
            if os.getppid() != parent or _hung_up(source):
                os._exit(0)  # under the lock that all others would wait for
            continue
        try:
            left = left[os.write(sink, left[:ROOM]) :]
        except BlockingIOError:
            pass
        except OSError:
            # The client reads no more, and the main thread may be blocked in a read: nothing is left to do.
            os._exit(0)


def _hung_up(source: int) -> bool:
    """Whether nobody can write to a pipe any more, though it may hold what nobody has read."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(source, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _ready(fd: int, event: str) -> bool:
    """Waits until something can be done with a pipe, at most ``LOOK_S``; at once where the system cannot wait so."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(fd, getattr(select, event))
    return bool(poll.poll(LOOK_S * 1000))
