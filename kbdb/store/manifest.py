"""Manifests: what a document's source said, as one canonical TOML file (grammar in README.md)."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

from kbdb.errors import CorruptError, InvalidArgumentError, TomlError
from kbdb.model.truth import Manifest, Origin, Placement
from kbdb.paths import FORMAT
from kbdb.store.fields import RESTORE_FILE, Fields
from kbdb.store.ids import DOCID_PATTERN, is_docid, is_kbid
from kbdb.store.section import is_media_type, is_sha256
from kbdb.store.times import is_seconds
from kbdb.store.toml import dumps, loads

WHO = ("user", "agent", "import", "auto-capture")
"""Who may have brought a document."""

MAX_LEVEL = 6
_KEYS = (
    "format", "docid", "type", "title", "description", "tags", "subject",
    "who", "source", "sha256", "created", "updated", "head", "sections",
)  # fmt: skip
_SECTION_TYPES = (str, int, str, list, int, int, str)
_SECTION_KEYS = ("kbid", "level", "parent", "heading_path", "line", "line_end", "gap")


def encode_manifest(manifest: Manifest) -> bytes:
    """The bytes of the document's file.

    Raises:
        InvalidArgumentError: a value that decoding would refuse, so that nothing unreadable is ever written.
        TomlError: a text holds half a character pair.
    """
    for fault in _faults(manifest):
        raise InvalidArgumentError(f"manifest {manifest.docid!r}: {fault}")
    return dumps(
        {
            "format": FORMAT,
            "docid": manifest.docid,
            "type": manifest.type,
            "title": manifest.title,
            "description": manifest.description,
            "tags": manifest.tags,
            "subject": manifest.subject,
            "who": manifest.origin.who,
            "source": manifest.origin.source,
            "sha256": manifest.origin.sha256,
            "created": manifest.created,
            "updated": manifest.updated,
            "head": manifest.head,
            "sections": [
                {
                    "kbid": section.kbid,
                    "level": section.level,
                    "parent": section.parent,
                    "heading_path": section.heading_path,
                    "line": section.line,
                    "line_end": section.line_end,
                    "gap": section.gap,
                }
                for section in manifest.sections
            ],
        }
    )


def decode_manifest(data: bytes, path: str | PathLike[str]) -> Manifest:
    """Reads a document's file and checks that it agrees with itself.

    Args:
        data: the file's bytes.
        path: the file, for messages.

    Raises:
        CorruptError: not a manifest; the message gives path, what and where.
        UnsupportedFormatError: a newer kbdb wrote it.
    """
    try:
        fields = Fields(loads(data), f"{path}")
    except TomlError as error:
        raise CorruptError(f"{path}: {error.message}", RESTORE_FILE) from error
    fields.check_format()
    fields.check_keys(*_KEYS)
    manifest = Manifest(
        docid=fields.text("docid"),
        type=fields.text("type"),
        title=fields.text("title"),
        description=fields.text("description"),
        tags=fields.texts("tags"),
        subject=fields.text("subject"),
        origin=Origin(fields.text("who"), fields.text("source"), fields.text("sha256")),
        created=fields.text("created"),
        updated=fields.text("updated"),
        head=fields.text("head"),
        sections=_sound_placements(fields.values["sections"])
        or tuple(_placement(table) for table in fields.tables("sections")),
    )
    for fault in _faults(manifest):
        raise fields.fault(fault)
    return manifest


def _sound_placements(tables: object) -> tuple[Placement, ...]:
    """The placements where every table has the right keys and types; none where one has not."""
    placements = []
    for table in tables if isinstance(tables, list) else ():
        values = tuple(table.values()) if isinstance(table, dict) else ()
        if tuple(map(type, values)) != _SECTION_TYPES or tuple(table) != _SECTION_KEYS:
            return ()
        kbid, level, parent, path, line, line_end, gap = values
        if path and not all(isinstance(title, str) for title in path):
            return ()
        placements.append(Placement(kbid, level, parent, tuple(path), line, line_end, gap))
    return tuple(placements)


def _placement(table: Fields) -> Placement:
    table.check_keys(*_SECTION_KEYS)
    return Placement(
        kbid=table.text("kbid"),
        level=table.integer("level"),
        parent=table.text("parent"),
        heading_path=table.texts("heading_path"),
        line=table.integer("line"),
        line_end=table.integer("line_end"),
        gap=table.text("gap"),
    )


def _faults(manifest: Manifest) -> Iterator[str]:
    """What is wrong with the values; the first is enough for an error."""
    if not is_docid(manifest.docid):
        yield f"docid is {manifest.docid!r}, expected {DOCID_PATTERN}"
    if not is_media_type(manifest.type):
        yield f"type is {manifest.type!r}, expected a media type"
    if manifest.origin.who not in WHO:
        yield f"who is {manifest.origin.who!r}, expected one of {', '.join(WHO)}"
    if not is_sha256(manifest.origin.sha256):
        yield f"sha256 is {manifest.origin.sha256!r}, expected 64 hex digits"
    for name, time in (("created", manifest.created), ("updated", manifest.updated)):
        if not is_seconds(time):
            yield f"{name} is {time!r}, expected a UTC time like 2026-01-31T12:00:00Z"
    yield from _section_faults(manifest.sections)


def _section_faults(sections: tuple[Placement, ...]) -> Iterator[str]:
    """Parents stand before their children, sections in the order of their lines."""
    if _are_plainly_sound(sections):
        return
    seen: set[str] = set()
    line = 1
    for number, section in enumerate(sections, 1):
        where = f"sections {number}"
        if not is_kbid(section.kbid):
            yield f"{where}: kbid is {section.kbid!r}, expected a kbid"
        if not 0 <= section.level <= MAX_LEVEL:
            yield f"{where}: level is {section.level}, expected 0 to {MAX_LEVEL}"
        if section.parent and section.parent not in seen:
            yield f"{where}: parent {section.parent!r} is not listed before it"
        if section.line < line:
            yield f"{where}: line is {section.line}, expected {line} or more, where the section before it ends"
        if section.line_end < section.line:
            yield f"{where}: line_end is {section.line_end}, before line {section.line}"
        seen.add(section.kbid)
        line = section.line_end


def _are_plainly_sound(sections: tuple[Placement, ...]) -> bool:
    """The same rules without a word on what breaks them: a rebuild reads as many sections here as it indexes."""
    seen = {""}
    line = 1
    for section in sections:
        kbid, first, last = section.kbid, section.line, section.line_end
        if not is_kbid(kbid) or not 0 <= section.level <= MAX_LEVEL or section.parent not in seen:
            return False
        if first < line or last < first:
            return False
        seen.add(kbid)
        line = last
    return True
