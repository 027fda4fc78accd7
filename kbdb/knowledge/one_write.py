"""Verbs that write hold the write lock of the database, each for its one operation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from kbdb.knowledge.core import Core


class _OverCore(Protocol):
    _core: Core


K = TypeVar("K", bound=_OverCore)
P = ParamSpec("P")
R = TypeVar("R")


def one_write(verb: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    """A verb that holds the write lock (``Core.writing``)."""

    @wraps(verb)
    def locked(self: K, /, *arguments: P.args, **named: P.kwargs) -> R:
        with self._core.writing():
            return verb(self, *arguments, **named)

    return locked
