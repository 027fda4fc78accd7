"""Session: what a handshake settles, for as long as the process lives or until the next one."""

from __future__ import annotations

from typing import Any

from kbdb.mcp.calls import LEVELS, SILENT
from kbdb.mcp.messages import notification
from kbdb.mcp.methods import mapping, text
from kbdb.mcp.registry import InvalidParamsError
from kbdb.mcp.revisions import Revision, negotiated
from kbdb.mcp.subscriptions import MAX_URI, MOST_URIS


class Session:
    """The client that said ``initialize``.

    Attributes:
        revision: what was agreed on.
        capabilities: what the client can do.
        floor: the least level that it wants logged, as a number.
        ready: whether it said that it is; before, it is told nothing unasked.
    """

    def __init__(self, revision: Revision, capabilities: dict[str, Any]) -> None:
        self.revision = revision
        self.capabilities = capabilities
        self.floor = SILENT
        self.ready = False
        self._watched: set[str] = set()

    @classmethod
    def begin(cls, params: dict[str, Any]) -> Session:
        """The session that the parameters of ``initialize`` ask for.

        Raises:
            InvalidParamsError: they name no revision.
        """
        return cls(negotiated(text(params, "protocolVersion")), mapping(params, "capabilities"))

    def set_level(self, level: str) -> None:
        """Sets the least level that is logged.

        Raises:
            InvalidParamsError: there is no such level.
        """
        if level not in LEVELS:
            raise InvalidParamsError(f"'level' is one of {', '.join(LEVELS)}")
        self.floor = LEVELS.index(level)

    def watch(self, uri: str, *, wanted: bool) -> None:
        """Notes that the client wants to hear of a resource, or no more.

        Raises:
            InvalidParamsError: it is none of ours, being so long, or there are too many.
        """
        if wanted:
            if len(uri) > MAX_URI or len(self._watched) >= MOST_URIS:
                raise InvalidParamsError(f"at most {MOST_URIS} URIs, of at most {MAX_URI} characters, can be watched")
            self._watched.add(uri)
        else:
            self._watched.discard(uri)

    def told(self, change: str, uri: str | None) -> bytes:
        """The line that tells the client of a change; empty where it does not listen."""
        if not self.ready:
            return b""
        if change != "resource":
            return notification(f"notifications/{change}/list_changed", {})
        return notification("notifications/resources/updated", {"uri": uri}) if uri in self._watched else b""
