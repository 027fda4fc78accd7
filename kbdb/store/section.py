"""Sections and their ``.sec`` files: a function of what they hold, and nothing else (grammar in README.md)."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from os import PathLike

from kbdb.errors import CorruptError, InvalidArgumentError, NotUtf8Error, TomlError
from kbdb.model.truth import SECTION_TYPES, Section
from kbdb.paths import FORMAT
from kbdb.store.fields import Fields
from kbdb.store.ids import KBID_BYTES, is_kbid, is_kbid_of, kbid_encode
from kbdb.store.toml import dumps, loads

FENCE = b"+++\n"

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_SHA256 = re.compile("[0-9a-f]{64}")


def kbid_of(section_type: str, type: str, title: str, content: bytes) -> str:
    """The kbid: the first 16 bytes of SHA-256 over the parts, each after its length, in base32.

    Same knowledge, same kbid, wherever it stands; different parts never give the same bytes to the hash.
    """
    return kbid_encode(_digest(section_type, type, title.encode(), content))


def _digest(section_type: str, type: str, title: bytes, content: bytes) -> bytes:
    lengths = len(title).to_bytes(8, "little"), len(content).to_bytes(8, "little")
    hashed = sha256(b"".join((_hashed_types(section_type, type), lengths[0], title, lengths[1])))
    hashed.update(content)
    return hashed.digest()[:KBID_BYTES]


@lru_cache(maxsize=256)
def _hashed_types(section_type: str, type: str) -> bytes:
    """How the bytes begin whose hash is a kbid."""
    parts = (section_type.encode(), type.encode())
    return b"kbdb section 1\n" + b"".join(_length(part) + part for part in parts)


def _length(part: bytes) -> bytes:
    return len(part).to_bytes(8, "little")


def make_section(section_type: str, type: str, title: str, content: bytes) -> Section:
    """A new section with its kbid.

    Raises:
        InvalidArgumentError: an unknown section type, no media type, or a title that UTF-8 cannot hold.
        NotUtf8Error: text content (``text/*``) that is not UTF-8; the message gives the offset.
    """
    if section_type not in SECTION_TYPES:
        raise InvalidArgumentError(f"section type {section_type!r}", f"use one of: {', '.join(SECTION_TYPES)}")
    if not is_media_type(type):
        raise InvalidArgumentError(f"type {type!r} is no media type", "write it like text/markdown, in lower case")
    try:
        title.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"title {title!r} holds half a character pair", "use whole characters") from error
    if is_text(type):
        _check_utf8(content)
    return Section(kbid_of(section_type, type, title, content), section_type, type, title, content)


@lru_cache(maxsize=256)
def is_media_type(text: str) -> bool:
    """Whether the text is a media type without parameters, in lower case."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def is_sha256(text: str) -> bool:
    """Whether the text is a SHA-256 in lower-case hex."""
    return _SHA256.fullmatch(text) is not None


def is_text(type: str) -> bool:
    """Whether content of this media type must be UTF-8."""
    return type.startswith("text/")


def encode_section(section: Section) -> bytes:
    """The bytes of the section's file."""
    header = dumps(
        {
            "format": FORMAT,
            "kbid": section.kbid,
            "section_type": section.section_type,
            "type": section.type,
            "title": section.title,
            "sha256": sha256(section.content).hexdigest(),
        }
    )
    return b"".join((FENCE, header, FENCE, section.content))


def decode_section(data: bytes, path: str | PathLike[str]) -> Section:
    """Reads a section's file and checks all of it: header, hash and kbid.

    Args:
        data: the file's bytes.
        path: the file, for messages.

    Raises:
        CorruptError: not the bytes that were written; the message gives path, what and where.
        UnsupportedFormatError: a newer kbdb wrote it.
    """
    return decode_plain(data) or _decode_checked(data, path)


def decode_plain(data: bytes) -> Section | None:
    """A sound section whose title needs no escapes, which nearly all are; None for any other, and for damaged ones."""
    header = _PLAIN.match(data)
    if header is None:
        return None
    written, types, head, digest = header.groups()
    known = _known_types(types)
    content = data[header.end() :]
    if known is None or sha256(content).hexdigest().encode() != digest:
        return None
    section_type, type, must_be_utf8 = known
    if not is_kbid_of(written, _digest(section_type, type, head, content)):
        return None
    try:
        if must_be_utf8 and not content.isascii():
            content.decode()
        return Section(written.decode(), section_type, type, head.decode(), content)
    except UnicodeDecodeError:
        return None


_PLAIN = re.compile(
    rb"\+\+\+\nformat = 1\n"
    rb'kbid = "([0-9a-hjkmnp-tv-z]{26})"\n'
    rb'(section_type = "[a-z]+"\ntype = "[!#-~]+"\n)title = "([^"\\\x00-\x1f\x7f]*)"\n'
    rb'sha256 = "([0-9a-f]{64})"\n\+\+\+\n'
)


@lru_cache(maxsize=256)
def _known_types(lines: bytes) -> tuple[str, str, bool] | None:
    """Section type and type of two lines of a header, and whether content must be UTF-8; None for what is neither."""
    _, section_type, _, type, _ = lines.decode().split('"')
    known = section_type in SECTION_TYPES and is_media_type(type)
    return (section_type, type, is_text(type)) if known else None


def _decode_checked(data: bytes, path: str | PathLike[str]) -> Section:
    """The same for any section, and what is wrong with one that is not sound."""
    end = data.find(b"\n" + FENCE, len(FENCE) - 1)
    if not data.startswith(FENCE) or end < 0:
        raise CorruptError(f"{path}: no header between +++ lines at offset 0", _HINT)
    start = end + 1 + len(FENCE)
    try:
        fields = Fields(loads(data[len(FENCE) : end + 1]), f"{path}: header")
    except TomlError as error:
        raise CorruptError(f"{path}: header, {error.message}", _HINT) from error
    fields.check_format()
    fields.check_keys("format", "kbid", "section_type", "type", "title", "sha256")
    section = Section(
        fields.text("kbid", is_kbid, "a kbid"),
        fields.text("section_type", SECTION_TYPES.__contains__, f"one of {', '.join(SECTION_TYPES)}"),
        fields.text("type", is_media_type, "a media type"),
        fields.text("title"),
        data[start:],
    )
    _check_content(section, fields.text("sha256", is_sha256, "64 hex digits"), start, path)
    return section


_HINT = "restore the file from a backup or from version control, or learn its source again"


def _check_content(section: Section, expected: str, start: int, path: str | PathLike[str]) -> None:
    found = sha256(section.content).hexdigest()
    if found != expected:
        raise CorruptError(f"{path}: content from offset {start} has SHA-256 {found}, header says {expected}", _HINT)
    kbid = kbid_of(section.section_type, section.type, section.title, section.content)
    if kbid != section.kbid:
        raise CorruptError(f"{path}: header says kbid {section.kbid}, but these bytes have {kbid}", _HINT)
    if is_text(section.type):
        try:
            _check_utf8(section.content)
        except NotUtf8Error as error:
            raise CorruptError(f"{path}: content from offset {start} is {error.message}", _HINT) from error


def _check_utf8(content: bytes) -> None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotUtf8Error(f"not UTF-8 at byte {error.start}", "convert it, or give it another type") from error
