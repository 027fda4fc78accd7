"""The daemon's log: a file beside its socket, rotated, with what a person looking for a fault needs."""

from __future__ import annotations

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

from kbdb import platform

MAX_BYTES = 1 << 20
BACKUPS = 2
FORMAT = "%(asctime)s %(process)d %(levelname)s %(message)s"


def log_path(root: Path) -> Path:
    """The log of the daemon of a database."""
    return platform.runtime_dir() / f"kbdb-{platform.context_id(root)}.log"


def start_log(path: Path) -> None:
    """Sends everything that is logged to the log file, and to a terminal where there is one."""
    handlers: list[logging.Handler] = [
        RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", errors="backslashreplace")
    ]
    if sys.stderr is not None and sys.stderr.isatty():
        handlers.append(logging.StreamHandler())
    logging.basicConfig(level=logging.INFO, format=FORMAT, handlers=handlers)
