"""From bytes as they come to whole lines: what both ends of a connection read with. Knows no sockets and no JSON."""

from __future__ import annotations

from kbdb.errors import TooLargeError
from kbdb.rpc.codes import MAX_LINE


class LineReader:
    r"""Collects bytes and gives back complete lines, without their ``\n``.

    After a line that is too long it is of no more use: where the next one begins is not looked for.

    Args:
        limit: bytes of the longest line.
    """

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._searched = 0
        self._broken = False

    @property
    def pending(self) -> int:
        """How many bytes wait for the end of their line; what is left when the other side closes was half a message."""
        return len(self._bytes)

    def feed(self, data: bytes) -> None:
        """Takes bytes in, however they are divided."""
        if not self._broken:
            self._bytes += data

    def next_line(self) -> bytes | None:
        """The next complete line, or None until there are more bytes.

        Raises:
            TooLargeError: the next line is longer than the limit. Its bytes are gone, and so are any after it.
        """
        end = self._bytes.find(b"\n", self._searched)
        length = len(self._bytes) if end < 0 else end
        if length > self._limit or self._broken:
            self._broken = True
            self._bytes = bytearray()
            self._searched = 0
            raise TooLargeError(f"a line of more than {self._limit} bytes", "send less in one call")
        if end < 0:
            self._searched = length
            return None
        line = bytes(memoryview(self._bytes)[:end])
        del self._bytes[: end + 1]
        self._searched = 0
        return line
