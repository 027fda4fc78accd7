"""A disk that forgets: replays a trace of file operations and says what a power cut may leave of them.

What POSIX promises is kept and nothing more: a file's bytes are sure after the file was synced, a folder's entries
after the folder was. Whatever is unsynced may be there, in part, or not, each write and each entry by itself, in any
order; one rename is one step. The trace comes from ``kbdb.store.trace``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kbdb.store import trace
from kbdb.store.trace import FileOperation


@dataclass(slots=True)
class Recording:
    """What happened under a folder: operations, and acknowledgements with the number of operations before them."""

    home: Path
    operations: list[FileOperation] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)

    def acknowledge(self) -> None:
        """Notes that the caller has been told that all so far is stored."""
        self.acknowledged.append(len(self.operations))

    def acknowledged_at(self, moment: int) -> int:
        """How many acknowledgements had been given when ``moment`` operations were done."""
        return sum(1 for at in self.acknowledged if at <= moment)


@contextmanager
def recording(home: Path) -> Iterator[Recording]:
    """Records the operations of a ``with`` block; all must be under ``home``."""
    record = Recording(home)
    with trace.observed(record.operations.append):
        yield record


@dataclass(slots=True, eq=False)
class File:
    """A file on the disk: bytes that are sure, and writes (offset, bytes) and cuts (length, None) that are not."""

    sure: bytes = b""
    unsure: list[tuple[int, bytes | None]] = field(default_factory=list)

    def now(self) -> bytes:
        """What a reader sees while the power is on."""
        return _changed(self.sure, self.unsure)

    def sync(self) -> None:
        self.sure, self.unsure = self.now(), []


@dataclass(slots=True, eq=False)
class Folder:
    """A folder: entries that are sure, and changes of entries (None: gone) that are not."""

    sure: dict[str, Node] = field(default_factory=dict)
    unsure: list[dict[str, Node | None]] = field(default_factory=list)

    def now(self) -> dict[str, Node]:
        return _entries(self.sure, self.unsure)

    def sync(self) -> None:
        self.sure, self.unsure = self.now(), []


Node = File | Folder


@dataclass(frozen=True, slots=True)
class Keeps:
    """Decides what of the unsure survives.

    Attributes:
        entries: for a folder's unsure changes, those that do.
        writes: for a file's unsure changes, those that do.
    """

    entries: Callable[[list[dict[str, Node | None]]], list[dict[str, Node | None]]]
    writes: Callable[[list[tuple[int, bytes | None]]], list[tuple[int, bytes | None]]]


NOTHING = Keeps(lambda entries: entries[:0], lambda writes: writes[:0])
EVERYTHING = Keeps(lambda entries: entries, lambda writes: writes)
NAMES_ONLY = Keeps(lambda entries: entries, lambda writes: writes[:0])
BYTES_ONLY = Keeps(lambda entries: entries[:0], lambda writes: writes)
LATEST_ONLY = Keeps(lambda entries: entries[-1:], lambda writes: writes[-1:])


def at_random(seed: int) -> Keeps:
    """Keeps each change or not; a write may survive in part, with zeros where the rest should be."""
    dice = random.Random(seed)
    odds = dice.choice((0.1, 0.5, 0.9))

    def entries(changes: list[dict[str, Node | None]]) -> list[dict[str, Node | None]]:
        return [change for change in changes if dice.random() < odds]

    def writes(changes: list[tuple[int, bytes | None]]) -> list[tuple[int, bytes | None]]:
        kept: list[tuple[int, bytes | None]] = []
        for offset, data in changes:
            if dice.random() >= odds:
                continue
            if data and dice.random() < 0.3:
                at = dice.randrange(len(data) + 1)
                data = data[:at] + bytes(len(data) - at) if dice.random() < 0.5 else data[:at]
            kept.append((offset, data))
        return kept

    return Keeps(entries, writes)


class Disk:
    """The disk under a folder, fed with operations in order.

    Args:
        home: the folder; its files and folders of now count as sure.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._root = _load(home)

    @classmethod
    def empty(cls, home: Path) -> Disk:
        """The disk before anything was under ``home``."""
        disk = cls.__new__(cls)
        disk._home, disk._root = home, Folder()
        return disk

    def apply(self, operations: Sequence[FileOperation]) -> None:
        """Does what was recorded."""
        for operation in operations:
            self._apply(operation)

    def cut(self, keeps: Keeps, target: Path) -> None:
        """Writes what the disk holds after a power cut into an empty folder."""
        _store(self._root, keeps, target)

    def _apply(self, operation: FileOperation) -> None:
        if operation.kind == "sync_all":
            _sync_all(self._root)
            return
        path = operation.path.relative_to(self._home)
        if operation.kind == "sync_folder":
            node = self._find(path)
            if isinstance(node, Folder):
                node.sync()
            return
        folder = self._find(path.parent)
        assert isinstance(folder, Folder)
        node = folder.now().get(path.name)
        if operation.kind in ("make_folder", "create", "rename", "remove"):
            _change_entries(folder, path.name, node, operation)
        elif isinstance(node, File):
            _change_file(node, operation)
        else:
            # A file that was removed before its sync: nothing left to make sure.
            assert operation.kind == "sync_file"

    def _find(self, path: Path) -> Node | None:
        node: Node | None = self._root
        for part in path.parts:
            node = node.now().get(part) if isinstance(node, Folder) else None
        return node


def _change_entries(folder: Folder, name: str, node: Node | None, operation: FileOperation) -> None:
    if operation.kind == "make_folder":
        folder.unsure.append({name: Folder()})
    elif operation.kind == "create" and isinstance(node, File):
        node.unsure.append((0, None))
    elif operation.kind == "create":
        folder.unsure.append({name: File()})
    elif operation.kind == "remove":
        folder.unsure.append({name: None})
    else:
        assert operation.target is not None
        assert node is not None
        assert operation.target.parent == operation.path.parent
        folder.unsure.append({name: None, operation.target.name: node})


def _change_file(node: File, operation: FileOperation) -> None:
    if operation.kind == "sync_file":
        node.sync()
    else:
        node.unsure.append((operation.offset, operation.data if operation.kind == "write" else None))


def _changed(data: bytes, changes: Sequence[tuple[int, bytes | None]]) -> bytes:
    content = bytearray(data)
    for offset, piece in changes:
        if piece is None:
            content = content[:offset].ljust(offset, b"\0")
        elif piece:
            content = content.ljust(offset, b"\0")
            content[offset : offset + len(piece)] = piece
    return bytes(content)


def _entries(sure: dict[str, Node], changes: Sequence[dict[str, Node | None]]) -> dict[str, Node]:
    entries: dict[str, Node | None] = {**sure}
    for change in changes:
        entries |= change
    return {name: node for name, node in entries.items() if node is not None}


def _sync_all(folder: Folder) -> None:
    folder.sync()
    for node in folder.sure.values():
        if isinstance(node, Folder):
            _sync_all(node)
        else:
            node.sync()


def _load(path: Path) -> Folder:
    return Folder({p.name: _load(p) if p.is_dir() else File(p.read_bytes()) for p in path.iterdir()})


def _store(folder: Folder, keeps: Keeps, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for name, node in _entries(folder.sure, keeps.entries(folder.unsure)).items():
        if isinstance(node, Folder):
            _store(node, keeps, target / name)
        else:
            (target / name).write_bytes(_changed(node.sure, keeps.writes(node.unsure)))
