"""What the client has to know of the daemon's methods: which only read, and which may be asked for a second time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

READS = frozenset(
    {"search", "similar", "recall", "retrieve", "readSections", "retrieveDocument", "content", "list", "listByType"}
    | {"listDocumentsByType", "documents", "complete", "dbStatus", "daemonStatus", "check", "ping"}
    | {"skills", "skill", "agents", "agent"}
)
"""They change nothing: Ctrl-C just leaves them."""

REPEATABLE = READS | {"learn", "addSection", "gc", "rebuildIndexes", "export", "initDirectory"}
"""Asked for twice, they leave the database as asked for once: what is stored already is found and not stored again."""

QUEUED_READS = frozenset({"check"})
"""They wait for their turn and take as long as a write may."""

NOT_WITH = ("replace", "supersedes")
"""With these, the second time would take the place of what the first time stored."""


def is_repeatable(method: str, params: Mapping[str, Any]) -> bool:
    """Whether a call may be made again when it is not known what came of it."""
    return method in REPEATABLE and not any(params.get(name) for name in NOT_WITH)
