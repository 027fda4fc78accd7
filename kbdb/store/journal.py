"""The journal: commits as redo records, durable with one sync; grammar in JOURNAL.md beside this file.

Knows frames and file changes, neither sections nor manifests; ``kbdb.store.store`` puts those in and takes them out,
``kbdb.store.files`` does the writing.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from kbdb.errors import CorruptError, KbdbError, StorageError, UnsupportedFormatError
from kbdb.store import files

MAGIC = b"KBJL"
VERSION = 1
FRAME_MAGIC = b"KBJF"

_HEADER = struct.Struct("<4sHHQ8s")
_FRAME = struct.Struct("<4sIQQI")
_PLACE = struct.Struct("<8sQ")
_CRC = struct.Struct("<I")
_COMMIT = struct.Struct("<I")
_CHANGE = struct.Struct("<BHQQ")
_NAME = re.compile(rb"[a-z0-9][a-z0-9._-]*")
_SALT_BYTES = 8

HEADER_BYTES = _HEADER.size + _CRC.size
FRAME_HEADER_BYTES = _FRAME.size + _CRC.size


class ChangeKind(IntEnum):
    """What a change does; the numbers stand in the file."""

    PUT_SECTION = 1
    PUT_MANIFEST = 2
    APPEND_EVENTS = 3
    REMOVE_SECTION = 4
    REMOVE_MANIFEST = 5


@dataclass(frozen=True, slots=True)
class FileChange:
    """One change of one truth file.

    Attributes:
        kind: what is done.
        name: kbid, docid, or the events file's name without its ending.
        data: the file's bytes, or the event lines; empty for removals.
        offset: where event lines begin in their file; else 0.
    """

    kind: ChangeKind
    name: str
    data: bytes = b""
    offset: int = 0


Commit = tuple[FileChange, ...]


class Journal:
    """The journal file, open for its owner. One thread at a time may use it.

    After ``StorageError`` from ``append`` the journal holds what it held before; when even that cannot be made sure,
    ``failure`` says why and every further call raises it.

    Attributes:
        generation: of the last commit that is durable here.
        start: of the last commit before it, which files and index are sure to show.
        failure: why the journal can no longer be used, or None.
    """

    def __init__(self, path: Path, file: files.AppendFile, salt: bytes, start: int, generation: int) -> None:
        self._path = path
        self._file = file
        self._salt = salt
        self.start = start
        self.generation = generation
        self.failure: StorageError | None = None

    @classmethod
    def create(cls, path: Path, generation: int) -> Journal:
        """Writes an empty journal, durably, over whatever is there."""
        header, salt = _encode_header(generation)
        files.write_atomic(path, header, sync=True, point="journal")
        return cls(path, files.AppendFile(path, point="journal"), salt, generation, generation)

    @classmethod
    def open(cls, path: Path) -> tuple[Journal, list[Commit]]:
        """Opens an existing journal and gives its commits, oldest first.

        A tail that no sync ever covered is cut off; what is left is made durable before it is returned.

        Raises:
            CorruptError: bytes that a sync had covered are damaged.
            UnsupportedFormatError: a newer kbdb wrote it.
        """
        length, start, salt, commits, end = _read(path)
        journal = cls(path, files.AppendFile(path, point="journal"), salt, start, start + len(commits))
        if length > HEADER_BYTES and not journal.read_only:
            journal._settle(end)
        return journal, commits

    @property
    def size(self) -> int:
        """The file's length in bytes, its header included."""
        return self._file.size

    def append(self, commits: Sequence[Commit]) -> None:
        """Adds commits as one frame and makes it durable: all of them or none."""
        self.require_usable()
        end, before = self._file.size, self.generation
        frame = _encode_frame(commits, self._salt, end, before + 1)
        try:
            self._file.append(frame)
            self._file.sync()
            self.generation = before + len(commits)
        except BaseException:
            self.generation = before
            self._take_back(end)
            raise

    def commits(self) -> list[Commit]:
        """The commits in the file, oldest first."""
        return _read(self._path)[3]

    def restart(self) -> None:
        """Begins an empty journal at the same generation; the files its commits made must be durable."""
        self.require_usable()
        header, salt = _encode_header(self.generation)
        try:
            # Windows does not rename over an open file.
            self._file.close()
            files.write_atomic(self._path, header, sync=True, point="journal")
            self._file, self._salt = files.AppendFile(self._path, point="journal"), salt
            self.start = self.generation
        except BaseException:
            self._reopen()
            raise

    @property
    def is_empty(self) -> bool:
        """Whether no commit is in it."""
        return self._file.size <= HEADER_BYTES

    @property
    def read_only(self) -> bool:
        """Whether the file may only be read."""
        return self._file.read_only

    def is_in_place(self) -> bool:
        """Whether the file still stands at its path."""
        return self._file.is_in_place()

    def require_usable(self) -> None:
        """Raises what ``failure`` says, if there is one."""
        if self.failure is not None:
            raise StorageError(self.failure.message, self.failure.hint)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _settle(self, end: int) -> None:
        if self._file.size != end:
            self._file.truncate(end)
        # A process that died between write and sync leaves a frame that only the page cache holds. Nothing may act
        # on it before it is durable.
        self._file.sync()

    def _take_back(self, end: int) -> None:
        """Undoes a failed append. Until that is durable the frame could come back, so a failure here is for good."""
        if self.read_only:
            return
        try:
            self._file.truncate(end)
            self._file.sync()
        except KbdbError as error:
            self._fail(error)
        except BaseException as interruption:
            self._fail(StorageError(f"interrupted while a failed write was undone ({interruption!r})"))
            raise

    def _reopen(self) -> None:
        """After a restart that failed: goes on with the old file if it is still there.

        A new file whose name may not be durable cannot be used: what is added to it could vanish with the name.
        """
        try:
            data = (files.read(self._path) or b"")[:HEADER_BYTES]
            if _decode_header(data, self._path)[1] == self._salt:
                self._file = files.AppendFile(self._path, point="journal")
            else:
                self._fail(StorageError(f"the folder of {self._path} could not be synced"))
        except KbdbError as error:
            self._fail(error)

    def _fail(self, error: KbdbError) -> None:
        self.failure = StorageError(
            f"{self._path} can no longer be trusted after a failed write: {error.message}",
            "close the database and open it again when the disk works; acknowledged commits are kept",
        )


