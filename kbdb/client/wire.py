"""One connected socket as a stream of messages."""

from __future__ import annotations

import contextlib
import os
import socket

from kbdb import platform
from kbdb.errors import ProtocolError, TooLargeError
from kbdb.rpc.codes import MAX_LINE
from kbdb.rpc.lines import LineReader
from kbdb.rpc.messages import Message, decode, encode

CHUNK = 1 << 16


class HungUp(Exception):
    """The other side is gone.

    Attributes:
        unheard: whether it certainly has not read the last message, so that nothing came of it.
    """

    def __init__(self, *, unheard: bool) -> None:
        super().__init__("the daemon closed the connection")
        self.unheard = unheard


class Wire:
    """A connection to a daemon. All methods but ``close`` raise HungUp when it ends.

    Args:
        address: the socket's path.
        timeout_s: how long connecting, and each wait, may take; None for ever.

    Raises:
        OSError: nobody listens there.
        ProtocolError: somebody else does.
    """

    def __init__(self, address: str, timeout_s: float | None) -> None:
        self._reader = LineReader()
        self._ends_well = False
        self._timeout_s = timeout_s
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout_s)
            self._socket.connect(address)
            user = platform.peer_uid(self._socket)
            if user not in (None, os.geteuid()):
                raise ProtocolError(f"what listens at {address} belongs to another user (uid {user})")
        except BaseException:
            self._socket.close()
            raise

    def set_timeout(self, timeout_s: float | None) -> None:
        """How long each wait may take from now on."""
        if timeout_s != self._timeout_s:
            self._socket.settimeout(timeout_s)
            self._timeout_s = timeout_s

    def send(self, message: Message) -> None:
        """Sends a message.

        Raises:
            TooLargeError: it is longer than a line may be; nothing was sent.
        """
        line = encode(message)
        if len(line) > MAX_LINE:
            raise TooLargeError(
                f"the call has {len(line)} bytes, and {MAX_LINE} can be sent", "learn it as a file, by its path"
            )
        try:
            self._socket.sendall(line)
        except TimeoutError:
            raise
        except OSError as error:
            # The line's end did not leave, and a line without its end is never acted upon.
            raise HungUp(unheard=True) from error

    def send_if_room(self, message: Message) -> None:
        """Sends a short message if that can be done without waiting; else leaves it, and whatever is wrong, for later.

        Fit for a signal handler, as long as it does not interrupt ``send``.
        """
        with contextlib.suppress(OSError):
            self._socket.send(encode(message), socket.MSG_DONTWAIT)

    def receive(self) -> Message:
        """The next message; waits for it.

        Raises:
            ProtocolError: what came is none.
            TimeoutError: none came in time.
        """
        while (line := self._next_line()) is None:
            try:
                data = self._socket.recv(CHUNK)
            except TimeoutError:
                raise
            except OSError as error:
                raise HungUp(unheard=self._ends_well) from error
            if not data:
                raise HungUp(unheard=self._ends_well)
            self._reader.feed(data)
        return decode(line)

    def expect_end(self) -> None:
        """The daemon has said that it closes, and that it has not read the last message."""
        self._ends_well = True

    def hung_up(self) -> bool:
        """Whether the other side has closed already, as far as is known here; does not wait."""
        try:
            self._socket.settimeout(0)
            return not self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self._socket.settimeout(self._timeout_s)

    def shut(self) -> None:
        """Ends the connection for whoever uses it: a thread that waits in ``receive`` hears that nothing more comes.

        Not in a forked child, whose parent has the same connection.
        """
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the connection, which cancels what was asked; where a forked process has it, too, only lets go."""
        self._socket.close()

    def _next_line(self) -> bytes | None:
        try:
            return self._reader.next_line()
        except TooLargeError as error:
            raise ProtocolError(f"the daemon answered with {error.message}") from error
