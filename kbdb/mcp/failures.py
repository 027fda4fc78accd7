"""From what a handler raises to what the client is told: an error with its number, or a tool's result that says it."""

from __future__ import annotations

from typing import Any

from kbdb.mcp import codes
from kbdb.mcp.calls import Call, InputRequired
from kbdb.mcp.messages import BadMessageError
from kbdb.mcp.registry import (
    AskRefusedError,
    CancelledError,
    CannotAskError,
    InvalidParamsError,
    ResourceNotFoundError,
)


class BusyError(Exception):
    """Too many requests wait already."""

    def __init__(self) -> None:
        super().__init__("busy: too many requests are under way; wait for some answers, then call again")


def is_fault(error: BaseException) -> bool:
    """Whether an error is one that nobody raises on purpose."""
    from kbdb.errors import KbdbError

    foreseen = (InputRequired, CancelledError, CannotAskError, AskRefusedError, InvalidParamsError, KbdbError)
    return not isinstance(error, foreseen)


def refusal(call: Call, error: BaseException) -> dict[str, Any] | BadMessageError:
    """What answers a call that ended with ``error``.

    Returns:
        A tool's result where the model can mend it; else the error.
    """
    if isinstance(error, ResourceNotFoundError):
        code = codes.INVALID_PARAMS if call.revision.stateless else codes.RESOURCE_NOT_FOUND
        return BadMessageError(code, str(error), call.id, {"uri": call.params.get("uri")})
    if isinstance(error, InvalidParamsError):
        return BadMessageError(codes.INVALID_PARAMS, str(error), call.id)
    if isinstance(error, CannotAskError) and call.revision.stateless:
        data: dict[str, Any] = {"requiredCapabilities": {error.capability: {}}}
        return BadMessageError(codes.MISSING_REQUIRED_CLIENT_CAPABILITY, str(error), call.id, data)
    if isinstance(error, (CannotAskError, AskRefusedError, BusyError)):
        if call.method == "tools/call":
            return tool_error(str(error))
        code = codes.INTERNAL_ERROR if isinstance(error, BusyError) else codes.INVALID_REQUEST
        return BadMessageError(code, str(error), call.id)
    return _fault(call, error)


def tool_error(message: str) -> dict[str, Any]:
    """A result of a tool that says what went wrong."""
    return {"content": [{"type": "text", "text": message}], "isError": True}


def _fault(call: Call, error: BaseException) -> dict[str, Any] | BadMessageError:
    # Loaded when something went wrong; a first answer does without.
    from kbdb.errors import KbdbError

    if not isinstance(error, KbdbError):
        # What an unforeseen error says may be anything, so it goes to stderr alone.
        return BadMessageError(codes.INTERNAL_ERROR, type(error).__name__, call.id)
    if call.method == "tools/call":
        return tool_error(error.in_a_line)
    return BadMessageError(codes.INTERNAL_ERROR, error.message, call.id, error.as_dict()["error"])
