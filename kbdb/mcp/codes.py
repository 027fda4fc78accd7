"""The numbers of errors on the wire: those of JSON-RPC, and those that the Model Context Protocol adds."""

from __future__ import annotations

PARSE_ERROR = -32700
"""The line is not UTF-8 or not JSON."""

INVALID_REQUEST = -32600
"""JSON, but no message: a batch, an id that is none, a line that is too long."""

METHOD_NOT_FOUND = -32601
"""No such method in the revision at hand."""

INVALID_PARAMS = -32602
"""The method does not take this, or there is no tool, prompt or (since 2026-07-28) resource of that name."""

INTERNAL_ERROR = -32603
"""A fault of the server's own."""

RESOURCE_NOT_FOUND = -32002
"""No such resource; the handshake revisions only."""

NOT_INITIALIZED = RESOURCE_NOT_FOUND
"""A request before ``initialize``; the handshake revisions only, where both faults share a number."""

HEADER_MISMATCH = -32020
"""HTTP headers that contradict the message: nothing that happens over stdin and stdout."""

MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
"""The client did not declare what answering takes; ``data.requiredCapabilities`` names it. Since 2026-07-28."""

UNSUPPORTED_PROTOCOL_VERSION = -32022
"""A revision that is not served; ``data`` has ``supported`` and ``requested``. Since 2026-07-28."""
