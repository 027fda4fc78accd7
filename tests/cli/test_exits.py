"""kbdb.cli.exits: every error has its exit code, and a new one has to be given one here."""

from __future__ import annotations

import pytest

from kbdb import errors
from kbdb.cli.exits import Exit, exit_for
from kbdb.errors import KbdbError, error_of

EXITS = {
    Exit.USAGE: {"USAGE", "INVALID_ARGUMENT", "INVALID_ID"},
    Exit.NOTHING_FOUND: {"SECTION_NOT_FOUND", "DOCUMENT_NOT_FOUND", "SKILL_NOT_FOUND", "AGENT_NOT_FOUND"},
    Exit.INTERRUPTED: {"INTERRUPTED", "DAEMON_STOPPED"},
    Exit.FAILED: {
        *("INTERNAL", "NOT_A_DATABASE", "DATABASE_EXISTS", "DATABASE_LOCKED", "DATABASE_CLOSED", "UNSUPPORTED_FORMAT"),
        *("STORAGE_ERROR", "CORRUPT", "INDEX_STALE", "BAD_TOML", "BAD_CONFIG", "SOURCE_NOT_FOUND", "SOURCE_UNREADABLE"),
        *("NOT_UTF8", "TOO_LARGE", "HASH_MISMATCH", "EMBEDDING_PROVIDER_NOT_CONFIGURED", "BAD_SETTINGS_FILE"),
        *(
            "BUSY",
            "DAEMON_START",
            "DAEMON_LOST",
            "ANOTHER_DATABASE",
            "PROTOCOL",
            "NO_VECTOR",
            "DOWNLOAD_FAILED",
            "EMBEDDING_PACKAGE_MISSING",
        ),
        *("EMBEDDING_MODEL_NOT_FOUND", "EMBEDDING_MODEL_INVALID"),
        *("EMBEDDING_UNAVAILABLE", "EMBEDDING_REFUSED", "EMBEDDING_TEXT_REFUSED", "EMBEDDING_BAD_ANSWER"),
    },
}
CODES = {value.code for value in vars(errors).values() if isinstance(value, type) and issubclass(value, KbdbError)}


def test_every_code_has_one_exit() -> None:
    assert sorted(code for codes in EXITS.values() for code in codes) == sorted(CODES)


@pytest.mark.parametrize(("exit", "code"), [(exit, code) for exit, codes in EXITS.items() for code in sorted(codes)])
def test_a_command_ends_with_the_exit_of_its_error(exit: Exit, code: str) -> None:
    assert exit_for(error_of(code, "what is wrong")) == exit
