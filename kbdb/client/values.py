"""From JSON back to the values of ``kbdb.model``: the other way of ``as_json``, by the types of the fields.

What a type needs is settled once; names that a value's class does not know are passed over, those that are missing have
their default, so that programs of two versions understand each other where they can.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from kbdb.errors import ProtocolError

Value = TypeVar("Value")
Read = Callable[[Any], Any]

PLAIN = (str, int, bool)


def from_json(kind: type[Value], value: Any) -> Value:
    """A value of a class of ``kbdb.model``.

    Raises:
        ProtocolError: the JSON does not fit the class; names the place.
    """
    sought: Any = kind
    try:
        made: Value = _reader(sought)(value)
    except _Misfit as misfit:
        place = "".join(reversed(misfit.place))
        raise ProtocolError(
            f"{kind.__name__}{place}: {misfit}", "client and daemon are of different versions"
        ) from None
    return made


class _Misfit(Exception):
    """JSON that does not fit; ``place`` is where, from the inside out."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.place: list[str] = []


def _misfit(wanted: str, value: Any) -> NoReturn:
    shown = repr(value)
    raise _Misfit(f"expected {wanted}, got {shown if len(shown) <= 40 else shown[:37] + '...'}")


@cache
def _reader(kind: Any) -> Read:
    """What reads JSON into this type."""
    if isinstance(kind, type) and is_dataclass(kind):
        return _dataclass(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is Literal:
        return _one_of(arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _tuple(arguments[0])
    if origin is Mapping:
        return _mapping(_reader(arguments[1]))
    if kind is bytes:
        return _bytes
    if kind is float:
        return _float
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum(kind)
    if kind in PLAIN:
        return _plain(kind)
    raise TypeError(f"no value of kbdb.model has fields of type {kind}")


def _plain(kind: type) -> Read:
    def read(value: Any) -> Any:
        return value if value.__class__ is kind else _misfit(kind.__name__, value)

    return read


def _float(value: Any) -> Any:
    if value.__class__ is float:
        return value
    return float(value) if value.__class__ is int else _misfit("a number", value)


def _bytes(value: Any) -> bytes:
    try:
        if isinstance(value, str):
            return value.encode("utf-8")
        if isinstance(value, dict) and isinstance(value.get("base64"), str):
            import base64

            return base64.b64decode(value["base64"], validate=True)
    except ValueError:
        pass
    _misfit("text, or bytes in base64", value)


def _enum(kind: type[Enum]) -> Read:
    members: dict[Any, Enum] = {member.value: member for member in kind}
    known = ", ".join(map(str, members))

    def read(value: Any) -> Any:
        found = members.get(value) if isinstance(value, str) else None
        return found if found is not None else _misfit(f"one of {known}", value)

    return read


def _one_of(allowed: Any) -> Read:
    def read(value: Any) -> Any:
        return value if value in allowed else _misfit(f"one of {', '.join(map(str, allowed))}", value)

    return read


def _union(arguments: tuple[Any, ...]) -> Read:
    others = [argument for argument in arguments if argument is not types.NoneType]
    if len(others) != 1 or len(others) == len(arguments):
        raise TypeError(f"JSON cannot tell {arguments} apart")
    read = _reader(others[0])
    return lambda value: None if value is None else read(value)


def _tuple(kind: Any) -> Read:
    read_item = _reader(kind)
    as_they_are = {kind} if kind in PLAIN else set()

    def read(value: Any) -> Any:
        if value.__class__ is not list:
            _misfit("a list", value)
        if as_they_are.issuperset(map(type, value)):
            return tuple(value)
        try:
            return tuple([read_item(item) for item in value])
        except _Misfit as misfit:
            misfit.place.append(f"[{_first_bad(read_item, value)}]")
            raise

    return read


def _first_bad(read_item: Read, items: list[Any]) -> int:
    for index, item in enumerate(items):
        try:
            read_item(item)
        except _Misfit:
            return index
    return len(items)


def _mapping(read_item: Read) -> Read:
    def read(value: Any) -> Any:
        if value.__class__ is not dict:
            _misfit("an object", value)
        made = {}
        for name, item in value.items():
            try:
                made[name] = read_item(item)
            except _Misfit as misfit:
                misfit.place.append(f".{name}")
                raise
        return made

    return read


def _dataclass(kind: type) -> Read:
    hints = get_type_hints(kind)
    readers = [
        (field.name, _as_it_is(hints[field.name]), _reader(hints[field.name]), _has_default(field))
        for field in fields(kind)
    ]

    def read(value: Any) -> Any:
        if value.__class__ is not dict:
            _misfit("an object", value)
        made = {}
        for name, as_it_is, read_field, has_default in readers:
            try:
                item = value[name]
            except KeyError:
                if has_default:
                    continue
                raise _Misfit(f"{name} is missing") from None
            if item.__class__ is as_it_is:
                made[name] = item
                continue
            try:
                made[name] = read_field(item)
            except _Misfit as misfit:
                misfit.place.append(f".{name}")
                raise
        return kind(**made)

    return read


def _as_it_is(kind: Any) -> type | None:
    """The class of those values of a type that JSON has as they are; most fields hold such, and are done sooner."""
    if kind in PLAIN or kind is float:
        return cast(type, kind)
    return types.NoneType if types.NoneType in get_args(kind) else None


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING
