"""How large vectors.idx and its parts are (csrc/README.md, section 10)."""

from __future__ import annotations

import struct

MAGIC = b"KBVX"
VERSION = 1
HEADER = struct.Struct("<4sBHI")
KBID_BYTES = 16


def vectors_record_bytes(dimensions: int) -> int:
    """The bytes of one record."""
    return KBID_BYTES + 4 * dimensions


def vectors_file_bytes(dimensions: int, records: int) -> int:
    """The bytes of a whole file."""
    return HEADER.size + records * vectors_record_bytes(dimensions)
