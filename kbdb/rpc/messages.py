r"""Messages of JSON-RPC 2.0, one a line: ``decode`` checks everything that arrives, ``encode`` makes bytes with ``\n``.

A message is a JSON object in UTF-8 of one of four kinds. Ids are integers or strings, params are objects; batches are
refused. Names that are not known are passed over, so that a later version may add some.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, NoReturn

from kbdb.errors import ProtocolError
from kbdb.rpc.codes import INVALID_REQUEST, MAX_DEPTH, PARSE_ERROR

Id = int | str


class Request(NamedTuple):
    """Asks for an answer with the same id."""

    id: Id
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    """Tells something; nobody answers."""

    method: str
    params: dict[str, Any]


class Result(NamedTuple):
    """The answer of a request that succeeded."""

    id: Id
    value: Any


class Failure(NamedTuple):
    """The answer of one that did not; ``id`` is None where the request could not be read."""

    id: Id | None
    code: int
    message: str
    data: dict[str, Any] | None = None


Message = Request | Notification | Result | Failure


class BadMessageError(ProtocolError):
    """A line that is no message.

    Attributes:
        number: what JSON-RPC calls the fault: PARSE_ERROR or INVALID_REQUEST.
        id: of the request meant, where it could be read.
    """

    def __init__(self, message: str, number: int, id: Id | None = None) -> None:
        super().__init__(message)
        self.number = number
        self.id = id

    def as_failure(self) -> Failure:
        """The answer that a server gives."""
        return Failure(self.id, self.number, self.message)


def decode(line: bytes) -> Message:
    """Reads one line.

    Raises:
        BadMessageError: it is no message.
    """
    value = _parse(line)
    if isinstance(value, list):
        raise BadMessageError("batches are not served: send one message a line", INVALID_REQUEST)
    if not isinstance(value, dict):
        raise BadMessageError("a message is a JSON object", INVALID_REQUEST)
    given = value.get("id")
    id = given if _is_id(given) else None
    if value.get("jsonrpc") != "2.0":
        raise BadMessageError('"jsonrpc" must be "2.0"', INVALID_REQUEST, id)
    if "id" in value and id is None and "error" not in value:
        raise BadMessageError('"id" must be an integer or a string', INVALID_REQUEST)
    if "method" in value:
        return _asked(value, id)
    if "result" in value and "error" not in value and id is not None:
        return Result(id, value["result"])
    if "error" in value and "result" not in value and "id" in value:
        return _failure(value["error"], id)
    raise BadMessageError(
        'a message has a "method", or an "id" and either a "result" or an "error"', INVALID_REQUEST, id
    )


def encode(message: Message) -> bytes:
    """The line of a message, with its end."""
    value: dict[str, Any] = {"jsonrpc": "2.0"}
    if isinstance(message, Request):
        value.update(id=message.id, method=message.method, params=message.params)
    elif isinstance(message, Notification):
        value.update(method=message.method, params=message.params)
    elif isinstance(message, Result):
        value.update(id=message.id, result=message.value)
    else:
        error: dict[str, Any] = {"code": message.code, "message": message.message}
        if message.data is not None:
            error["data"] = message.data
        value.update(id=message.id, error=error)
    try:
        return _PLAIN.encode(value).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        # Half a surrogate pair, from a file name that is not UTF-8: JSON has a way to write it, UTF-8 has none.
        return _ASCII.encode(value).encode("ascii") + b"\n"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":"))
_ASCII = json.JSONEncoder(ensure_ascii=True, allow_nan=False, check_circular=False, separators=(",", ":"))


def _parse(line: bytes) -> Any:
    try:
        value = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadMessageError(f"not UTF-8 at byte {error.start}", PARSE_ERROR) from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:  # not JSON, a constant that JSON has not, an integer with thousands of digits
        raise BadMessageError(f"not JSON: {error}", PARSE_ERROR) from error
    # Most messages have fewer brackets than the limit has levels, which is faster seen than how deep they stand.
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise _too_deep()
    return value


def _too_deep() -> BadMessageError:
    return BadMessageError(f"nested deeper than {MAX_DEPTH} levels", PARSE_ERROR)


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        items = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
        level = [item for item in items if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _asked(value: dict[str, Any], id: Id | None) -> Request | Notification:
    method, params = value["method"], value.get("params", {})
    if not isinstance(method, str):
        raise BadMessageError('"method" must be a string', INVALID_REQUEST, id)
    if not isinstance(params, dict):
        raise BadMessageError('"params" must be an object', INVALID_REQUEST, id)
    if "result" in value or "error" in value:
        raise BadMessageError("a message asks or answers, not both", INVALID_REQUEST, id)
    return Notification(method, params) if id is None else Request(id, method, params)


def _failure(error: Any, id: Id | None) -> Failure:
    if not isinstance(error, dict):
        raise BadMessageError('"error" must be an object', INVALID_REQUEST, id)
    code, message, data = error.get("code"), error.get("message"), error.get("data")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        raise BadMessageError('an error has a number as its "code" and a text as its "message"', INVALID_REQUEST, id)
    return Failure(id, code, message, data if isinstance(data, dict) else None)
