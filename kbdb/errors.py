"""Every way kbdb can refuse: one class per code, each with what went wrong and how to mend it.

Raised once, where the fault is understood; turned into text once, at the edge (CLI, daemon, MCP).
Codes are part of the interface and never change their meaning.
"""

from __future__ import annotations

import os
from typing import ClassVar


class KbdbError(Exception):
    """Base of all errors that kbdb raises on purpose.

    Args:
        message: what is wrong, and where (path, line, offset) where that is known.
        hint: what would be right, or what to do next; may be empty.
    """

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[type[KbdbError], tuple[str, str]]:
        return type(self), (self.message, self.hint)

    @property
    def in_a_line(self) -> str:
        """What is wrong and what would help."""
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def as_dict(self) -> dict[str, dict[str, str]]:
        """The JSON form: ``{"error": {"code", "message", "hint"}}``."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class InvalidArgumentError(KbdbError):
    """A value the caller gave is of the wrong kind or out of range."""

    code = "INVALID_ARGUMENT"


class InvalidIdError(InvalidArgumentError):
    """A string that should be a kbid or docid is not one."""

    code = "INVALID_ID"


class UsageError(KbdbError):
    """A command line that does not say what to do: unknown options, missing arguments, ones that exclude each other."""

    code = "USAGE"


class InterruptedByUserError(KbdbError):
    """Ctrl-C, or who asked, ended a call before it had an answer."""

    code = "INTERRUPTED"


class InterruptedByStopError(InterruptedByUserError):
    """The daemon was stopped before a long run came to its end."""

    code = "DAEMON_STOPPED"


class NotADatabaseError(KbdbError):
    """No database was found where one was named."""

    code = "NOT_A_DATABASE"

    @classmethod
    def removed(cls, database: object) -> NotADatabaseError:
        """A database that was removed or moved away while it was open."""
        return cls(f"{database} was removed", "kbdb init makes a new one")


class DatabaseExistsError(KbdbError):
    """``init`` found a database already there."""

    code = "DATABASE_EXISTS"


class DatabaseLockedError(KbdbError):
    """Another process owns the database."""

    code = "DATABASE_LOCKED"

    @classmethod
    def held_by(cls, pid: int | None, database: object) -> DatabaseLockedError:
        """Names the process that owns the database, where that is known."""
        if pid == os.getpid():
            text = f"{database} is already open in this process (pid {pid})"
            return cls(text, "close it, or use the one that is open")
        who = f"process {pid}" if pid else "another process"
        end = f"wait for it to end, or stop it: kill {pid}" if pid else "wait for it to end"
        wait = f"{end}; what opens the database after kbdb daemon start shares it"
        return cls(f"{database} is in use by {who}", wait)


class DatabaseClosedError(KbdbError):
    """A call on a KnowledgeBase that was closed."""

    code = "DATABASE_CLOSED"


class UnsupportedFormatError(KbdbError):
    """The database was written by a newer kbdb."""

    code = "UNSUPPORTED_FORMAT"


class StorageError(KbdbError):
    """The file system refused a read or write (full, read-only, permission)."""

    code = "STORAGE_ERROR"


class CorruptError(KbdbError):
    """Bytes on disk are not what was written: a checksum, bound or structure is wrong."""

    code = "CORRUPT"


class StaleIndexError(KbdbError):
    """An index file was made by another format version or another analyser."""

    code = "INDEX_STALE"


class TomlError(KbdbError):
    """A header or manifest is outside kbdb's canonical subset of TOML."""

    code = "BAD_TOML"


class ConfigError(KbdbError):
    """worker.toml or synonyms.toml holds an unknown key or a bad value."""

    code = "BAD_CONFIG"


class SettingsFileError(KbdbError):
    """Another program's settings file is not what that program reads, or changed while kbdb was changing it."""

    code = "BAD_SETTINGS_FILE"


class SectionNotFoundError(KbdbError):
    """No stored section has this kbid."""

    code = "SECTION_NOT_FOUND"


class DocumentNotFoundError(KbdbError):
    """No manifest has this docid."""

    code = "DOCUMENT_NOT_FOUND"


