"""Tests of many processes at one database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_fixtures import daemon, root, runtime
from household import Household, household

import kbdb

__all__ = ["daemon", "root", "runtime"]


@pytest.fixture
def home(root: Path) -> Iterator[Household]:
    """An empty database, and commands that go through its daemon."""
    kbdb.init(root).close()
    with household(root) as made:
        yield made
