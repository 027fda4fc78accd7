"""Lines to checked messages and messages to lines: JSON-RPC 2.0 as the Model Context Protocol narrows it.

What is wrong with a line is found here, before anybody looks at its method. What is written is ASCII: half a surrogate
pair cannot break it, and no character of it can end the line early.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from kbdb.mcp.codes import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR

Id = int | str

MAX_ID = 256
"""Characters of an id, which is kept while its request is under way; of a number, its decimal digits."""


class Request(NamedTuple):
    """Asks for an answer with the same id."""

    id: Id
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    """Tells something; nobody answers."""

    method: str
    params: dict[str, Any]


class Response(NamedTuple):
    """Answers a request of ours; ``error`` is what the client says against it, else None."""

    id: Id
    result: Any
    error: str | None


class BadMessageError(Exception):
    """A line that is no message, or no message for this server.

    Attributes:
        code: its number (``kbdb.mcp.codes``).
        id: of the request meant, where it could be read.
        data: more about it, for programs.
    """

    def __init__(self, code: int, message: str, id: Id | None = None, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.id = id
        self.data = data


def decode(line: bytes) -> Request | Notification | Response | None:
    """Reads one line.

    Returns:
        The message; None for an answer to nothing, which must not be answered in its turn.

    Raises:
        BadMessageError: it is no message.
    """
    value = _parse(line)
    if not isinstance(value, dict):
        text = "batches are not served: send one message a line" if isinstance(value, list) else "no JSON object"
        raise BadMessageError(INVALID_REQUEST, text)
    id = value.get("id")
    if not _is_id(id):
        id = None
    if "method" not in value and ("result" in value or "error" in value):
        return None if id is None else Response(id, value.get("result"), _complaint(value))
    if value.get("jsonrpc") != "2.0":
        raise BadMessageError(INVALID_REQUEST, '"jsonrpc" must be "2.0"', id)
    if "id" in value and id is None:
        raise BadMessageError(INVALID_REQUEST, f'"id" must be a string or an integer, of at most {MAX_ID} characters')
    method, params = value.get("method"), value.get("params")
    if not isinstance(method, str):
        raise BadMessageError(INVALID_REQUEST, '"method" must be a string', id)
    if params is None:
        params = {}
    if id is None:
        return Notification(method, params if isinstance(params, dict) else {})
    if not isinstance(params, dict):
        raise BadMessageError(INVALID_PARAMS, '"params" must be an object', id)
    if (b"\\ud" in line or b"\\uD" in line) and _has_half_pair(value):
        raise BadMessageError(INVALID_PARAMS, "the message holds half a surrogate pair, which is no text", id)
    return Request(id, method, params)


def encode(message: dict[str, Any]) -> bytes:
    """The line of a message, with its end."""
    return _ENCODER.encode({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n"


def result(id: Id, value: Any) -> bytes:
    """The line that answers a request."""
    return encode({"id": id, "result": value})


def failure(id: Id | None, code: int, message: str, data: dict[str, Any] | None = None) -> bytes:
    """The line that refuses a request; without an id where none could be read."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return encode({"error": error} if id is None else {"id": id, "error": error})


def notification(method: str, params: dict[str, Any]) -> bytes:
    """The line that tells something."""
    return encode({"method": method, "params": params})


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_END_OF_NUMBERS = 10**MAX_ID
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_ENCODER = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":"))
_PLAIN = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def _parse(line: bytes) -> Any:
    try:
        return _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadMessageError(PARSE_ERROR, f"not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise BadMessageError(PARSE_ERROR, "nested too deep") from error
    except MemoryError as error:
        raise BadMessageError(PARSE_ERROR, "too large for the memory that is left") from error
    except ValueError as error:  # not JSON, a constant that JSON has not, an integer with thousands of digits
        raise BadMessageError(PARSE_ERROR, f"not JSON: {error}") from error


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _END_OF_NUMBERS


def _complaint(value: dict[str, Any]) -> str | None:
    if "error" not in value:
        return None
    error = value["error"]
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) and message else "no reason given"


def _has_half_pair(value: Any) -> bool:
    try:
        _PLAIN.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except RecursionError as error:
        raise BadMessageError(PARSE_ERROR, "nested too deep") from error
    return False
