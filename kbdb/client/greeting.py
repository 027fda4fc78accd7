"""The first exchange on a connection: who is there, which database it serves, and whose program is newer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from kbdb import __version__
from kbdb.client.wire import Wire
from kbdb.errors import ProtocolError, UnsupportedFormatError
from kbdb.paths import FORMAT, Layout
from kbdb.rpc.messages import Failure, Request, Result
from kbdb.rpc.refusals import error_in


class Welcome(NamedTuple):
    """The daemon's answer to ``hello``.

    Attributes:
        version: its version of kbdb.
        format: of the database's truth files.
        database: the database's id.
        root: its ``.kbdb`` folder, by the daemon's path.
        pid: the daemon's process.
        lock: device and inode of the lock that it holds: another stands there once the database is another one.
    """

    version: str
    format: int
    database: str
    root: str
    pid: int
    lock: list[int]


def greet(wire: Wire) -> Welcome:
    """Says hello.

    The database's id is left out: copies of a database share it. Its folder tells them apart (``serves``).

    Raises:
        ProtocolError: the answer is none that a daemon gives.
        KbdbError: the daemon refuses.
    """
    answer = ask(wire, "hello", {"version": __version__, "format": FORMAT, "database": ""})
    try:
        return Welcome(**{name: answer[name] for name in Welcome._fields})
    except (KeyError, TypeError) as error:
        raise ProtocolError("what listens there does not say hello as kbdb does") from error


def ask(wire: Wire, method: str, params: dict[str, Any]) -> Any:
    """One request whose answer is the next message.

    Raises:
        KbdbError: as the daemon refuses.
    """
    wire.send(Request(method, method, params))
    answer = wire.receive()
    if isinstance(answer, Failure):
        raise error_in(answer)
    if not isinstance(answer, Result) or answer.id != method:
        raise ProtocolError(f"{method} was answered with something else")
    return answer.value


def serves(welcome: Welcome, root: Path) -> bool:
    """Whether this daemon serves the database in this folder.

    A copied ``.kbdb`` folder brings along the address of the daemon that served the original, and one that took the
    place of another is found by its address until that daemon notices.
    """
    try:
        found = os.stat(Layout(root).lock)
    except OSError:
        return False
    return welcome.lock == [found.st_dev, found.st_ino]


def require_readable(welcome: Welcome) -> None:
    """Raises UnsupportedFormatError where a newer kbdb wrote the database than this program can read."""
    if welcome.format > FORMAT:
        raise UnsupportedFormatError(
            f"{welcome.root} has format {welcome.format}, this kbdb ({__version__}) reads up to {FORMAT}",
            f"use kbdb {welcome.version}, as its daemon does",
        )


def is_older(version: str) -> bool:
    """Whether a daemon of this version has to make way for this program's."""
    return _numbers(version) < _numbers(__version__)


def _numbers(version: str) -> tuple[int, ...]:
    """``1.2.3rc1`` to (1, 2, 3): up to the first character that is neither a digit nor a dot between them."""
    numbers = []
    for part in version.split("."):
        digits = len(part) - len(part.lstrip("0123456789"))
        if digits:
            numbers.append(int(part[:digits]))
        if digits < len(part) or not digits:
            break
    return tuple(numbers)
