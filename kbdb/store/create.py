"""Lays out a new database; killed at any point, it can be laid out again."""

from __future__ import annotations

import contextlib
import os

from kbdb.errors import CorruptError, DatabaseExistsError, KbdbError, StorageError
from kbdb.paths import Layout
from kbdb.store import files
from kbdb.store.catalog import decode_writer, encode_writer, new_writer, place_of
from kbdb.store.journal import Journal
from kbdb.store.lock import OwnerLock
from kbdb.store.sweep import sweep

WRITER_FILE = "writer.toml"

_GIT_IGNORE = b"/daemon\n/indexes/\n/journal.log\n/lock\n/writer.toml\n*.tmp\n"
_GIT_ATTRIBUTES = b"* -text\n"


def lay_out(layout: Layout, catalog: bytes) -> OwnerLock:
    """Makes an empty database and becomes its owner.

    The catalog comes last: a folder without one is no database, so a layout that did not finish is one to do again.

    Args:
        layout: where.
        catalog: the content of catalog.toml.

    Raises:
        DatabaseExistsError: there is one already.
        CorruptError: there are truth files without a catalog.
        StorageError: the system refused; what was made is gone again.
    """
    _refuse_existing(layout)
    is_new = not layout.root.exists()
    files.make_folder(layout.root, mode=0o700, sync=True)
    lock = OwnerLock(layout.lock)
    try:
        _refuse_existing(layout)
        _fill(layout, catalog)
    except BaseException as error:
        with contextlib.suppress(KbdbError):
            if not isinstance(error, (DatabaseExistsError, CorruptError)):
                _take_back(layout, is_new)
        lock.release()
        raise
    return lock


def writer_of(layout: Layout) -> str:
    """The id under which this copy of the database writes events: two copies never write the same file.

    A new one is drawn where ``writer.toml`` is missing, as in a fresh clone, unreadable, or made for another place.
    When it cannot be written, the id serves this process alone.
    """
    path, place = layout.root / WRITER_FILE, place_of(layout.root)
    data = files.read(path)
    if data is not None:
        with contextlib.suppress(CorruptError):
            known = decode_writer(data, path)
            if known.place == place:
                return known.id
    writer = new_writer(place)
    with contextlib.suppress(StorageError):
        files.write_atomic(path, encode_writer(writer), sync=True, point="writer")
    return writer.id


def _refuse_existing(layout: Layout) -> None:
    if layout.catalog.exists():
        raise DatabaseExistsError(f"{layout.root} is a database already", "open it, or choose another folder")
    for folder in (layout.sections, layout.documents, layout.events):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != files.TMP_SUFFIX:
                raise CorruptError(
                    f"{layout.root} holds {path.relative_to(layout.root)}, but no catalog.toml",
                    "restore catalog.toml from a copy, or move the folder away to begin a new database",
                )


def _fill(layout: Layout, catalog: bytes) -> None:
    with contextlib.suppress(OSError):
        os.chmod(layout.root, 0o700)
    sweep(layout, truth=True)
    for folder in (layout.sections, layout.documents, layout.events, layout.indexes):
        files.make_folder(folder)
    for name, content in ((".gitignore", _GIT_IGNORE), (".gitattributes", _GIT_ATTRIBUTES)):
        files.write_atomic(layout.root / name, content, sync=True, point="git")
    Journal.create(layout.journal, 0).close()
    files.write_atomic(layout.catalog, catalog, sync=True, point="catalog")


def _take_back(layout: Layout, is_new: bool) -> None:
    files.remove(layout.catalog, point="layout")
    if is_new:
        files.remove_folder(layout.root, point="layout")
        return
    for path in (layout.journal, layout.root / ".gitignore", layout.root / ".gitattributes"):
        files.remove(path, point="layout")
