"""Errors of kbdb on their way: into a failure on the daemon's side, out of it again on the client's."""

from __future__ import annotations

from kbdb.errors import InvalidArgumentError, KbdbError, ProtocolError, error_of
from kbdb.rpc.codes import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, REFUSED
from kbdb.rpc.messages import Failure, Id


def failure_of(id: Id | None, error: KbdbError) -> Failure:
    """The answer that tells an error of kbdb's."""
    number = INVALID_PARAMS if isinstance(error, InvalidArgumentError) else REFUSED
    return Failure(id, number, error.message, dict(error.as_dict()["error"]))


def error_in(failure: Failure) -> KbdbError:
    """The error that an answer tells; of the class it had when it was raised."""
    data = failure.data or {}
    code, message, hint = (data.get(key, "") for key in ("code", "message", "hint"))
    if code and all(isinstance(text, str) for text in (code, message, hint)):
        return error_of(code, message or failure.message, hint)
    if failure.code == METHOD_NOT_FOUND:
        return ProtocolError(failure.message, "the daemon is of another version: kbdb daemon restart")
    if failure.code == INTERNAL_ERROR:
        return KbdbError(failure.message, "kbdb daemon logs shows more")
    return ProtocolError(f"{failure.message} ({failure.code})")
