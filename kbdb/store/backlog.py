"""Commits whose files are not written yet, and what reading must see of them.

Holds commits from ``Store.append`` until their files stand: across the journal's sync, and longer when the disk is
full. Who asks says up to which generation: the owner sees what it took in, readers what is durable. The owner's thread
changes it under the store's lock; other threads may look things up at any time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TypeAlias

from kbdb.store.journal import ChangeKind, Commit, FileChange

_Waiting: TypeAlias = "tuple[int, FileChange, _Waiting | None]"
"""A change with its generation, and the one of its file before it. Never changed, so that any thread may walk it."""


class Backlog:
    """Numbered commits, oldest first, with the newest change of each file at hand.

    Args:
        commits: (generation, commit), oldest first.
    """

    def __init__(self, commits: Iterable[tuple[int, Commit]] = ()) -> None:
        self._commits: deque[tuple[int, Commit]] = deque()
        self._sections: dict[str, _Waiting] = {}
        self._manifests: dict[str, _Waiting] = {}
        self._events: dict[str, deque[tuple[int, FileChange]]] = {}
        for generation, commit in commits:
            self.add(generation, commit)

    def add(self, generation: int, commit: Commit) -> None:
        """Takes in the commit that makes ``generation``, one more than the last."""
        self._commits.append((generation, commit))
        for change in commit:
            self._place(generation, change)

    def after(self, generation: int) -> list[Commit]:
        """The commits past a generation, oldest first."""
        return [commit for number, commit in self._commits if number > generation]

    def up_to(self, generation: int) -> Backlog:
        """A backlog of the commits up to a generation alone; readers keep this one until they are given the other."""
        return Backlog(pair for pair in self._commits if pair[0] <= generation)

    def first(self) -> tuple[int, Commit] | None:
        """The oldest commit and its generation."""
        return self._commits[0] if self._commits else None

    def last(self) -> int:
        """The generation of the newest commit, or 0 when there is none."""
        return self._commits[-1][0] if self._commits else 0

    def done(self) -> None:
        """Lets the oldest commit go: its files stand. Interrupted, it can be done again."""
        for change in self._commits[0][1]:
            if change.kind is ChangeKind.APPEND_EVENTS:
                coming = self._events[change.name]
                if coming and coming[0][1] is change:
                    coming.popleft()
            else:
                table = self._table(change.kind)
                if (newest := table.get(change.name)) is not None and newest[1] is change:
                    del table[change.name]
        self._commits.popleft()

    def section(self, kbid: str, up_to: int) -> FileChange | None:
        """The newest change of a section's file up to a generation, or None when the file itself is right."""
        return _newest(self._sections.get(kbid), up_to)

    def manifest(self, docid: str, up_to: int) -> FileChange | None:
        """The newest change of a manifest up to a generation, or None when the file itself is right."""
        return _newest(self._manifests.get(docid), up_to)

    def is_outdated(self, generation: int, change: FileChange, up_to: int) -> bool:
        """Whether a later commit, up to a generation, changes the whole file that a commit's change makes."""
        if change.kind is ChangeKind.APPEND_EVENTS:
            return False
        newest = _last(self._table(change.kind).get(change.name), up_to)
        return newest is not None and newest[0] > generation

    def events(self, name: str, up_to: int) -> list[FileChange]:
        """What is to be appended to an events file, in order. Only under the store's lock."""
        return [change for generation, change in self._events.get(name, ()) if generation <= up_to]

    def sections(self, up_to: int) -> list[FileChange]:
        """The newest change up to a generation of each section's file that is not right."""
        return [change for waiting in list(self._sections.values()) if (change := _newest(waiting, up_to))]

    def manifests(self, up_to: int) -> list[FileChange]:
        """The newest change up to a generation of each manifest that is not right."""
        return [change for waiting in list(self._manifests.values()) if (change := _newest(waiting, up_to))]

    def event_names(self, up_to: int) -> list[str]:
        """The events files that have appends to come. Only under the store's lock."""
        return [name for name in self._events if self.events(name, up_to)]

    def _place(self, generation: int, change: FileChange) -> None:
        if change.kind is ChangeKind.APPEND_EVENTS:
            self._events.setdefault(change.name, deque()).append((generation, change))
        else:
            table = self._table(change.kind)
            table[change.name] = (generation, change, table.get(change.name))

    def _table(self, kind: ChangeKind) -> dict[str, _Waiting]:
        is_section = kind in (ChangeKind.PUT_SECTION, ChangeKind.REMOVE_SECTION)
        return self._sections if is_section else self._manifests


def _newest(waiting: _Waiting | None, up_to: int) -> FileChange | None:
    last = _last(waiting, up_to)
    return None if last is None else last[1]


def _last(waiting: _Waiting | None, up_to: int) -> _Waiting | None:
    while waiting is not None and waiting[0] > up_to:
        waiting = waiting[2]
    return waiting
