"""Leaves out what only a power cut would tell: a killed process loses nothing that the system has taken over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from kbdb import platform


@contextmanager
def without_syncs() -> Iterator[None]:
    """Makes syncing free for the length of a ``with`` block; fault points and traces stay as they are."""
    with (
        patch.object(platform, "sync_fd"),
        patch.object(platform, "fsync_dir"),
        patch.object(platform, "sync_files", return_value=False),
    ):
        yield
