"""kbdb: a second brain for AI agents and for the people who work with them.

``kbdb.open(path)`` gives a ``KnowledgeBase``; its methods are the verbs of the command line.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbdb.client.client import Client
    from kbdb.knowledge import KnowledgeBase

__version__ = "0.1.0"
# Here and nowhere else: the build reads it from this line, and a client tells it to the daemon with its first message,
# where asking the installed package's metadata would take longer than the search.

__all__ = ["__version__", "init", "open"]


def open(path: str | PathLike[str], create: bool = False) -> KnowledgeBase | Client:
    """Opens a database: in this process, which owns it until it is closed, or by the daemon that owns it already.

    Args:
        path: the folder that holds ``.kbdb``, or ``.kbdb`` itself.
        create: make the database where there is none.

    Raises:
        NotADatabaseError: there is none, and ``create`` is false.
        DatabaseLockedError: another process owns it, and is no daemon.
        DaemonStartError: a daemon owns it and does not answer.
        UnsupportedFormatError: a newer kbdb wrote it.
        CorruptError: its journal or catalog is damaged.
    """
    from kbdb.errors import DaemonLostError, DatabaseLockedError
    from kbdb.knowledge import KnowledgeBase
    from kbdb.paths import database_root

    root = database_root(path)
    if create and not (root / "catalog.toml").exists():
        return KnowledgeBase.create(root)
    try:
        return KnowledgeBase.open(root)
    except DatabaseLockedError:
        from kbdb.client.address import owner
        from kbdb.client.client import Client

        found = owner(root)
        try:
            # One that is coming or going does not answer yet or any more, and is waited for.
            return Client(root, start=found is not None and found.is_daemon)
        except DaemonLostError:
            pass
        if found is None:  # it went in between
            return KnowledgeBase.open(root)
        raise


def init(path: str | PathLike[str]) -> KnowledgeBase:
    """Makes a new database and opens it.

    Args:
        path: the folder that will hold ``.kbdb``, or ``.kbdb`` itself.

    Raises:
        DatabaseExistsError: there is one already.
    """
    from kbdb.knowledge import KnowledgeBase
    from kbdb.paths import database_root

    return KnowledgeBase.create(database_root(path))
