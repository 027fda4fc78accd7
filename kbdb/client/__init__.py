"""The client layer: finds or starts the daemon of a database and calls its methods."""

from kbdb.client.client import Client

__all__ = ["Client"]
