"""What each revision of the protocol has: one table, and who speaks which.

Everything that differs between revisions is asked of a ``Revision``; nothing else compares dates.
"""

from __future__ import annotations

from typing import NamedTuple


class Revision(NamedTuple):
    """One revision of the specification.

    Attributes:
        name: its date, as it stands on the wire.
        stateless: whether each request tells revision and capabilities itself; else there is a handshake.
        annotated: hints on tools, audio, messages in progress, the ``completions`` capability.
        structured: titles, output schemas and structured results, links to resources, ``_meta`` on what is listed.
        described: a description of the server.
    """

    name: str
    stateless: bool = False
    annotated: bool = True
    structured: bool = True
    described: bool = True


HANDSHAKE = {
    revision.name: revision
    for revision in (
        Revision("2024-11-05", annotated=False, structured=False, described=False),
        Revision("2025-06-18", described=False),
        Revision("2025-11-25"),
    )
}
"""The revisions that begin with ``initialize``, oldest first."""

STATELESS = {revision.name: revision for revision in (Revision("2026-07-28", stateless=True),)}
"""The revisions without a handshake."""

NEWEST_HANDSHAKE = HANDSHAKE["2025-11-25"]

INSTEAD = {"2025-03-26": HANDSHAKE["2025-06-18"]}
"""Revisions that are known and not served: 2025-03-26 obliges a server to take batches."""


def negotiated(requested: str) -> Revision:
    """The handshake revision that answers a client's wish."""
    return HANDSHAKE.get(requested) or INSTEAD.get(requested) or NEWEST_HANDSHAKE
