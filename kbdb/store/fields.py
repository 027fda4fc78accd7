"""Takes typed values out of what the TOML scanner and the JSON reader give; anything unexpected is CorruptError."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kbdb.errors import CorruptError, UnsupportedFormatError
from kbdb.paths import FORMAT

RESTORE_FILE = "restore the file from a backup or from version control"
"""What to do about a damaged truth file."""


@dataclass(frozen=True, slots=True)
class Fields:
    """One table of a truth file.

    Attributes:
        values: what was read.
        where: the path, and the place in the file where that helps; begins every message.
    """

    values: Mapping[str, object]
    where: str

    def check_format(self) -> None:
        """Checks the ``format`` key, before anything else is looked at.

        Raises:
            UnsupportedFormatError: a newer kbdb wrote the file.
            CorruptError: no such key, or not a version that ever was.
        """
        version = self.integer("format")
        if version > FORMAT:
            raise UnsupportedFormatError(
                f"{self.where}: format {version}, this kbdb reads up to {FORMAT}", "use a newer kbdb"
            )
        if version != FORMAT:
            raise self.fault(f"format is {version}, expected {FORMAT}")

    def check_keys(self, *keys: str) -> None:
        """Checks that exactly these keys are there, in this order."""
        if tuple(self.values) != keys:
            raise self.fault(f"keys are {', '.join(self.values) or 'none'}; expected {', '.join(keys)}")

    def text(self, key: str, valid: Callable[[str], bool] | None = None, expected: str = "") -> str:
        """The string under the key.

        Args:
            key: its name.
            valid: what must hold for it.
            expected: what ``valid`` wants, in words, for the message.
        """
        value = self._get(key)
        if not isinstance(value, str):
            raise self.fault(f"{key} is not a string")
        if valid is not None and not valid(value):
            raise self.fault(f"{key} is {value!r}, expected {expected}")
        return value

    def integer(self, key: str) -> int:
        """The integer under the key."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.fault(f"{key} is not an integer")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of strings under the key."""
        value = self._get(key)
        if not isinstance(value, list):
            raise self.fault(f"{key} is not a list")
        texts = tuple(item for item in value if isinstance(item, str))
        if len(texts) != len(value):
            raise self.fault(f"{key} holds something else than strings")
        return texts

    def tables(self, key: str) -> tuple[Fields, ...]:
        """The list of tables under the key; messages name each by its number, from 1."""
        value = self._get(key)
        if not isinstance(value, list):
            raise self.fault(f"{key} is not a list of tables")
        tables = tuple(
            Fields(item, f"{self.where}: {key} {number}")
            for number, item in enumerate(value, 1)
            if isinstance(item, dict)
        )
        if len(tables) != len(value):
            raise self.fault(f"{key} holds something else than tables")
        return tables

    def fault(self, message: str) -> CorruptError:
        """The error to raise about this table."""
        return CorruptError(f"{self.where}: {message}", RESTORE_FILE)

    def _get(self, key: str) -> object:
        if key not in self.values:
            raise self.fault(f"{key} is missing")
        return self.values[key]
