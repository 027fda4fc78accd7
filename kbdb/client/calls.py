"""What every call of the client goes through: the connection, the generation, and how arguments and answers are put.

The classes of answers are imported when one is made; ``call_raw`` does without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kbdb.client.connection import Connection
from kbdb.errors import InvalidArgumentError
from kbdb.paths import database_root

if TYPE_CHECKING:
    from kbdb.progress import Report

Value = TypeVar("Value")


class Calls:
    """A connection, and calls by names; see ``kbdb.client.client.Client``."""

    def __init__(self, path: str | PathLike[str], *, start: bool = True, timeout_s: float | None = None) -> None:
        self._connection = Connection(database_root(path), start=start, timeout_s=timeout_s)
        self._generation: int | None = None

    @property
    def root(self) -> Path:
        """The ``.kbdb`` folder."""
        return self._connection.root

    @property
    def generation(self) -> int:
        """The generation of the last answer that told one."""
        if self._generation is None:
            self.call_raw("dbStatus")
        return self._generation or 0

    @property
    def daemon_pid(self) -> int:
        """The process that answered ``hello``."""
        return self._connection.welcome.pid

    def cancel(self) -> None:
        """Asks for an early end of the call that another thread waits for; nothing happens where there is none.

        A write whose turn has not come ends with InterruptedByUserError, one under way with what it has stored.
        """
        self._connection.cancel()

    def close(self) -> None:
        """Ends the connection. Closing twice is fine."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call_raw(
        self, method: str, params: Mapping[str, Any] | None = None, progress: Report | None = None
    ) -> dict[str, Any]:
        """Calls a method by its name on the wire; gives the answer as JSON has it.

        Args:
            method: such as ``search``.
            params: by their names on the wire; those that are None are left out.
            progress: gets each step of a long write.
        """
        answer: dict[str, Any] = self._connection.call(method, params, progress)
        generation = answer.get("generation") if isinstance(answer, dict) else None
        if isinstance(generation, int):
            self._generation = generation
        return answer

    def _value(
        self,
        kind: type[Value],
        method: str,
        params: Mapping[str, Any] | None = None,
        progress: Report | None = None,
    ) -> Value:
        from kbdb.client.values import from_json

        return from_json(kind, self.call_raw(method, params, progress))


def listed(**named: Sequence[str] | None) -> list[str] | None:
    """The one argument as a list; a bare string would be taken for a list of its characters."""
    ((name, value),) = named.items()
    if isinstance(value, (str, bytes)):
        raise InvalidArgumentError(f"{name} is {value!r}", f"give a list: {name}=[{value!r}]")
    return None if value is None else [*value]


def content_as_json(content: str | bytes | None) -> Any:
    """Content as it goes over the wire."""
    from kbdb.model.to_json import as_json

    return as_json(content)