def _read(path: Path) -> tuple[int, int, bytes, list[Commit], int]:
    """File length, generation at its start, salt, commits, and where the last good frame ends."""
    data = files.read(path) or b""
    start, salt = _decode_header(data, path)
    commits, end = _decode_frames(data, salt, start, path)
    return len(data), start, salt, commits, end


def _encode_header(generation: int) -> tuple[bytes, bytes]:
    salt = os.urandom(_SALT_BYTES)
    header = _HEADER.pack(MAGIC, VERSION, 0, generation, salt)
    return header + _CRC.pack(zlib.crc32(header)), salt


def _decode_header(data: bytes, path: Path) -> tuple[int, bytes]:
    if data[:4] != MAGIC or len(data) < HEADER_BYTES:
        raise _corrupt(path, 0, "is not a journal")
    _, version, _, generation, salt = _HEADER.unpack_from(data)
    if version > VERSION:
        raise UnsupportedFormatError(
            f"{path} has format {version}, this kbdb knows up to {VERSION}", "use a newer kbdb"
        )
    if zlib.crc32(data[: _HEADER.size]) != _CRC.unpack_from(data, _HEADER.size)[0]:
        raise _corrupt(path, 0, "has a damaged header")
    return generation, salt


def _encode_frame(commits: Sequence[Commit], salt: bytes, offset: int, generation: int) -> bytes:
    pieces: list[bytes] = []
    for commit in commits:
        pieces.append(_COMMIT.pack(len(commit)))
        for change in commit:
            name = change.name.encode("ascii")
            pieces += [_CHANGE.pack(change.kind, len(name), change.offset, len(change.data)), name, change.data]
    payload = b"".join(pieces)
    head = _FRAME.pack(FRAME_MAGIC, len(commits), generation, len(payload), zlib.crc32(payload))
    return head + _CRC.pack(_frame_crc(head, salt, offset)) + payload


