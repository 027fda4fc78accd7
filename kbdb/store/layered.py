"""A mapping that can be continued: the continuation changes, what it continues stays as it was.

For beliefs, of which each commit makes new ones and readers keep the old: most of a large mapping is shared, so that a
step costs what it changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")

NEW_KEYS = 256
"""So many keys are copied with each step at most; then all are put together once."""


class Layered(Generic[V]):
    """Text to values that are themselves never changed. There is no removal; store an empty value."""

    __slots__ = ("_base", "_new")

    def __init__(self) -> None:
        self._base: dict[str, V] = {}
        self._new: dict[str, V] = {}

    def continued(self) -> Layered[V]:
        """A mapping with the same items, whose changes do not show here."""
        other = Layered[V]()
        if len(self._new) <= NEW_KEYS:
            other._base, other._new = self._base, dict(self._new)
        else:
            other._base = {**self._base, **self._new}
        return other

    def settle(self) -> None:
        """Puts all items together, so that continuing shares them. Only while nothing shares them yet."""
        if self._new:
            self._base, self._new = {**self._base, **self._new}, {}

    def get(self, key: str) -> V | None:
        """The value, or None."""
        found = self._new.get(key)
        return self._base.get(key) if found is None else found

    def __setitem__(self, key: str, value: V) -> None:
        self._new[key] = value

    def __len__(self) -> int:
        """How many keys there are at most: one that was set again may count twice."""
        return len(self._base) + len(self._new)

    def items(self) -> Iterator[tuple[str, V]]:
        """All keys, each with its newest value."""
        yield from self._new.items()
        yield from ((key, value) for key, value in self._base.items() if key not in self._new)
