"""Scans the canonical subset of TOML in which section headers and manifests are written (twin: csrc/toml.c).

The grammar stands in kbdb/store/README.md. The messages are those of the C scanner, word for word.
"""

from __future__ import annotations

import re

from kbdb.errors import TomlError

MAX_KEYS = 64
"""Keys a table may hold, and tables plus keys at the top level."""

_KEY = re.compile(rb"[A-Za-z0-9_-]*")
_DIGITS = re.compile(rb"[0-9]*")
_PLAIN = re.compile(rb"[ !#-\[\]-~]+")
_SHORT_ESCAPES = {
    ord('"'): '"',
    ord("\\"): "\\",
    ord("b"): "\b",
    ord("t"): "\t",
    ord("n"): "\n",
    ord("f"): "\f",
    ord("r"): "\r",
}
_CONTROL_ESCAPES = {
    b"u%04X" % code: chr(code) for code in [*range(0x20), 0x7F] if chr(code) not in _SHORT_ESCAPES.values()
}


def scan_toml(data: bytes) -> dict[str, object]:
    """Reads one text of the subset.

    Args:
        data: the whole text.

    Returns:
        Top-level keys in the order of the text: strings, integers, booleans, lists of strings or of integers, dicts for
        tables, lists of dicts for arrays of tables.

    Raises:
        TomlError: the text is not of the subset; the message gives the line and what was expected.
    """
    return _Scanner(data).document()


class _Scanner:
    """A cursor over the text, and one method for each rule of the grammar."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.line = 1
        self.root: dict[str, object] = {}
        self.table = self.root
        self.open_list = ""

    def fault(self, message: str) -> TomlError:
        return TomlError(f"line {self.line}: {message}")

    def sees(self, expected: bytes) -> bool:
        return self.data.startswith(expected, self.at)

    def skip(self, expected: bytes) -> bool:
        found = self.sees(expected)
        if found:
            self.at += len(expected)
        return found

    def run(self, pattern: re.Pattern[bytes]) -> bytes:
        """The bytes at the cursor that match the pattern, which must be able to match nothing."""
        match = pattern.match(self.data, self.at)
        assert match is not None
        self.at = match.end()
        return match.group()

    def document(self) -> dict[str, object]:
        while self.at < len(self.data):
            if self.sees(b"\n"):
                if self.at == 0 or not self.sees(b"\n["):
                    raise self.fault("a blank line stands only before a table header, and only one")
                self.end_line()
                self.table_header()
            elif not self.sees(b"["):
                self.pair()
            elif self.at == 0:
                self.table_header()
            else:
                raise self.fault("expected a blank line before the table header")
        return self.root

    def end_line(self) -> None:
        if not self.skip(b"\n"):
            raise self.fault("expected the end of the line")
        self.line += 1

    def table_header(self) -> None:
        self.skip(b"[")
        is_item = self.skip(b"[")
        name = self.run(_KEY).decode()
        if not name or not self.skip(b"]]" if is_item else b"]"):
            raise self.fault("expected a table header: [name] or [[name]]")
        self.table = {}
        tables: list[object]
        if is_item and name == self.open_list:
            tables = self.root[name]  # type: ignore[assignment]  # only [[name]] sets open_list
            tables.append(self.table)
        else:
            self.new_name(
                self.root,
                name,
                "expected another name: this table is there already, or its [[items]] do not stand together",
            )
            self.root[name] = [self.table] if is_item else self.table
        self.open_list = name if is_item else ""
        self.end_line()

    def pair(self) -> None:
        key = self.run(_KEY).decode()
        if not key:
            raise self.fault("expected a key of letters, digits, _ or -, or a table header")
        self.new_name(self.table, key, "expected another name: this key is there already")
        if not self.skip(b" = "):
            raise self.fault("expected ' = ' after the key")
        self.table[key] = self.value()
        self.end_line()

    def new_name(self, table: dict[str, object], name: str, duplicate: str) -> None:
        if name in table:
            raise self.fault(duplicate)
        if len(table) == MAX_KEYS:
            raise self.fault("expected at most 64 keys in one table")

    def value(self) -> object:
        if self.sees(b'"'):
            return self.string()
        if self.sees_integer():
            return self.integer()
        if self.skip(b"["):
            return self.array()
        if self.skip(b"true"):
            return True
        if self.skip(b"false"):
            return False
        raise self.fault("expected a value: a string, an integer, true, false or an array")

    def sees_integer(self) -> bool:
        return self.data[self.at : self.at + 1] in (b"-", *(b"%d" % digit for digit in range(10)))

    def array(self) -> list[object]:
        items: list[object] = []
        while not self.skip(b"]"):
            if items and not self.skip(b", "):
                raise self.fault("expected ', ' or ']' in the array")
            is_string = self.sees(b'"')
            if not is_string and not self.sees_integer():
                raise self.fault("expected a string or an integer in the array")
            if items and isinstance(items[0], str) != is_string:
                raise self.fault("expected an array of strings only or of integers only")
            items.append(self.string() if is_string else self.integer())
        return items

    def integer(self) -> int:
        negative = self.skip(b"-")
        digits = self.run(_DIGITS)
        if not digits:
            raise self.fault("expected a digit after the minus sign")
        if digits.startswith(b"0") and (negative or len(digits) > 1):
            raise self.fault("expected an integer without leading zeros, and 0 without a sign")
        longest = len(str(2**63))
        value = int(digits) if len(digits) <= longest else 2**64
        if negative:
            value = -value
        if not -(2**63) <= value < 2**63:
            raise self.fault("expected an integer of at most 64 bits")
        return value

    def string(self) -> str:
        self.skip(b'"')
        parts: list[str] = []
        while not self.skip(b'"'):
            plain = _PLAIN.match(self.data, self.at)
            if plain is not None:
                self.at = plain.end()
                parts.append(plain.group().decode())
            elif self.skip(b"\\"):
                parts.append(self.escape())
            else:
                parts.append(self.character())
        return "".join(parts)

    def escape(self) -> str:
        control = self.data[self.at : self.at + 5]
        if control in _CONTROL_ESCAPES:
            self.at += 5
            return _CONTROL_ESCAPES[control]
        if self.at < len(self.data) and self.data[self.at] in _SHORT_ESCAPES:
            self.at += 1
            return _SHORT_ESCAPES[self.data[self.at - 1]]
        raise self.fault(
            'expected one of the escapes \\" \\\\ \\b \\t \\n \\f \\r, '
            "or \\u00XX with upper-case digits for another control character"
        )

    def character(self) -> str:
        if self.at == len(self.data) or self.sees(b"\n"):
            raise self.fault("expected the string's closing quote on the same line")
        if self.data[self.at] < 0x80:
            raise self.fault("expected an escape in place of the control character")
        for width in (2, 3, 4):
            try:
                character = self.data[self.at : self.at + width].decode("utf-8")
            except UnicodeDecodeError:
                continue
            self.at += width
            return character
        raise self.fault("expected UTF-8 in the string")