def _frame_crc(head: bytes, salt: bytes, offset: int) -> int:
    """Ties a frame to its journal and place, so that bytes of other journals never pass for one."""
    return zlib.crc32(head, zlib.crc32(_PLACE.pack(salt, offset)))


@dataclass(frozen=True, slots=True)
class _FrameHeader:
    commits: int
    generation: int
    length: int
    crc: int


def _frame_header(data: bytes, offset: int, salt: bytes) -> _FrameHeader | None:
    """The frame header at ``offset``, or None when there is none."""
    head = data[offset : offset + _FRAME.size]
    if len(data) < offset + FRAME_HEADER_BYTES or head[:4] != FRAME_MAGIC:
        return None
    if _CRC.unpack_from(data, offset + _FRAME.size)[0] != _frame_crc(head, salt, offset):
        return None
    _, commits, generation, length, crc = _FRAME.unpack(head)
    return _FrameHeader(commits, generation, length, crc)


def _decode_frames(data: bytes, salt: bytes, generation: int, path: Path) -> tuple[list[Commit], int]:
    """All commits, and where the last good frame ends."""
    commits: list[Commit] = []
    offset = HEADER_BYTES
    while offset < len(data):
        header = _frame_header(data, offset, salt)
        start = offset + FRAME_HEADER_BYTES
        payload = data[start : start + header.length] if header else b""
        if header is None or len(payload) < header.length or zlib.crc32(payload) != header.crc:
            _require_torn_tail(data, offset, salt, path)
            break
        if header.generation != generation + len(commits) + 1:
            raise _corrupt(path, offset, f"has generation {header.generation} out of order")
        commits += _decode_payload(payload, header.commits, path, start)
        offset = start + header.length
    return commits, offset


def _require_torn_tail(data: bytes, bad: int, salt: bytes, path: Path) -> None:
    """Refuses a bad frame that has another one behind it.

    A frame is written only when all before it are durable, so a later frame's header proves that the bad one had
    been acknowledged. Without one, the bad frame is the tail of a write that no sync covered.
    """
    later = data.find(FRAME_MAGIC, bad + 1)
    while later >= 0:
        if _frame_header(data, later, salt) is not None:
            raise _corrupt(path, bad, f"has a damaged frame, and a good one behind it at byte {later}")
        later = data.find(FRAME_MAGIC, later + 1)


def _decode_payload(payload: bytes, count: int, path: Path, start: int) -> list[Commit]:
    commits: list[Commit] = []
    at = 0
    try:
        for _ in range(count):
            (changes,) = _COMMIT.unpack_from(payload, at)
            at += _COMMIT.size
            commit: list[FileChange] = []
            for _ in range(changes):
                change, at = _decode_change(payload, at)
                commit.append(change)
            commits.append(tuple(commit))
    except (struct.error, ValueError) as error:
        raise _corrupt(path, start + at, f"has a change that makes no sense ({error})") from error
    if at != len(payload):
        raise _corrupt(path, start + at, "has bytes after its last change")
    return commits


def _decode_change(payload: bytes, at: int) -> tuple[FileChange, int]:
    kind, name_length, offset, length = _CHANGE.unpack_from(payload, at)
    at += _CHANGE.size
    name = payload[at : at + name_length]
    data = payload[at + name_length : at + name_length + length]
    # Names become file names, so nothing but what the store writes is let through.
    if len(data) < length or not _NAME.fullmatch(name):
        raise ValueError(f"name {name[:40]!r}, {length} bytes")
    return FileChange(ChangeKind(kind), name.decode("ascii"), data, offset), at + name_length + length


def _corrupt(path: Path, offset: int, what: str) -> CorruptError:
    return CorruptError(
        f"{path} {what} (byte {offset})",
        f"restore {path.name} from a copy; or move it away to open the files as they are, and run: kbdb check",
    )
