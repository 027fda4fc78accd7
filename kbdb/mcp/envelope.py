"""What a request tells of its client in ``_meta``: the envelope that replaces the handshake since 2026-07-28."""

from __future__ import annotations

from typing import Any, NamedTuple

from kbdb.mcp import codes
from kbdb.mcp.calls import LEVELS, SILENT
from kbdb.mcp.messages import BadMessageError, Id, Request
from kbdb.mcp.registry import InvalidParamsError
from kbdb.mcp.revisions import STATELESS, Revision

PREFIX = "io.modelcontextprotocol/"
VERSION = PREFIX + "protocolVersion"
CAPABILITIES = PREFIX + "clientCapabilities"
LOG_LEVEL = PREFIX + "logLevel"
KEYS = (VERSION, CAPABILITIES, LOG_LEVEL, PREFIX + "clientInfo")

WITHOUT_HANDSHAKE = ("server/discover", "subscriptions/listen")
"""Methods that only revisions without a handshake have."""


class Envelope(NamedTuple):
    """What a request tells of its client.

    Attributes:
        revision: the one that the request is written in.
        capabilities: what the client can do.
        floor: the least level that it wants logged, as a number.
    """

    revision: Revision
    capabilities: dict[str, Any]
    floor: int


def is_stateless(message: Request) -> bool:
    """Whether a request has an envelope, or must have one."""
    if message.method in WITHOUT_HANDSHAKE:
        return True
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and any(key in meta for key in KEYS)


def envelope(message: Request) -> Envelope:
    """Reads the envelope of a request.

    Raises:
        InvalidParamsError: it lacks something, or has something of the wrong kind.
        BadMessageError: it names a revision that is not served.
    """
    meta = message.params.get("_meta")
    if not isinstance(meta, dict):
        raise InvalidParamsError("'_meta' is missing")
    requested, capabilities = meta.get(VERSION), meta.get(CAPABILITIES)
    if not isinstance(requested, str):
        raise InvalidParamsError(f"'_meta' must hold {VERSION!r}, a string")
    if requested not in STATELESS:
        raise BadMessageError(
            codes.UNSUPPORTED_PROTOCOL_VERSION,
            f"revision {requested!r} is not served",
            message.id,
            {"supported": [*STATELESS], "requested": requested},
        )
    if not isinstance(capabilities, dict):
        raise InvalidParamsError(f"'_meta' must hold {CAPABILITIES!r}, an object")
    level = meta.get(LOG_LEVEL)
    if level is not None and level not in LEVELS:
        raise InvalidParamsError(f"{LOG_LEVEL!r} is one of {', '.join(LEVELS)}")
    return Envelope(STATELESS[requested], capabilities, SILENT if level is None else LEVELS.index(level))


def progress_token(params: dict[str, Any]) -> Id | None:
    """The token under which a client wants to hear of progress; None where it does not.

    Raises:
        InvalidParamsError: it can be no token.
    """
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if token is None:
        return None
    if isinstance(token, bool) or not isinstance(token, (str, int)):
        raise InvalidParamsError("'progressToken' must be a string or an integer")
    return token
