"""A database with a daemon, and the server over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_fixtures import daemon, root, runtime  # noqa: F401
from daemons import Daemon

from kbdb.client import Client
from kbdb.mcp.server import KbdbServer

GUIDE = """\
---
title: Orchard guide
description: How to keep fruit.
tags: [fruit, cellar]
---

# Apples

Apples keep in a cool cellar until spring. See [pears](#pears).

## Pressing

Press the apples within a day, then boil the juice.

# Pears

Pears ripen off the tree.
"""


@pytest.fixture
def server(daemon: Daemon) -> Iterator[KbdbServer]:  # noqa: F811
    """Over a new database, with all tools."""
    made = KbdbServer(str(daemon.root), tools="all")
    yield made
    made.close()


@pytest.fixture
def kb(daemon: Daemon) -> Iterator[Client]:  # noqa: F811
    """The same database, to prepare it."""
    with Client(daemon.root) as client:
        yield client


@pytest.fixture
def guide(kb: Client, tmp_path: Path) -> str:
    """The docid of a learned guide."""
    path = tmp_path / "guide.md"
    path.write_text(GUIDE, encoding="utf-8")
    return kb.learn([path]).documents[0].docid


@pytest.fixture
def client(kb: Client) -> Client:
    """The same."""
    return kb
