"""From the values of this package to what ``json.dumps`` takes; called at the edge only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def as_json(value: Any) -> Any:
    """Turns model values into what ``json.dumps`` takes: dataclasses to dicts in field order, tuples to lists.

    Bytes become text; bytes that are not UTF-8 become ``{"base64": ...}``. What a class names in ``ON_REQUEST`` is left
    out where it is None.
    """
    if is_dataclass(value) and not isinstance(value, type):
        items = {f.name: as_json(getattr(value, f.name)) for f in fields(value)}
        on_request = getattr(value, "ON_REQUEST", ())
        return {name: item for name, item in items.items() if item is not None or name not in on_request}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_json(item) for item in value]
    if isinstance(value, bytes):
        return _bytes_as_json(value)
    return value


def _bytes_as_json(value: bytes) -> Any:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        import base64

        return {"base64": base64.b64encode(value).decode("ascii")}