class SkillNotFoundError(KbdbError):
    """No live skill has this name."""

    code = "SKILL_NOT_FOUND"


class AgentNotFoundError(KbdbError):
    """No live agent has this name."""

    code = "AGENT_NOT_FOUND"


class SourceNotFoundError(KbdbError):
    """A file or folder to learn, or an export to import, does not exist."""

    code = "SOURCE_NOT_FOUND"


class SourceUnreadableError(KbdbError):
    """A source exists but cannot be read."""

    code = "SOURCE_UNREADABLE"


class NotUtf8Error(KbdbError):
    """Text that is not UTF-8; the message gives the byte offset."""

    code = "NOT_UTF8"


class TooLargeError(KbdbError):
    """Input past a documented limit."""

    code = "TOO_LARGE"


class HashMismatchError(KbdbError):
    """An imported file's hash differs from the export's list."""

    code = "HASH_MISMATCH"


class EmbeddingProviderNotConfiguredError(KbdbError):
    """Vector or hybrid search without an embedding provider."""

    code = "EMBEDDING_PROVIDER_NOT_CONFIGURED"


class NoVectorError(KbdbError):
    """A section whose meaning is asked for has no vector, or none yet; the message says why."""

    code = "NO_VECTOR"


class EmbeddingPackageMissingError(KbdbError):
    """An embedding provider is configured, and a package it needs is not installed."""

    code = "EMBEDDING_PACKAGE_MISSING"


class EmbeddingModelNotFoundError(KbdbError):
    """The files of the configured embedding model are in none of the places where they are looked for."""

    code = "EMBEDDING_MODEL_NOT_FOUND"


class EmbeddingModelInvalidError(KbdbError):
    """A model file is damaged or another than meant, or the model does not give the vectors it is known to give."""

    code = "EMBEDDING_MODEL_INVALID"


class EmbeddingUnavailableError(KbdbError):
    """The embedding service was not reached, or could not answer after several tries; later it may."""

    code = "EMBEDDING_UNAVAILABLE"


class EmbeddingRefusedError(KbdbError):
    """The embedding service refused the request; asking again changes nothing."""

    code = "EMBEDDING_REFUSED"


class EmbeddingTextRefusedError(EmbeddingRefusedError):
    """It refused what it was sent; another text it may take."""

    code = "EMBEDDING_TEXT_REFUSED"


class EmbeddingBadAnswerError(KbdbError):
    """What the embedding service sent is not the vectors that were asked for."""

    code = "EMBEDDING_BAD_ANSWER"


class DownloadFailedError(KbdbError):
    """A download ended before its end; what came is kept, and the next one goes on from there."""

    code = "DOWNLOAD_FAILED"


class BusyError(KbdbError):
    """A write waited too long in the daemon's queue, found it full, or waited for a lock that another program holds.

    Also: a daemon did not end in time.
    """

    code = "BUSY"


class DaemonStartError(KbdbError):
    """No daemon could be started, or none answered in time."""

    code = "DAEMON_START"


class DaemonLostError(KbdbError):
    """The daemon went away before it answered; whether it did what was asked is not known."""

    code = "DAEMON_LOST"


class AnotherDatabaseError(DaemonLostError):
    """Another database stands in the folder by now; nothing was asked of it."""

    code = "ANOTHER_DATABASE"


class ProtocolError(KbdbError):
    """What came over the connection is not what kbdb's client and daemon say to each other."""

    code = "PROTOCOL"


def error_of(code: str, message: str, hint: str = "") -> KbdbError:
    """An error as another process told it: of the class that has this code.

    A code that only a newer kbdb knows becomes a plain KbdbError that names it.
    """
    kind = _classes().get(code)
    return kind(message, hint) if kind else KbdbError(f"{message} ({code})", hint)


def _classes() -> dict[str, type[KbdbError]]:
    """Every class by its code; a class without a code of its own is its base to those outside."""
    found: dict[str, type[KbdbError]] = {}
    waiting: list[type[KbdbError]] = [KbdbError]
    while waiting:
        kind = waiting.pop()
        if "code" in vars(kind) and kind.__module__ == __name__:
            found[kind.code] = kind
        waiting.extend(kind.__subclasses__())
    return found
