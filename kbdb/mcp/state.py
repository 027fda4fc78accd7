"""The ``requestState`` of a call that waits for its client: what the client said so far, signed and short-lived.

It belongs to one call. It travels through the client, which may change it: what does not verify is refused.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

from kbdb.mcp.registry import InvalidParamsError

LIFE_S = 900
"""How long a client may take to answer: people are asked. Later, it starts anew."""

_SIGNATURE_BYTES = 32
_APART = ("_meta", "inputResponses", "requestState")


def seal(key: bytes, method: str, params: dict[str, Any], answers: dict[str, Any], now: float) -> str:
    """A state.

    Args:
        key: the server's secret.
        method: of the call.
        params: of the call.
        answers: what the client answered so far.
        now: the time, in seconds.
    """
    payload = json.dumps([_digest(method, params), now + LIFE_S, answers], separators=(",", ":")).encode("ascii")
    return base64.urlsafe_b64encode(_signature(key, payload) + payload).decode("ascii")


def unseal(key: bytes, method: str, params: dict[str, Any], state: str, now: float) -> dict[str, Any]:
    """The answers in a state.

    Raises:
        InvalidParamsError: it is not one of ours, belongs to another call, or is too old.
    """
    try:
        sealed = base64.b64decode(state.encode("ascii"), altchars=b"-_", validate=True)
    except ValueError as error:
        raise _refusal() from error
    signature, payload = sealed[:_SIGNATURE_BYTES], sealed[_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, _signature(key, payload)):
        raise _refusal()
    digest, until, answers = json.loads(payload)
    if digest != _digest(method, params):
        raise InvalidParamsError("'requestState' belongs to another call")
    if now > until:
        raise InvalidParamsError("'requestState' is too old: make the call again without it")
    found: dict[str, Any] = answers
    return found


def _signature(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, payload, "sha256")


def _digest(method: str, params: dict[str, Any]) -> str:
    salient = {name: value for name, value in params.items() if name not in _APART}
    return hashlib.sha256(json.dumps([method, salient], sort_keys=True).encode("ascii")).hexdigest()


def _refusal() -> InvalidParamsError:
    return InvalidParamsError("'requestState' is not as this server gave it: make the call again without it")
