"""Protocol: bytes of a client in, replies and calls out; results of calls back in, bytes out. No pipes, no threads.

One process serves both eras at once. A request that tells its revision in ``_meta`` is answered by that alone. Any
other belongs to the one session that ``initialize`` began. Whoever uses a ``Protocol`` from several threads holds one
lock for each of its methods and for the writing of what it returned, so that nothing is sent after the end of a call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kbdb.mcp import codes
from kbdb.mcp.calls import ASKS, LEVELS, SILENT, Call, InputRequired, Wake
from kbdb.mcp.envelope import Envelope, envelope, is_stateless, progress_token
from kbdb.mcp.failures import refusal
from kbdb.mcp.lines import MAX_LINE, LineReader
from kbdb.mcp.messages import (
    BadMessageError,
    Id,
    Notification,
    Request,
    Response,
    decode,
    encode,
    failure,
    notification,
    result,
)
from kbdb.mcp.methods import ASKING, LASTING_MS, METHODS, text
from kbdb.mcp.registry import AskRefusedError, CancelledError, CannotAskError, InvalidParamsError, Registry
from kbdb.mcp.revisions import STATELESS, Revision
from kbdb.mcp.session import Session
from kbdb.mcp.shape import shaped
from kbdb.mcp.subscriptions import Subscriptions

LOGGER = "kbdb"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"

Event = bytes | Call | Wake
"""What comes of a message: bytes to send, a call to be made, a handler that can go on."""


class Protocol:
    """The server's side of one connection.

    Args:
        registry: what is served.
        info: the name and version of the server, as clients see them.
        clock: the time in seconds; for tests.
    """

    def __init__(self, registry: Registry, info: Mapping[str, str], clock: Callable[[], float] = time.time) -> None:
        self._registry = registry
        self._info = dict(info)
        self._clock = clock
        self._key = b""
        self._lines = LineReader()
        self._calls: dict[Id, Call] = {}
        self._asks: dict[Id, Call] = {}
        self._asked = 0
        self._session: Session | None = None
        self._subscriptions = Subscriptions(registry.announces)

    def receive(self, data: bytes) -> Iterable[Event]:
        """Takes bytes in, however they are divided; gives what comes of the lines that are complete now.

        The events are made one by one, while they are asked for: do with each what it wants before the next.
        """
        for line in self._lines.feed(data):
            if line is None:
                yield failure(None, codes.INVALID_REQUEST, f"a line of more than {MAX_LINE} bytes")
                continue
            try:
                message = decode(line)
                if isinstance(message, Request):
                    yield self._request(message, len(line))
                elif isinstance(message, Notification):
                    yield from self._notification(message)
                elif isinstance(message, Response):
                    yield from self._response(message)
            except BadMessageError as error:
                yield failure(error.id, error.code, str(error), error.data)

    def close(self) -> list[Wake]:
        """The client is gone: nothing is sent any more. Gives the handlers that have to know."""
        calls, self._calls, self._asks = list(self._calls.values()), {}, {}
        for call in calls:
            call.cancelled = True
        return [Wake(call) for call in calls]

    def finish(self, call: Call, value: dict[str, Any]) -> bytes:
        """The answer to a call, from its result; empty when nobody waits for it."""
        if call.cancelled:
            return b""
        self._end(call)
        return self._answer(call.id, call.revision, call.method, value)

    def fail(self, call: Call, error: BaseException) -> bytes:
        """The answer to a call whose handler raised ``error``; empty when nobody waits for it."""
        if call.cancelled:
            return b""
        if isinstance(error, InputRequired):
            return self._require_input(call, error.requests)
        answer = refusal(call, error)
        if isinstance(answer, dict):
            return self.finish(call, answer)
        self._end(call)
        return failure(call.id, answer.code, str(answer), answer.data)

    def progress(self, call: Call, done: float, total: float | None, message: str | None) -> bytes:
        """The news of how far a call is; empty where nobody asked for them, or where it is not further than before."""
        if call.token is None or call.cancelled or not done > call.progress:
            return b""
        call.progress = done
        params: dict[str, Any] = {"progressToken": call.token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None and call.revision.annotated:
            params["message"] = message
        return notification("notifications/progress", params)

    def log(self, call: Call, level: str, data: Any) -> bytes:
        """A log message of a call; empty where the client asked for none of this level."""
        floor = call.floor if call.revision.stateless or not self._session else self._session.floor
        if call.cancelled or LEVELS.index(level) < floor:
            return b""
        return notification("notifications/message", {"level": level, "logger": LOGGER, "data": data})

    def announce(self, change: str, uri: str | None) -> bytes:
        """The lines that tell of a change, to whoever listens; often empty."""
        if change not in self._registry.announces:
            return b""
        told = self._subscriptions.told(change, uri)
        return told + (self._session.told(change, uri) if self._session else b"")

    def can_ask(self, call: Call, method: str) -> bool:
        """Whether the client of a call declared that it answers this."""
        return call.method in ASKING and isinstance(call.capabilities.get(ASKS.get(method, "")), dict)

    def ask(self, call: Call, requests: Mapping[str, dict[str, Any]]) -> bytes:
        """The questions of a call's handler that are still open, as lines to send; empty when all are answered.

        Raises:
            InputRequired: the client gets them as the result of the call.
            CannotAskError: the client does not offer that.
            CancelledError: nobody waits for the call any more.
        """
        if call.cancelled:
            raise CancelledError
        for request in requests.values():
            if not self.can_ask(call, request["method"]):
                raise CannotAskError(ASKS[request["method"]])
        missing = {name: request for name, request in requests.items() if name not in call.answers}
        if missing and call.revision.stateless:
            raise InputRequired(missing)
        lines = []
        for name, request in missing.items():
            self._asked += 1
            id = f"{LOGGER}-{self._asked}"
            call.open_asks[id] = name
            self._asks[id] = call
            lines.append(encode({"id": id, **request}))
        return b"".join(lines)

    def answers(self, call: Call, names: Iterable[str]) -> dict[str, Any] | None:
        """What the client answered; None while something is open.

        Raises:
            CancelledError: nobody waits for the call any more.
            AskRefusedError: the client answered with an error.
        """
        if call.cancelled:
            raise CancelledError
        if call.refusal is not None:
            refused, call.refusal = call.refusal, None
            raise AskRefusedError(f"the client refused: {refused}")
        return None if call.open_asks else {name: call.answers[name] for name in names}

    def _request(self, message: Request, size: int) -> bytes | Call:
        if message.id in self._calls or self._subscriptions.has(message.id):
            raise BadMessageError(codes.INVALID_REQUEST, "a request with this id is under way", message.id)
        try:
            if is_stateless(message):
                return self._stateless(message, envelope(message), size)
            return self._handshake(message, size)
        except InvalidParamsError as error:
            raise BadMessageError(codes.INVALID_PARAMS, str(error), message.id) from error

    def _stateless(self, message: Request, given: Envelope, size: int) -> bytes | Call:
        method, revision = message.method, given.revision
        if method == "server/discover":
            found: dict[str, Any] = {"supportedVersions": [*STATELESS], "capabilities": self._capabilities(revision)}
            if self._registry.instructions:
                found["instructions"] = self._registry.instructions
            return self._answer(message.id, revision, method, found)
        if method == "subscriptions/listen":
            return self._subscriptions.open(message.id, message.params.get("notifications"))
        call = self._call(message, size, revision, given.capabilities, given.floor)
        if method in ASKING:
            self._take_answers(call)
        return self._begin(call)

    def _handshake(self, message: Request, size: int) -> bytes | Call:
        method, params = message.method, message.params
        if method == "initialize":
            self._session = Session.begin(params)
            return result(message.id, self._welcome(self._session))
        if method == "ping":
            return result(message.id, {})
        if self._session is None:
            raise BadMessageError(codes.NOT_INITIALIZED, "initialize comes first", message.id)
        if method == "logging/setLevel":
            self._session.set_level(text(params, "level"))
            return result(message.id, {})
        if method in ("resources/subscribe", "resources/unsubscribe") and "resource" in self._registry.announces:
            self._session.watch(text(params, "uri"), wanted=method == "resources/subscribe")
            return result(message.id, {})
        return self._begin(self._call(message, size, self._session.revision, self._session.capabilities, SILENT))

    def _call(self, message: Request, size: int, revision: Revision, capabilities: dict[str, Any], floor: int) -> Call:
        if message.method not in METHODS:
            missing = f"no method {message.method!r} in revision {revision.name}"
            raise BadMessageError(codes.METHOD_NOT_FOUND, missing, message.id)
        return Call(
            message.id,
            revision,
            message.method,
            message.params,
            size=size,
            capabilities=capabilities,
            token=progress_token(message.params),
            floor=floor,
        )

    def _begin(self, call: Call) -> Call:
        self._calls[call.id] = call
        return call

    def _end(self, call: Call) -> None:
        call.cancelled = True
        if self._calls.get(call.id) is call:
            del self._calls[call.id]
        for id in call.open_asks:
            self._asks.pop(id, None)

    def _notification(self, message: Notification) -> Iterable[Event]:
        if message.method == "notifications/initialized" and self._session:
            self._session.ready = True
        elif message.method == "notifications/cancelled":
            id = message.params.get("requestId")
            if isinstance(id, bool) or not isinstance(id, (str, int)):
                return
            self._subscriptions.close(id)
            if call := self._calls.get(id):
                self._end(call)
                yield Wake(call)

    def _response(self, message: Response) -> Iterable[Event]:
        call = self._asks.pop(message.id, None)
        if call is None:
            return
        name = call.open_asks.pop(message.id)
        if message.error is not None or not isinstance(message.result, dict):
            call.refusal = message.error or "its answer is no object"
            # The others are of no use any more.
            for id in call.open_asks:
                self._asks.pop(id, None)
            call.open_asks.clear()
        else:
            call.answers[name] = message.result
        if not call.open_asks:
            yield Wake(call)

    def _take_answers(self, call: Call) -> None:
        """Reads what a client that was asked brings with the same call; answers without a state are the first ones."""
        if "requestState" in call.params:
            from kbdb.mcp.state import unseal

            state = text(call.params, "requestState")
            call.answers.update(unseal(self._secret(), call.method, call.params, state, self._clock()))
        if "inputResponses" in call.params:
            responses = call.params["inputResponses"]
            if not isinstance(responses, dict) or not all(isinstance(one, dict) for one in responses.values()):
                raise InvalidParamsError("'inputResponses' must be an object of objects")
            call.answers.update(responses)

    def _require_input(self, call: Call, requests: dict[str, Any]) -> bytes:
        from kbdb.mcp.state import seal

        self._end(call)
        state = seal(self._secret(), call.method, call.params, call.answers, self._clock())
        value = {"resultType": "input_required", "inputRequests": requests, "requestState": state}
        return result(call.id, self._signed(value))

    def _secret(self) -> bytes:
        self._key = self._key or os.urandom(32)
        return self._key

    def _answer(self, id: Id, revision: Revision, method: str, value: dict[str, Any]) -> bytes:
        """The line of a result, or of the fault that it cannot be written."""
        try:
            if not revision.stateless:
                return result(id, shaped(revision, method, value))
            value = self._signed({"resultType": "complete", **value})
            how = METHODS.get(method)
            ttl_ms, scope = (how.ttl_ms, how.scope) if how else (LASTING_MS, "public")
            if ttl_ms is not None:
                value["ttlMs"], value["cacheScope"] = ttl_ms, scope
            return result(id, value)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            return failure(id, codes.INTERNAL_ERROR, type(error).__name__)

    def _signed(self, value: dict[str, Any]) -> dict[str, Any]:
        # In full once, in server/discover; what comes with each answer is short.
        info = self._info if "supportedVersions" in value else {name: self._info[name] for name in ("name", "version")}
        value["_meta"] = {**value.get("_meta", {}), SERVER_INFO: info}
        return value

    def _welcome(self, session: Session) -> dict[str, Any]:
        hidden = {name for name, known in _SINCE.items() if not getattr(session.revision, known)}
        found: dict[str, Any] = {
            "protocolVersion": session.revision.name,
            "capabilities": self._capabilities(session.revision, session.capabilities),
            "serverInfo": {name: value for name, value in self._info.items() if name not in hidden},
        }
        if self._registry.instructions:
            found["instructions"] = self._registry.instructions
        return found

    def _capabilities(self, revision: Revision, client: Mapping[str, Any] | None = None) -> dict[str, Any]:
        announces = self._registry.announces
        found: dict[str, Any] = {
            name: {"listChanged": True} if name in announces else {} for name in ("tools", "resources", "prompts")
        }
        if "resource" in announces:
            found["resources"]["subscribe"] = True
        found["logging"] = {}
        if revision.annotated:
            found["completions"] = {}
        if client and isinstance(client.get("sampling"), dict):
            found["sampling"] = {}
        return found


_SINCE = {"title": "structured", "description": "described"}
"""What older revisions do not know of a server, and the attribute of a revision that says whether it does."""
