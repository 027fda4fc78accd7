"""Files in memory, from what an engine writes."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from kbdb.index.api import Into, IntoFile
from kbdb.plan import SegmentFiles


def in_memory(write: Callable[[Into], None]) -> SegmentFiles:
    """The files that ``write`` puts into what it is called with."""
    files = [BytesIO() for _ in range(4)]

    def into(number: int, offset: int, data: bytes) -> None:
        files[number].seek(offset)
        files[number].write(data)

    write(into)
    terms, positions, corpus, references = (file.getvalue() for file in files)
    return SegmentFiles(terms, positions, corpus, references)


def file_in_memory(write: Callable[[IntoFile], None]) -> bytes:
    """The one file that ``write`` puts into what it is called with."""
    file = BytesIO()

    def into(offset: int, data: bytes) -> None:
        file.seek(offset)
        file.write(data)

    write(into)
    return file.getvalue()
