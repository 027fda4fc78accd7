"""Finds documents whose file is gone from a learned folder, and retires them when asked to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from kbdb.errors import CorruptError
from kbdb.knowledge.core import Core
from kbdb.knowledge.sources import is_gone
from kbdb.knowledge.tally import Tally
from kbdb.model.truth import Manifest
from kbdb.store.store import Change


def account_for_missing(core: Core, folders: Sequence[Path], prune: bool, who: str, tally: Tally) -> None:
    """Tells which live documents lost their file in one of the folders, and retires them with ``prune``."""
    missing = [manifest.docid for manifest in _documents_in(core, folders, tally) if _has_lost_its_file(core, manifest)]
    if not prune:
        tally.missing.extend(missing)
        return
    events = [core.event("retire", who, docid=docid, reason="source is gone") for docid in missing]
    if events:
        core.commit([Change(events=tuple(events))])
    tally.pruned.extend(missing)


def _documents_in(core: Core, folders: Sequence[Path], tally: Tally) -> Iterator[Manifest]:
    inside = [Path(os.path.abspath(folder)) for folder in folders]
    learned = {document.docid for document in tally.documents}
    for docid in core.store.manifest_ids() if inside else ():
        if docid in learned:
            continue
        try:
            manifest = core.store.read_manifest(docid)
        except CorruptError as error:
            tally.warnings.append(error.message)
            continue
        source = manifest.origin.source
        if not source or "://" in source:
            continue
        path = Path(os.path.abspath(core.store.layout.home / source))
        if any(path.is_relative_to(folder) for folder in inside):
            yield manifest


def _has_lost_its_file(core: Core, manifest: Manifest) -> bool:
    return core.document_is_live(manifest.docid) and is_gone(core.store.layout.home, manifest.origin.source)
