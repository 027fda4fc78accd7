"""From bytes as they come to whole lines of a bounded length; a line that is too long is passed over."""

from __future__ import annotations

MAX_LINE = 8 << 20
"""Bytes of the longest line. A client that sends more is told so; nobody fills our memory from outside."""


class LineReader:
    r"""Collects bytes and gives back complete lines, without ``\n`` or ``\r\n``; empty ones are left out.

    Args:
        limit: bytes of the longest line.
    """

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._length = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """Takes bytes in, however they are divided.

        Returns:
            The lines that are complete now; None in the place of one that is too long, as soon as that is known.
        """
        lines: list[bytes | None] = []
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._add(piece, lines)
            if not self._skipping and (line := b"".join(self._pieces).rstrip(b"\r")).strip():
                lines.append(line)
            self._pieces, self._length, self._skipping = [], 0, False
        self._add(rest, lines)
        return lines

    def _add(self, piece: bytes, lines: list[bytes | None]) -> None:
        if self._skipping or not piece:
            return
        self._length += len(piece)
        if self._length > self._limit:
            self._pieces, self._skipping = [], True
            lines.append(None)
        else:
            self._pieces.append(piece)
