"""A client of a real daemon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from daemon_fixtures import daemon, root, runtime
from daemons import Daemon

from kbdb.client import Client

__all__ = ["daemon", "root", "runtime"]


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """Of an empty database."""
    with Client(daemon.root) as made:
        yield made
