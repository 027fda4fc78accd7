"""Commits whose files are not written yet, and what reading must see of them.

Holds commits from ``Store.append`` until their files stand: across the journal's sync, and longer when the disk is
full. The owner's thread changes it under the store's lock; other threads may look things up at any time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from kbdb.store.journal import ChangeKind, Commit, FileChange


class Backlog:
    """Numbered commits, oldest first, with the newest change of each file at hand.

    Args:
        commits: (generation, commit), oldest first.
    """

    def __init__(self, commits: Iterable[tuple[int, Commit]] = ()) -> None:
        self._commits: deque[tuple[int, Commit]] = deque()
        self._sections: dict[str, FileChange] = {}
        self._manifests: dict[str, FileChange] = {}
        self._events: dict[str, deque[FileChange]] = {}
        for generation, commit in commits:
            self.add(generation, commit)

    def add(self, generation: int, commit: Commit) -> None:
        """Takes in the commit that makes ``generation``, one more than the last."""
        self._commits.append((generation, commit))
        for change in commit:
            self._place(change)

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
                if coming and coming[0] is change:
                    coming.popleft()
            else:
                table = self._table(change.kind)
                if table.get(change.name) is change:
                    del table[change.name]
        self._commits.popleft()

    def section(self, kbid: str) -> FileChange | None:
        """The newest change of a section's file, or None when the file itself is right."""
        return self._sections.get(kbid)

    def manifest(self, docid: str) -> FileChange | None:
        """The newest change of a manifest, or None when the file itself is right."""
        return self._manifests.get(docid)

    def events(self, name: str) -> list[FileChange]:
        """What is to be appended to an events file, in order. Only under the store's lock."""
        return list(self._events.get(name, ()))

    def sections(self) -> list[FileChange]:
        """The newest change of each section's file that is not right."""
        return list(self._sections.values())

    def manifests(self) -> list[FileChange]:
        """The newest change of each manifest that is not right."""
        return list(self._manifests.values())

    def event_names(self) -> list[str]:
        """The events files that have appends to come. Only under the store's lock."""
        return [name for name, changes in self._events.items() if changes]

    def _place(self, change: FileChange) -> None:
        if change.kind is ChangeKind.APPEND_EVENTS:
            self._events.setdefault(change.name, deque()).append(change)
        else:
            self._table(change.kind)[change.name] = change

    def _table(self, kind: ChangeKind) -> dict[str, FileChange]:
        is_section = kind in (ChangeKind.PUT_SECTION, ChangeKind.REMOVE_SECTION)
        return self._sections if is_section else self._manifests
