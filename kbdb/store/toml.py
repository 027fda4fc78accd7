"""Writes the canonical subset of TOML, and reads it through the chosen engine's strict scanner.

The grammar stands in README.md: one text for each value, so that equal values are equal files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from os import PathLike

from kbdb.errors import TomlError
from kbdb.index.engine import engine

MAX_KEYS = 64
"""Keys a table may hold, and tables plus keys at the top level (csrc/toml.h says why there is a limit)."""

_KEY = re.compile("[A-Za-z0-9_-]+")
_ESCAPES = str.maketrans(
    {code: f"\\u{code:04X}" for code in [*range(0x20), 0x7F]}
    | {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
)


def loads(data: bytes, path: str | PathLike[str] = "") -> dict[str, object]:
    """Reads a canonical text.

    Args:
        data: the whole text.
        path: the file it is from, for messages.

    Returns:
        Top-level keys in the order of the text: str, int, bool, lists of str or int, dicts for tables, lists of dicts.

    Raises:
        TomlError: the text is not canonical; the message gives path, line and what was expected.
    """
    try:
        return engine().scan_toml(data)
    except TomlError as error:
        if not path:
            raise
        raise TomlError(f"{path}: {error.message}", error.hint) from error


def dumps(values: Mapping[str, object]) -> bytes:
    """Writes the one text of these values: plain values in the order given, then tables and lists of tables.

    Args:
        values: str, int within 64 bits, bool, lists or tuples of str or of int, mappings of those, and lists or
            tuples of such mappings. An empty list is an empty array.

    Raises:
        TomlError: a value or key that the subset cannot hold.
    """
    pairs: list[str] = []
    tables: list[str] = []
    _check_count(values)
    for key, value in values.items():
        if isinstance(value, str):
            pairs.append(f"{_checked(key)} = {_string(value)}\n")
        elif isinstance(value, int):
            pairs.append(_pair(key, value))
        elif isinstance(value, Mapping):
            _write_table(tables, f"[{_checked(key)}]", value)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, Mapping) for item in value):
            for item in value:
                if not isinstance(item, Mapping):
                    raise TomlError(f"{key}: a list holds tables only, or none")
                _write_table(tables, f"[[{_checked(key)}]]", item)
        else:
            pairs.append(_pair(key, value))
    text = "".join(pairs + tables)
    try:
        return text.removeprefix("\n").encode("utf-8")
    except UnicodeEncodeError as error:
        raise TomlError(f"a string holds {text[error.start]!r}, which UTF-8 cannot") from error


def _write_table(lines: list[str], header: str, table: Mapping[str, object]) -> None:
    _check_count(table)
    lines.append(f"\n{header}\n")
    lines.extend([_pair(key, value) for key, value in table.items()])


def _pair(key: str, value: object) -> str:
    return f"{_checked(key)} = {_string(value) if isinstance(value, str) else _value(key, value)}\n"


def _check_count(table: Mapping[str, object]) -> None:
    if len(table) > MAX_KEYS:
        raise TomlError(f"{len(table)} keys in one table; at most {MAX_KEYS}")


@lru_cache(maxsize=1024)
def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise TomlError(f"key {key!r}: expected letters, digits, _ or -")
    return key


def _value(key: str, value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_array(key, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _scalar(key, value)


def _array(key: str, items: Sequence[object]) -> list[str]:
    if len({isinstance(item, str) for item in items}) > 1:
        raise TomlError(f"{key}: an array holds strings only or integers only")
    return [_scalar(key, item) for item in items]


def _scalar(key: str, value: object) -> str:
    if isinstance(value, str):
        return _string(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TomlError(f"{key}: cannot write {type(value).__name__} here")
    if not -(2**63) <= value < 2**63:
        raise TomlError(f"{key}: {value} is not within 64 bits")
    return str(value)


def _string(value: str) -> str:
    # Nothing that is printable has an escape, but for two characters; to ask for these is quicker than to search.
    plain = value.isprintable() and '"' not in value and "\\" not in value
    return f'"{value if plain else value.translate(_ESCAPES)}"'
