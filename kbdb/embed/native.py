"""Sees to it that no thread is in onnxruntime or tokenizers when the interpreter ends.

A thread that comes back from there after that is unwound by Python, and their C++ and Rust take that for a fault: the
whole process aborts, with whatever it had still to do.
"""

from __future__ import annotations

import atexit
import os
import threading
from types import TracebackType

from kbdb.errors import EmbeddingUnavailableError


class Gate:
    """A context for calls of foreign code; many threads may be in it. Once it is closed, nobody comes in."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._closed = False

    def __enter__(self) -> None:
        """Raises EmbeddingUnavailableError once it is closed."""
        with self._changed:
            if self._closed:
                raise EmbeddingUnavailableError("the process is about to end")
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Closes it, and waits until nobody is in it: for as long as one text takes, or the loading of a model."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._inside)

    def forked(self) -> None:
        """Forgets who was inside: a fork takes none of them along, and its end must not wait for them."""
        self._changed = threading.Condition()
        self._inside = 0


GATE = Gate()
atexit.register(GATE.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=GATE.forked)
