"""The catalog, which says what database this is, and the writer, which says which clone (grammar in README.md).

Clones of one repository share ``catalog.toml``. ``writer.toml`` is never shared: it names the folder it was made
for, and a copy of the folder, or a clone without the file, gets a writer of its own.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from os import PathLike
from pathlib import Path

from kbdb.errors import CorruptError, TomlError
from kbdb.paths import FORMAT
from kbdb.store.events import is_writer
from kbdb.store.fields import RESTORE_FILE, Fields
from kbdb.store.ids import base32, is_id, new_random_id
from kbdb.store.times import is_seconds, seconds
from kbdb.store.toml import dumps, loads

ID_LENGTH = 26
SALT_LENGTH = 26
WRITER_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Catalog:
    """A database's identity.

    Attributes:
        format: version of all truth files.
        id: random; the same in all clones.
        salt: random; goes into text keys.
        created: UTC, with seconds.
    """

    format: int
    id: str
    salt: str
    created: str


@dataclass(frozen=True, slots=True)
class Writer:
    """One clone's name in events.

    Attributes:
        id: random; the stem of this clone's event files.
        place: the folder that the name was drawn for (``place_of``).
    """

    id: str
    place: str


def new_catalog(now: datetime) -> Catalog:
    """The catalog of a new database."""
    return Catalog(FORMAT, new_random_id(ID_LENGTH), new_random_id(SALT_LENGTH), seconds(now))


def encode_catalog(catalog: Catalog) -> bytes:
    """The bytes of ``catalog.toml``."""
    return dumps({"format": catalog.format, "id": catalog.id, "salt": catalog.salt, "created": catalog.created})


def decode_catalog(data: bytes, path: str | PathLike[str]) -> Catalog:
    """Reads ``catalog.toml``.

    Raises:
        UnsupportedFormatError: a newer kbdb made or upgraded the database.
        CorruptError: not a catalog.
    """
    fields = _fields(data, path)
    fields.check_format()
    fields.check_keys("format", "id", "salt", "created")
    return Catalog(
        fields.integer("format"),
        fields.text("id", lambda text: is_id(text, ID_LENGTH), f"{ID_LENGTH} base32 characters"),
        fields.text("salt", lambda text: is_id(text, SALT_LENGTH), f"{SALT_LENGTH} base32 characters"),
        fields.text("created", is_seconds, "a UTC time like 2026-01-31T12:00:00Z"),
    )


def new_writer(place: str) -> Writer:
    """A writer for the database folder at this place."""
    return Writer(new_random_id(WRITER_LENGTH), place)


def place_of(root: Path) -> str:
    """What tells one database folder from its copies: host, real path and, where there is one, the inode; hashed."""
    real = root.resolve()
    identity = "\0".join((socket.gethostname(), os.fspath(real), str(real.stat().st_ino)))
    return base32(sha256(identity.encode("utf-8", "surrogateescape")).digest()[:16])


def encode_writer(writer: Writer) -> bytes:
    """The bytes of ``writer.toml``."""
    return dumps({"format": FORMAT, "writer": writer.id, "place": writer.place})


def decode_writer(data: bytes, path: str | PathLike[str]) -> Writer:
    """Reads ``writer.toml``. One that cannot be read may be replaced: a new writer only starts a new event file.

    Raises:
        UnsupportedFormatError: a newer kbdb wrote it.
        CorruptError: not a writer file.
    """
    fields = _fields(data, path)
    fields.check_format()
    fields.check_keys("format", "writer", "place")
    return Writer(fields.text("writer", is_writer, "4 to 40 base32 characters"), fields.text("place"))


def _fields(data: bytes, path: str | PathLike[str]) -> Fields:
    try:
        return Fields(loads(data), f"{path}")
    except TomlError as error:
        raise CorruptError(f"{path}: {error.message}", RESTORE_FILE) from error
