"""Ids: kbids and their 26 characters, docids that are safe as file names, ids that sort by time."""

from __future__ import annotations

import re
import secrets
import unicodedata
from functools import lru_cache
from hashlib import sha256

from kbdb.errors import InvalidIdError

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32, lower case: digit i stands for five bits of value i."""

KBID_BYTES = 16
KBID_LENGTH = 26
DOCID_PATTERN = "[a-z0-9][a-z0-9-]{0,79}"
SLUG_LENGTH = 40
"""Longest readable part of a docid; with its hash, path and suffix it stays far below every file system's limit."""

DOCID_HASH_LENGTH = 10
"""50 bits: among a million sources of one slug, two share a docid with a chance of 1 in 2000."""

_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
_TO_DIGITS = str.maketrans(ALPHABET, "0123456789abcdefghijklmnopqrstuv")
_DIGITS = bytes.maketrans(ALPHABET.encode(), b"0123456789abcdefghijklmnopqrstuv")
_KBID = re.compile(f"[{ALPHABET}]{{{KBID_LENGTH - 1}}}[048cgmrw]")
_DOCID = re.compile(DOCID_PATTERN)
_NOT_SLUG = re.compile("[^a-z0-9]+")
_WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10))]
)


def base32(data: bytes) -> str:
    """Crockford base32 of the bytes, big-endian, zero bits added up to the last character, no padding."""
    pairs = (len(data) * 8 + 9) // 10
    number = int.from_bytes(data, "big") << (pairs * 10 - len(data) * 8)
    text = "".join([_PAIRS[number >> shift & 1023] for shift in range(pairs * 10 - 10, -1, -10)])
    return text[: (len(data) * 8 + 4) // 5]


def kbid_encode(raw: bytes) -> str:
    """The 26 characters of a kbid.

    Raises:
        InvalidIdError: not 16 bytes.
    """
    if len(raw) != KBID_BYTES:
        raise InvalidIdError(f"a kbid is {KBID_BYTES} bytes, not {len(raw)}")
    return base32(raw)


def is_kbid_of(written: bytes, raw: bytes) -> bool:
    """Whether 26 characters of the alphabet are what ``kbid_encode`` makes of 16 bytes."""
    return int(written.translate(_DIGITS), 32) == int.from_bytes(raw, "big") << 2


@lru_cache(maxsize=1024)
def kbid_decode(kbid: str) -> bytes:
    """The 16 bytes of a kbid; their order is the order of the texts.

    Raises:
        InvalidIdError: not a kbid.
    """
    if not is_kbid(kbid):
        raise InvalidIdError(
            f"not a kbid: {kbid!r}",
            f"a kbid is {KBID_LENGTH} characters of {ALPHABET}, the last one of 048cgmrw",
        )
    return kbid_bytes(kbid)


def kbid_bytes(kbid: str) -> bytes:
    """The same of what is known to be a kbid."""
    return (int(kbid.translate(_TO_DIGITS), 32) >> 2).to_bytes(KBID_BYTES, "big")


def is_kbid(text: str) -> bool:
    """Whether the text is a kbid in its one spelling."""
    return _KBID.fullmatch(text) is not None


def is_id(text: str, length: int) -> bool:
    """Whether the text is this many characters of the base32 alphabet."""
    return len(text) == length and set(text) <= set(ALPHABET)


def is_docid(text: str) -> bool:
    """Whether the text can name a document: the docid pattern, and no device name of Windows."""
    return _DOCID.fullmatch(text) is not None and text not in _WINDOWS_DEVICES


def check_docid(text: str) -> str:
    """Gives the docid back.

    Raises:
        InvalidIdError: not a docid; the hint says what one looks like.
    """
    if not is_docid(text):
        raise InvalidIdError(
            f"not a docid: {text!r}",
            "a docid is lower-case letters, digits and hyphens, at most 80, such as notes-gfgv3008dt, and no device"
            " name of Windows such as con or com1; search shows the docid of each hit",
        )
    return text


def slug(readable: str) -> str:
    """At most 40 lower-case letters, digits and inner hyphens, all ASCII, that recall the text; ``doc`` for none."""
    plain = readable.lower()
    if not readable.isascii():
        decomposed = unicodedata.normalize("NFKD", readable.casefold())
        plain = "".join(character for character in decomposed if not unicodedata.combining(character)).lower()
    words = _NOT_SLUG.sub("-", plain).strip("-")
    return words[:SLUG_LENGTH].rstrip("-") or "doc"


def docid_for(source_identity: str, readable: str) -> str:
    """The docid of a source.

    Args:
        source_identity: what tells the source from others: its path relative to the database's folder, URL, or title.
        readable: a file name or title, for people; the slug is made from it.
    """
    digest = sha256(b"kbdb docid 1\n" + source_identity.encode("utf-8", "surrogatepass")).digest()
    return f"{slug(readable)}-{base32(digest[:DOCID_HASH_LENGTH])[:DOCID_HASH_LENGTH]}"


def new_time_id(milliseconds: int) -> str:
    """A new id of 26 characters that sorts by time: 48 bits of milliseconds since 1970, then 80 random bits."""
    return base32(milliseconds.to_bytes(6, "big") + secrets.token_bytes(10))


def new_random_id(length: int) -> str:
    """A new id of this many random characters of the base32 alphabet, five bits each."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
