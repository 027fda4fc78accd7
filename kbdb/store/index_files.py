"""The index on disk: which folders of ``indexes/`` make it up, written so that a crash leaves the old set or the new.

``meta.toml`` names the folders, oldest first, the generation they show and what built them; it is renamed into place
last. Folders it does not name are leftovers. Those that hold vectors are written by ``vector_files``.
"""

from __future__ import annotations

import contextlib
import mmap
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kbdb.errors import CorruptError, StorageError, TomlError
from kbdb.index.api import Into
from kbdb.paths import Layout
from kbdb.store import files
from kbdb.store.toml import dumps, loads

FORMAT = 1
"""Of meta.toml; another is of another version of kbdb, and its index is stale."""

NAMES = ("terms.idx", "positions.idx", "corpus.dat", "references.idx")
REBUILD = "run: kbdb rebuild"

_NUMBER = re.compile(r"[1-9][0-9]*")

NOBODYS = -1
"""The fingerprint of an index that another version of kbdb described: nothing here has built it."""


@dataclass(frozen=True, slots=True)
class IndexMeta:
    """What ``indexes/meta.toml`` says.

    Attributes:
        generation: the last commit that the folders show.
        fingerprint: of what built them; ``built_with`` is the same, readable.
        folders: numbers of the segments' folders, oldest first.
        documents_changed: ``documents_changed`` when it was written: something else changed the manifests since then
            where it differs.
        left_out: kbids of stored sections that could not be read, and so are not in the index.
        events: how many events were known: files that hold fewer have lost some.
        vectors: numbers of the folders that hold vectors, oldest first.
    """

    generation: int
    fingerprint: int
    built_with: str
    folders: tuple[int, ...]
    documents_changed: int
    left_out: tuple[str, ...] = ()
    events: int = 0
    vectors: tuple[int, ...] = ()

    @property
    def all_folders(self) -> tuple[int, ...]:
        """Every folder that counts."""
        return (*self.folders, *self.vectors)


def read_meta(layout: Layout) -> IndexMeta | None:
    """The current meta, or None where no index was ever written; of another format, one that is ``NOBODYS``.

    Raises:
        CorruptError: the file is not what was written.
    """
    path = layout.index_meta
    data = files.read(path)
    if data is None:
        return None
    try:
        return _decode(loads(data, str(path)))
    except (TomlError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"{path} is not an index meta file: {error}", REBUILD) from error


def documents_changed(layout: Layout) -> int:
    """When a manifest was last made, replaced or removed, in nanoseconds; 0 where there is no folder for them."""
    try:
        return layout.documents.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StorageError(f"cannot read {layout.documents}: {error.strerror}") from error


def map_segment(layout: Layout, folder: int) -> tuple[mmap.mmap | bytes, ...]:
    """The four files of a segment, mapped read-only, in the order of ``NAMES``."""
    return tuple(map_file(layout.indexes / str(folder) / name) for name in NAMES)


def map_file(path: Path) -> mmap.mmap | bytes:
    """A file mapped read-only.

    Raises:
        CorruptError: it is missing.
        StorageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise CorruptError(f"{path} is missing", REBUILD) from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def folders(layout: Layout) -> list[int]:
    """The numbers of all folders, ascending, whether they count or not."""
    return sorted(int(name) for name in files.names(layout.indexes) if _NUMBER.fullmatch(name))


def missing(layout: Layout, folder: int | None) -> list[str]:
    """The names of a segment's files that are not on disk; none of one that is only in memory."""
    return [] if folder is None else [name for name in NAMES if not (layout.indexes / str(folder) / name).exists()]


def next_folder(layout: Layout) -> int:
    """A number no folder has."""
    return max(folders(layout), default=0) + 1


def make_next_folder(layout: Layout) -> int:
    """Makes a folder for a segment that is written while others are, so that none of them takes its number."""
    folder = next_folder(layout)
    files.make_folder(layout.indexes / str(folder), below=layout.root)
    return folder


def write_segment(
    layout: Layout, folder: int, write: Callable[[Into], None], *, sync: bool = True, paced: bool = False
) -> None:
    """Makes a segment's files in a folder that nothing names yet.

    Args:
        folder: its number.
        write: puts the files' bytes into what it is called with.
        sync: whether they are durable on return, as they must be before anything names them.
        paced: whether others write meanwhile, and should not wait for long.
    """
    path = layout.indexes / str(folder)
    files.make_folder(path, below=layout.root)
    with contextlib.ExitStack() as stack:
        written = [
            stack.enter_context(files.writing(path / name, sync=sync, point="index", paced=paced)) for name in NAMES
        ]
        write(lambda number, offset, data: written[number](offset, data))
    if sync:
        # Else a power cut could keep the meta file that names the folder and lose the folder.
        files.sync_folder(layout.indexes)


def write_meta(layout: Layout, meta: IndexMeta) -> None:
    """Makes ``meta`` the current set, durably."""
    value = {
        "format": FORMAT,
        "generation": meta.generation,
        "fingerprint": f"{meta.fingerprint:016x}",
        "built_with": meta.built_with,
        "folders": list(meta.folders),
        "documents_changed": meta.documents_changed,
        "left_out": list(meta.left_out),
        "events": meta.events,
        "vectors": list(meta.vectors),
    }
    files.make_folder(layout.indexes, below=layout.root)
    files.write_atomic(layout.index_meta, dumps(value), sync=True, point="meta")


def remove_segment(layout: Layout, folder: int) -> None:
    """Removes the folder of a segment that nothing names. One that cannot go now goes with a later ``sweep``."""
    with contextlib.suppress(StorageError):
        files.remove_folder(layout.indexes / str(folder), point="index")


def sweep(layout: Layout, keep: Sequence[int]) -> None:
    """Removes the folders of ``indexes/`` that the current meta does not name.

    Nothing reads them. One that cannot go now (read-only disk; on Windows, still mapped) goes another time.
    """
    for number in folders(layout):
        if number not in keep:
            remove_segment(layout, number)


def sizes(layout: Layout, folders: Sequence[int]) -> dict[str, int]:
    """Bytes on disk by file name, summed over the folders."""
    return {name: sum(_size(layout.indexes / str(n) / name) for n in folders) for name in NAMES}


def _decode(value: dict[str, object]) -> IndexMeta:
    form, vectors = value["format"], value.get("vectors", [])
    if not isinstance(form, int) or not isinstance(vectors, list):
        raise TypeError("format must be an integer, vectors a list")
    # Vectors can cost money: whatever becomes of the rest, they are not made anew without being asked.
    of_vectors = tuple(int(number) for number in vectors)
    if form != FORMAT:
        return IndexMeta(0, NOBODYS, f"format {form}", (), 0, vectors=of_vectors)
    generation, changed, events = value["generation"], value["documents_changed"], value["events"]
    folders, left_out = value["folders"], value["left_out"]
    if not isinstance(generation, int) or not isinstance(changed, int) or not isinstance(events, int):
        raise TypeError("generation, documents_changed and events must be integers")
    if not isinstance(folders, list) or not isinstance(left_out, list):
        raise TypeError("folders and left_out must be lists")
    fingerprint = int(str(value["fingerprint"]), 16)
    built_with, numbers = str(value["built_with"]), tuple(int(number) for number in folders)
    left = tuple(map(str, left_out))
    return IndexMeta(generation, fingerprint, built_with, numbers, changed, left, events, of_vectors)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
