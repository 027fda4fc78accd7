"""What one commit changes, and its form in the journal."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from kbdb.errors import CorruptError, KbdbError
from kbdb.model.truth import Event, Manifest, Section
from kbdb.store.events import decode_events, encode_event, event_file, is_event_file
from kbdb.store.ids import check_docid, is_docid, is_kbid, kbid_decode
from kbdb.store.journal import ChangeKind, Commit, FileChange
from kbdb.store.manifest import decode_manifest, encode_manifest
from kbdb.store.section import decode_section, encode_section


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit changes in the truth files, all of it or nothing.

    Attributes:
        sections: to store; one that is stored already gets its file written again.
        manifests: to create or replace.
        events: to append, each to the file of its writer and month.
        removed_sections: kbids whose files go; one that is not stored is fine.
        removed_documents: docids whose manifests go, likewise.
    """

    sections: tuple[Section, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    events: tuple[Event, ...] = ()
    removed_sections: tuple[str, ...] = ()
    removed_documents: tuple[str, ...] = ()


def encode_change(change: Change) -> Commit:
    """The change as file changes; the offsets of event lines are still to be set.

    Raises:
        KbdbError: something in it cannot be stored; nothing has happened yet.
    """
    lines: defaultdict[str, list[bytes]] = defaultdict(list)
    for event in change.events:
        lines[event_file(event.writer, event.time)].append(encode_event(event))
    for kbid in change.removed_sections:
        kbid_decode(kbid)
    return (
        *(FileChange(ChangeKind.PUT_SECTION, s.kbid, encode_section(s)) for s in change.sections),
        *(FileChange(ChangeKind.PUT_MANIFEST, check_docid(m.docid), encode_manifest(m)) for m in change.manifests),
        *(FileChange(ChangeKind.APPEND_EVENTS, name, b"".join(parts)) for name, parts in lines.items()),
        *(FileChange(ChangeKind.REMOVE_SECTION, kbid) for kbid in change.removed_sections),
        *(FileChange(ChangeKind.REMOVE_MANIFEST, check_docid(docid)) for docid in change.removed_documents),
    )


def decode_commit(commit: Commit, where: str) -> Change:
    """The change that a commit of the journal holds.

    Args:
        commit: its file changes.
        where: the journal's path, for messages.

    Raises:
        CorruptError: a name or content is not what the store writes.
    """
    of: dict[ChangeKind, list[FileChange]] = {kind: [] for kind in ChangeKind}
    for change in commit:
        if not _is_valid_name(change):
            raise CorruptError(f"{where} changes a file named {change.name!r}, which no {change.kind.name} can have")
        of[change.kind].append(change)
    try:
        return Change(
            tuple(decode_section(c.data, f"{where}: {c.name}") for c in of[ChangeKind.PUT_SECTION]),
            tuple(decode_manifest(c.data, f"{where}: {c.name}") for c in of[ChangeKind.PUT_MANIFEST]),
            tuple(e for c in of[ChangeKind.APPEND_EVENTS] for e in decode_events(c.data, f"{where}: {c.name}")),
            tuple(c.name for c in of[ChangeKind.REMOVE_SECTION]),
            tuple(c.name for c in of[ChangeKind.REMOVE_MANIFEST]),
        )
    except CorruptError:
        raise
    except KbdbError as error:
        raise CorruptError(f"{where} holds a file that makes no sense: {error.message}", error.hint) from error


def _is_valid_name(change: FileChange) -> bool:
    if change.kind is ChangeKind.APPEND_EVENTS:
        return is_event_file(change.name)
    is_section = change.kind in (ChangeKind.PUT_SECTION, ChangeKind.REMOVE_SECTION)
    return is_kbid(change.name) if is_section else is_docid(change.name)
