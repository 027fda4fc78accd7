"""Ctrl-C during a call that changes something: the first asks the daemon to stop, the second gives up waiting."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ctrl_c_asks(cancel: Callable[[], None]) -> Iterator[None]:
    """A context in which the first Ctrl-C calls ``cancel``, between two steps of whatever runs then.

    Only where Ctrl-C would raise KeyboardInterrupt here: in the main thread, with no handler of the program's own.

    Args:
        cancel: must not wait.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        cancel()

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, handle)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
