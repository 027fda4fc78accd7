"""A request under way: what came with it, how far it is, and what ends its handler early."""

from __future__ import annotations

from typing import Any

from kbdb.mcp.messages import Id
from kbdb.mcp.revisions import Revision

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of log messages, least first."""

SILENT = len(LEVELS)
"""A floor above all levels: nothing is logged."""

ASKS = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}
"""What a client can be asked, and the capability that says so."""


class InputRequired(BaseException):
    """Ends a handler whose questions go to the client as the result; handlers that catch ``Exception`` let it pass.

    Attributes:
        requests: the questions that are open, by name.
    """

    def __init__(self, requests: dict[str, Any]) -> None:
        super().__init__("the client has to answer first")
        self.requests = requests


class Call:
    """One request under way. ``kbdb.mcp.protocol`` alone changes it, where nothing else is said.

    Attributes:
        id: of the request.
        revision: what it is answered in.
        method: what it asks for.
        params: with what.
        size: bytes of its line.
        capabilities: what the client can do.
        token: what its progress is told under; None where nobody asked to be told.
        floor: the least level of ``LEVELS`` that is logged, as a number.
        answers: those to questions of its handler, by name.
        refusal: what the client said against a question; None as long as it did not.
        open_asks: the ids of questions that wait for an answer, with their names.
        cancelled: whether nobody waits for its answer any more.
        progress: the last that was told.
        queues: whether it may have to wait for others that write; ``kbdb.mcp.workers`` says so.
    """

    __slots__ = (
        "answers",
        "cancelled",
        "capabilities",
        "floor",
        "id",
        "method",
        "open_asks",
        "params",
        "progress",
        "queues",
        "refusal",
        "revision",
        "size",
        "token",
    )

    def __init__(
        self,
        id: Id,
        revision: Revision,
        method: str,
        params: dict[str, Any],
        *,
        size: int,
        capabilities: dict[str, Any],
        token: Id | None,
        floor: int,
    ) -> None:
        self.id = id
        self.revision = revision
        self.method = method
        self.params = params
        self.size = size
        self.capabilities = capabilities
        self.token = token
        self.floor = floor
        self.answers: dict[str, Any] = {}
        self.refusal: str | None = None
        self.open_asks: dict[Id, str] = {}
        self.cancelled = False
        self.progress = float("-inf")
        self.queues = False


class Wake:
    """An event: the handler of a call that waits for the client can go on, or should know that it is cancelled.

    Attributes:
        call: the call.
    """

    __slots__ = ("call",)

    def __init__(self, call: Call) -> None:
        self.call = call
