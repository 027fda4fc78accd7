"""Checks a tool's arguments against its input schema, and says of each that is wrong how it would be right.

Knows as much of JSON Schema as our schemas use. Null stands for an argument that is not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbdb.errors import InvalidArgumentError

_KINDS: dict[str, tuple[type[Any], str]] = {
    "string": (str, "a string"),
    "integer": (int, "an integer"),
    "boolean": (bool, "true or false"),
    "array": (list, "an array"),
}


def checked(tool: str, schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given, and the defaults of those that were not.

    Raises:
        InvalidArgumentError: names every argument that is unknown, missing or of the wrong kind.
    """
    known: Mapping[str, Mapping[str, Any]] = schema["properties"]
    wrong = [_unknown(name, known) for name in given if name not in known]
    found: dict[str, Any] = {}
    for name, kind in known.items():
        value = given.get(name)
        if value is None:
            if name in schema.get("required", ()):
                wrong.append(f"{name!r} is missing")
            elif "default" in kind:
                found[name] = kind["default"]
            continue
        if kind["type"] == "integer" and isinstance(value, float) and value.is_integer():
            value = int(value)
        if fault := _fault(name, value, kind):
            wrong.append(fault)
        found[name] = value
    if wrong:
        takes = ", ".join(_described(name, kind, schema) for name, kind in known.items()) or "nothing"
        raise InvalidArgumentError(f"{tool}: {'; '.join(wrong)}", f"it takes: {takes}")
    return found


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"{name!r} is no parameter" + (f", {near[0]!r} is" if near else "")


def _fault(name: str, value: Any, kind: Mapping[str, Any]) -> str:
    wanted, words = _KINDS[kind["type"]]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        return f"{name!r} must be {words}, not {_shown(value)}"
    if "enum" in kind and value not in kind["enum"]:
        return f"{name!r} must be one of {', '.join(kind['enum'])}, not {_shown(value)}"
    if not kind.get("minimum", value) <= value <= kind.get("maximum", value):
        return f"{name!r} must be from {kind.get('minimum')} to {kind.get('maximum', 'any number')}, not {value}"
    if isinstance(value, list):
        if not all(isinstance(item, str) for item in value):
            return f"{name!r} must be an array of strings"
        if len(value) > kind.get("maxItems", len(value)):
            return f"{name!r} may have {kind['maxItems']} items, not {len(value)}"
    return _text_fault(name, value)


def _text_fault(name: str, value: Any) -> str:
    """Half of a surrogate pair is no character, and cannot be sent on."""
    try:
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                text.encode()
    except UnicodeEncodeError:
        return f"{name!r} holds a lone surrogate, which is no character"
    return ""


def _shown(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _described(name: str, kind: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    what = "|".join(kind["enum"]) if "enum" in kind else kind["type"]
    return f"{name} ({what}{', required' if name in schema.get('required', ()) else ''})"
