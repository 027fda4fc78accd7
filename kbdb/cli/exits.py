"""The exit codes of every command (DESIGN: interfaces)."""

from __future__ import annotations

from enum import IntEnum

from kbdb.errors import (
    AgentNotFoundError,
    DocumentNotFoundError,
    InterruptedByUserError,
    InvalidArgumentError,
    KbdbError,
    SectionNotFoundError,
    SkillNotFoundError,
    UsageError,
)


class Exit(IntEnum):
    """What a script can tell from the exit code alone."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOTHING_FOUND = 3
    PARTLY_DONE = 4
    INTERRUPTED = 130


def exit_for(error: KbdbError) -> Exit:
    """The exit code of a command that ended with ``error``."""
    if isinstance(error, (UsageError, InvalidArgumentError)):
        return Exit.USAGE
    if isinstance(error, (SectionNotFoundError, DocumentNotFoundError, SkillNotFoundError, AgentNotFoundError)):
        return Exit.NOTHING_FOUND
    return Exit.INTERRUPTED if isinstance(error, InterruptedByUserError) else Exit.FAILED
