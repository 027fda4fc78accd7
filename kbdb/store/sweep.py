"""Clears away what writes that never finished left behind: ``*.tmp`` files, which nothing reads."""

from __future__ import annotations

from kbdb.paths import Layout
from kbdb.store import files


def sweep(layout: Layout, *, truth: bool) -> None:
    """Removes temporary files.

    Args:
        layout: the database.
        truth: whether to look among sections, manifests and events too, which costs a look into each of their
            folders. Only commits that the journal still holds can have left anything there.
    """
    folders = [layout.root, layout.indexes, *(layout.indexes / name for name in files.names(layout.indexes))]
    if truth:
        folders += [layout.documents, layout.events, *(layout.sections / n for n in files.names(layout.sections))]
    for folder in folders:
        if folder.is_dir():
            for name in files.names(folder):
                if name.endswith(files.TMP_SUFFIX):
                    files.remove(folder / name, point="tmp")
