"""The daemon's log: a file beside its socket, rotated, with what a person looking for a fault needs."""

from __future__ import annotations

import contextlib
import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from kbdb import platform

MAX_BYTES = 1 << 20
BACKUPS = 2
FORMAT = "%(asctime)s %(process)d %(levelname)s %(message)s"


def log_path(root: Path) -> Path:
    """The log of the daemon of a database."""
    return platform.log_path(platform.context_id(root))


def own_log() -> str:
    """Where this process logs since ``start_log``; empty before."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, RotatingFileHandler):
            return handler.baseFilename
    return ""


def last_lines(path: Path, count: int) -> list[str]:
    """The end of a log, from as many of its rotated files as that takes; what is not there has no lines."""
    lines: list[str] = []
    for suffix in ("", *(f".{number}" for number in range(1, BACKUPS + 1))):
        if len(lines) >= count:
            break
        with contextlib.suppress(FileNotFoundError):
            text = path.with_name(path.name + suffix).read_text(encoding="utf-8", errors="replace")
            lines = text.splitlines() + lines
    return lines[-count:]


def start_log(path: Path, *, to_stderr: bool) -> None:
    """Sends everything that is logged to the log file, and to stderr where that is not the log file itself."""
    handlers: list[logging.Handler] = [
        RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", errors="backslashreplace")
    ]
    if to_stderr:
        handlers.append(logging.StreamHandler())
    logging.basicConfig(level=logging.INFO, format=FORMAT, handlers=handlers)
