"""Events: changes of belief, one line of canonical JSON each, in files that only ever grow (grammar in README.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from os import PathLike

from kbdb.errors import CorruptError, InvalidArgumentError
from kbdb.model.truth import Event
from kbdb.store.fields import RESTORE_FILE, Fields
from kbdb.store.ids import ALPHABET, KBID_LENGTH, is_docid, is_id, is_kbid, new_time_id
from kbdb.store.times import is_instant, parse

KINDS = ("revise", "invalidate", "forget", "restore", "erase", "valid-until", "retire")
ACTORS = ("user", "agent", "import", "auto-capture", "kbdb")

_REQUIRED = ("id", "time", "writer", "actor", "kind")
_OPTIONAL = ("kbids", "docid", "successor", "until", "reason", "text_keys")
_LISTS = ("kbids", "text_keys")
_WITH_DOCID = ("forget", "restore", "retire")
_WITH_TEXT_KEYS = ("revise", "invalidate", "forget", "erase", "restore")
_WRITER = re.compile(f"[{ALPHABET}]{{4,40}}")
_TEXT_KEY = re.compile(r"[0-9a-z]{1,64}\$[0-9a-f]{64}")
_FILE_NAME = re.compile(rf"([{ALPHABET}]{{4,40}})-([0-9]{{4}}-(?:0[1-9]|1[0-2]))\.jsonl")


def new_event_id(time: str) -> str:
    """A new id for an event of this instant: it sorts by time, and two writers never draw the same."""
    moment = parse(time)
    return new_time_id(int(moment.timestamp()) * 1000 + moment.microsecond // 1000)


def event_file(writer: str, time: str) -> str:
    """The name of the file that an event of this writer and instant goes to."""
    return f"{writer}-{time[:7]}.jsonl"


def is_writer(text: str) -> bool:
    """Whether the text can name a writer."""
    return _WRITER.fullmatch(text) is not None


def is_event_file(name: str) -> bool:
    """Whether the file name is one that ``event_file`` gives."""
    return _FILE_NAME.fullmatch(name) is not None


def encode_event(event: Event) -> bytes:
    """The event's line, with its end. Empty optional values are left out.

    Raises:
        InvalidArgumentError: a value that decoding would refuse, so that nothing unreadable is ever written.
    """
    for fault in _faults(event):
        raise InvalidArgumentError(f"event {event.id!r}: {fault}")
    return _line(event)


def decode_events(data: bytes, path: str | PathLike[str]) -> list[Event]:
    """Reads an event file.

    Args:
        data: the file's bytes.
        path: the file, for messages.

    Raises:
        CorruptError: a line is not an event in its one spelling, or the last has no end; the message gives path, line
            and what.
    """
    lines = data.split(b"\n")
    events = [_decode_line(line, f"{path}: line {number}") for number, line in enumerate(lines[:-1], 1)]
    if lines[-1]:
        whole = len(data) - len(lines[-1])
        raise CorruptError(f"{path}: line {len(lines)}, from offset {whole}, does not end", RESTORE_FILE)
    return events


def _line(event: Event) -> bytes:
    values: dict[str, str | tuple[str, ...]] = {key: getattr(event, key) for key in _REQUIRED}
    values |= {key: getattr(event, key) for key in _OPTIONAL if getattr(event, key)}
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def _decode_line(line: bytes, where: str) -> Event:
    try:
        values = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CorruptError(f"{where}: not JSON ({error})", RESTORE_FILE) from error
    if not isinstance(values, dict):
        raise CorruptError(f"{where}: not a JSON object", RESTORE_FILE)
    fields = Fields(values, where)
    for key in values:
        if key not in _REQUIRED and key not in _OPTIONAL:
            raise fields.fault(f"unknown key {key!r}")
    texts = {key: fields.text(key) for key in (*_REQUIRED, *_OPTIONAL) if key not in _LISTS and _wanted(key, values)}
    lists = {key: fields.texts(key) for key in _LISTS if key in values}
    event = Event(**texts, **lists)  # type: ignore[arg-type]  # the keys were checked one by one
    for fault in _faults(event):
        raise fields.fault(fault)
    if _line(event) != line + b"\n":
        raise fields.fault("not written as kbdb writes it: key order, white space, escapes or empty values differ")
    return event


def _wanted(key: str, values: dict[str, object]) -> bool:
    return key in _REQUIRED or key in values


def _faults(event: Event) -> Iterator[str]:
    """What is wrong with the values; the first is enough for an error."""
    if not is_id(event.id, KBID_LENGTH):
        yield f"id is {event.id!r}, expected {KBID_LENGTH} base32 characters"
    if not is_instant(event.time):
        yield f"time is {event.time!r}, expected a UTC time like 2026-01-31T12:00:00.000000Z"
    if not is_writer(event.writer):
        yield f"writer is {event.writer!r}, expected 4 to 40 base32 characters"
    if event.actor not in ACTORS:
        yield f"actor is {event.actor!r}, expected one of {', '.join(ACTORS)}"
    if event.kind not in KINDS:
        yield f"kind is {event.kind!r}, expected one of {', '.join(KINDS)}"
    try:
        event.reason.encode("utf-8")
    except UnicodeEncodeError:
        yield "reason holds half a character pair"
    yield from _subject_faults(event)
    yield from _kind_faults(event)


def _subject_faults(event: Event) -> Iterator[str]:
    for kbid in event.kbids:
        if not is_kbid(kbid):
            yield f"kbids holds {kbid!r}, which is no kbid"
    if len(set(event.kbids)) != len(event.kbids):
        yield "kbids names a section twice"
    if event.docid and not is_docid(event.docid):
        yield f"docid is {event.docid!r}, which is no docid"
    if not _names_something(event):
        yield f"{event.kind} names no section"
    for key in event.text_keys:
        if not _TEXT_KEY.fullmatch(key):
            yield f"text_keys holds {key!r}, expected a salt, $ and 64 hex digits"


def _names_something(event: Event) -> bool:
    if event.kbids:
        return True
    return event.kind in _WITH_DOCID and (event.docid != "" or (event.kind == "restore" and event.text_keys != ()))


def _kind_faults(event: Event) -> Iterator[str]:
    kind = event.kind
    if event.docid and kind not in _WITH_DOCID:
        yield f"{kind} has no docid"
    if kind == "retire" and not event.docid:
        yield "retire names no document"
    if event.text_keys and kind not in _WITH_TEXT_KEYS:
        yield f"{kind} has no text_keys"
    if (event.successor != "") != (kind == "revise"):
        yield "a successor belongs to revise, and to nothing else"
    if event.successor and not is_kbid(event.successor):
        yield f"successor is {event.successor!r}, which is no kbid"
    if event.successor in event.kbids:
        yield "a section cannot succeed itself"
    if event.until and (kind != "valid-until" or not is_instant(event.until)):
        yield f"until is {event.until!r}, expected an instant, and only for valid-until"
