"""The numbers of the protocol: what JSON-RPC calls each fault, and the limits that both sides keep."""

from __future__ import annotations

PARSE_ERROR = -32700
"""The line is not UTF-8 or not JSON."""

INVALID_REQUEST = -32600
"""JSON, but no message of JSON-RPC 2.0; or one that does not belong here, such as anything before ``hello``."""

METHOD_NOT_FOUND = -32601
"""No such method in this version."""

INVALID_PARAMS = -32602
"""The method does not take this; ``data`` is the error, as with ``REFUSED``."""

INTERNAL_ERROR = -32603
"""A fault of the daemon's own."""

REFUSED = -32000
"""kbdb refuses, for a reason of its own: ``data`` is ``{"code", "message", "hint"}`` (``kbdb.errors``)."""

MAX_LINE = 64 << 20
"""Bytes of the longest line, its end not counted. A reader gives a connection up at this point, so that nobody's
memory is filled from outside; it must stay above the largest document that may be learned."""

MAX_DEPTH = 100
"""How deep lists and objects may stand in each other. Deeper is an attack: no answer of ours passes ten."""
