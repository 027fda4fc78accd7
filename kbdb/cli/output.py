"""The only place where commands write: text, JSON and raw bytes to stdout, errors to stderr.

Text is encoded here, so that no file name and no locale can make printing fail; a reader that went away
(``kbdb list | head``) ends the output quietly and leaves the exit code alone.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, TextIO

from kbdb.cli.exits import Exit
from kbdb.cli.render.paper import Paper
from kbdb.errors import KbdbError, StorageError

_SURROGATE = re.compile("[\ud800-\udfff]")


def write_text(text: str) -> None:
    """Writes text for people; what the terminal's encoding lacks is written as a backslash escape."""
    _write(sys.stdout, text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))


def write_json(value: Mapping[str, Any]) -> None:
    """Writes one JSON object and a newline, as UTF-8 whatever the locale; indented on a terminal.

    What is not Unicode in a path becomes U+FFFD: strict readers refuse a lone surrogate, escaped or not.
    """
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    _write(sys.stdout, _SURROGATE.sub("\ufffd", text).encode() + b"\n")


def write_bytes(data: bytes) -> None:
    """Writes bytes as they are."""
    _write(sys.stdout, data)


def write_error(error: KbdbError) -> None:
    """Tells an error in one plain line on stderr, and what to do about it in a second."""
    paper = Paper.for_stream(sys.stderr)
    write_note(f"{paper.paint('error:', 'bad')} {paper.plain(error.message)}")
    if error.hint:
        write_note(f"{paper.paint('hint:', 'dim')} {paper.plain(error.hint)}")


def write_note(line: str) -> None:
    """Writes one line to stderr."""
    _write(sys.stderr, f"{line}\n".encode(sys.stderr.encoding or "utf-8", "backslashreplace"))


def _write(stream: TextIO, data: bytes) -> None:
    try:
        with _whole_answers():
            stream.flush()
            left = memoryview(data)
            while left:  # unbuffered, a write that a signal interrupts ends early
                left = left[stream.buffer.write(left) :]
            stream.buffer.flush()
    except BrokenPipeError:
        _drop_output(stream)
    except OSError as error:
        _drop_output(stream)
        name = "standard error" if stream is sys.stderr else "standard output"
        raise StorageError(f"cannot write to {name}: {error.strerror}") from error


@contextmanager
def _whole_answers() -> Iterator[None]:
    """Lets the first Ctrl-C wait until what is being written is; the second cuts it short. No error follows either."""
    interrupted = False

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        raise SystemExit(Exit.INTERRUPTED)


def _drop_output(stream: TextIO) -> None:
    """Sends what still follows nowhere, so that neither it nor the interpreter's last flush fails again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
