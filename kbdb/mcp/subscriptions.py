"""Subscriptions: the open ``subscriptions/listen`` requests, by which clients without a session hear of changes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kbdb.mcp.messages import Id, notification
from kbdb.mcp.registry import InvalidParamsError

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

LISTS = {"toolsListChanged": "tools", "promptsListChanged": "prompts", "resourcesListChanged": "resources"}
"""The filter's names of the lists."""

RESOURCES = "resourceSubscriptions"

MOST = 32
"""Requests that listen at once: a host has one, or one for each of its windows."""

MOST_URIS = 1000
"""Resources that one of them, or a session, listens to."""

MAX_URI = 2048
"""Characters of the name of such a resource; ours are much shorter."""


class Subscriptions:
    """All that is listened to.

    Args:
        announces: of what changes there is news at all (``Registry.announces``).
    """

    def __init__(self, announces: Collection[str]) -> None:
        self._announces = announces
        self._filters: dict[Id, dict[str, Any]] = {}

    def has(self, id: Id) -> bool:
        """Whether a request of this id listens."""
        return id in self._filters

    def open(self, id: Id, wanted: Any) -> bytes:
        """Begins to listen; gives the acknowledgement, which names what is granted.

        Args:
            id: of the request.
            wanted: its filter.

        Raises:
            InvalidParamsError: the filter holds something of the wrong kind, or too much; or too many listen already.
        """
        if len(self._filters) >= MOST:
            raise InvalidParamsError(f"{MOST} requests listen already: cancel one of them first")
        if not isinstance(wanted, dict):
            raise InvalidParamsError("'notifications' must be an object")
        granted: dict[str, Any] = {}
        for name, change in LISTS.items():
            flag = wanted.get(name, False)
            if not isinstance(flag, bool):
                raise InvalidParamsError(f"{name!r} must be true or false")
            if flag and change in self._announces:
                granted[name] = True
        uris = wanted.get(RESOURCES)
        if uris is not None and not (isinstance(uris, list) and all(isinstance(uri, str) for uri in uris)):
            raise InvalidParamsError(f"{RESOURCES!r} must be a list of strings")
        if uris and (len(uris) > MOST_URIS or max(map(len, uris)) > MAX_URI):
            raise InvalidParamsError(f"{RESOURCES!r} holds at most {MOST_URIS} URIs, of at most {MAX_URI} characters")
        if uris and "resource" in self._announces:
            granted[RESOURCES] = uris
        self._filters[id] = granted
        return _told(id, "notifications/subscriptions/acknowledged", {"notifications": granted})

    def close(self, id: Id) -> None:
        """Listens no more; nothing happens where nobody did."""
        self._filters.pop(id, None)

    def told(self, change: str, uri: str | None) -> bytes:
        """The lines that tell everybody who listens of a change."""
        if change == "resource":
            return b"".join(
                _told(id, "notifications/resources/updated", {"uri": uri})
                for id, granted in self._filters.items()
                if uri in granted.get(RESOURCES, ())
            )
        (name,) = (name for name, listed in LISTS.items() if listed == change)
        method = f"notifications/{change}/list_changed"
        return b"".join(_told(id, method, {}) for id, granted in self._filters.items() if name in granted)


def _told(id: Id, method: str, params: dict[str, Any]) -> bytes:
    return notification(method, {"_meta": {SUBSCRIPTION: id}, **params})
