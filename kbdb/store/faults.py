"""Named fault points: where a test can make a write fail or the process die; nothing happens unless one is armed.

``kbdb.store.files`` passes a point before each write, sync, rename and removal (``write:sections``, ``sync:journal``,
``rename:meta``). ``KBDB_FAULT="name[:nth]=kill|enospc|eio"`` arms the nth passage (the first unless given);
``KBDB_FAULT_LOG=FILE`` appends the name of each point passed. Tests in the same process use ``hooked``.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, cast, get_args

from kbdb.errors import InvalidArgumentError

Action = Literal["kill", "enospc", "eio"]
Hook = Callable[[str], Action | None]

_ERRNO = {"enospc": errno.ENOSPC, "eio": errno.EIO}


def armed(point: str) -> Action | None:
    """Counts a passage of ``point`` and says what is to happen there; writes stop half way before they ``trip``."""
    return None if _hook is None else _hook(point)


def trip(action: Action) -> None:
    """Does what an armed point asks for: raises OSError, or ends the process as ``kill -9`` does."""
    if action in _ERRNO:
        number = _ERRNO[action]
        raise OSError(number, os.strerror(number))
    if sys.platform == "win32":
        os._exit(137)
    os.kill(os.getpid(), signal.SIGKILL)


def pass_point(point: str) -> None:
    """Passes a point whose operation is all or nothing."""
    if _hook is not None and (action := _hook(point)) is not None:
        trip(action)


@contextmanager
def hooked(hook: Hook | None) -> Iterator[None]:
    """Asks ``hook`` at each point, for the length of a ``with`` block."""
    global _hook
    before, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = before


def hook_for(setting: str, log: str) -> Hook | None:
    """The hook that the two environment variables ask for.

    Args:
        setting: as in ``KBDB_FAULT``, or ``""``.
        log: as in ``KBDB_FAULT_LOG``, or ``""``.

    Raises:
        InvalidArgumentError: the setting is not a fault.
    """
    if not setting and not log:
        return None
    name, nth, action = _parse(setting) if setting else ("", 0, "eio")
    passed = 0

    def hook(point: str) -> Action | None:
        nonlocal passed
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(point + "\n")
        if point != name:
            return None
        passed += 1
        return cast(Action, action) if passed == nth else None

    return hook


def _parse(setting: str) -> tuple[str, int, str]:
    place, _, action = setting.rpartition("=")
    name, _, last = place.rpartition(":")
    if not last.isdigit():
        name, last = place, "1"
    if action not in get_args(Action) or not name:
        raise InvalidArgumentError(
            f"KBDB_FAULT={setting} is not a fault", "write it as name[:nth]=kill|enospc|eio, e.g. sync:journal:2=kill"
        )
    return name, int(last), action


_hook = hook_for(os.environ.get("KBDB_FAULT", ""), os.environ.get("KBDB_FAULT_LOG", ""))
