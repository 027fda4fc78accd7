"""The door of the ingest layer: bytes and a name in, a ``ParsedDocument`` out, whatever the bytes are."""

from __future__ import annotations

from kbdb.errors import NotUtf8Error, TooLargeError
from kbdb.ingest.document import ParsedDocument, Part
from kbdb.ingest.inline import cut_title, one_line
from kbdb.ingest.markdown import parse_markdown
from kbdb.ingest.media import MARKDOWN, PLAIN, base_name, is_text, media_type_of
from kbdb.ingest.plain import parse_plain

__all__ = ["MAX_SOURCE_BYTES", "ParsedDocument", "Part", "is_text", "media_type_of", "parse"]

MAX_SOURCE_BYTES = 64 * 1024 * 1024
"""One source may have this many bytes: it is held in memory a few times over, and travels through the journal whole."""

_WIDE_MARKS = ((b"\xff\xfe\0\0", "UTF-32LE"), (b"\xff\xfe", "UTF-16LE"), (b"\xfe\xff", "UTF-16BE"))


def parse(data: bytes, name: str, type: str | None = None, title: str = "") -> ParsedDocument:
    """Takes a source apart.

    Args:
        data: the source's bytes.
        name: file name or path, for media type and title; empty for text without one, such as standard input.
        type: media type when the caller knows it.
        title: the document's title when the caller knows it; headings keep theirs.

    Returns:
        For text, parts that with head and gaps re-join to the source exactly. For other media types one part with all
        the bytes (line 1 to 1); its content is not text.

    Raises:
        TooLargeError: more than ``MAX_SOURCE_BYTES``.
        NotUtf8Error: a text type, but the bytes are not UTF-8.
    """
    label = name or "the text"
    if len(data) > MAX_SOURCE_BYTES:
        raise TooLargeError(
            f"{label} has {len(data):,} bytes, more than the {MAX_SOURCE_BYTES:,} that one source may have",
            "split it into smaller ones; in a folder, exclude or a .kbdbignore file leaves it out",
        )
    media_type = type or media_type_of(name, data)
    title, base = one_line(title), one_line(base_name(name))
    if not is_text(media_type):
        return _whole(data, media_type, title or base)
    text = _decode(data, label)
    kind = media_type.partition(";")[0].strip().lower()
    if kind == MARKDOWN:
        return parse_markdown(text, _stem(base), title, media_type)
    return parse_plain(text, _stem(base) if kind == PLAIN else base, media_type, title)


def _whole(data: bytes, media_type: str, title: str) -> ParsedDocument:
    title = cut_title(title)
    parts = (Part(title, data, 0, -1, (), 1, 1, ""),) if data else ()
    return ParsedDocument(media_type, title, "", (), "", parts)


def _decode(data: bytes, label: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        encoding = next((name for mark, name in _WIDE_MARKS if data.startswith(mark)), None)
        guess = f"it looks like {encoding}; " if encoding else ""
        raise NotUtf8Error(
            f"{label} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
            f"{guess}convert it to UTF-8 (for example: iconv -f {encoding or 'LATIN1'} -t UTF-8), "
            "or give a media type that is not text",
        ) from error


def _stem(base: str) -> str:
    stem, dot, _ = base.rpartition(".")
    return stem if dot and stem else base
