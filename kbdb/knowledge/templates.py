"""Templates: the ``{{argument}}`` markers of a text, and values in their place.

A marker is two braces, a name, two braces; blanks may stand around the name. Values go in as they are and once: a
marker in a value is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from kbdb.errors import InvalidArgumentError
from kbdb.ingest.declared import ARGUMENT_NAME
from kbdb.model.skill import SkillArgument

Value = str | int | float | bool

_MARKER = re.compile(rf"\{{\{{[ \t]*({ARGUMENT_NAME})[ \t]*\}}\}}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def markers(text: str) -> tuple[str, ...]:
    """The names in the markers of a text, in the order in which they first appear, each once."""
    return tuple(dict.fromkeys(_MARKER.findall(text)))


def arguments_of(text: str, declared: Iterable[SkillArgument]) -> tuple[SkillArgument, ...]:
    """The arguments of a template: those of its markers, with what was declared of them."""
    known = {argument.name: argument for argument in declared}
    return tuple(known.get(name) or SkillArgument(name) for name in markers(text))


def check_values(arguments: Sequence[SkillArgument], values: Mapping[str, Value], what: str) -> dict[str, str]:
    """The values as texts.

    Args:
        what: takes them, for messages.

    Raises:
        InvalidArgumentError: some are unknown, missing or not of their type; names all of those.
    """
    known = {argument.name: argument for argument in arguments}
    takes = f"it takes: {', '.join(map(_shown, arguments)) or 'none'}"
    if unknown := [name for name in values if name not in known]:
        raise InvalidArgumentError(f"{what} has no argument {', '.join(map(repr, unknown))}", takes)
    if missing := [argument.name for argument in arguments if argument.required and argument.name not in values]:
        raise InvalidArgumentError(f"{what} needs a value for {', '.join(missing)}", takes)
    texts = {name: _text(known[name], value) for name, value in values.items()}
    if wrong := [name for name, text in texts.items() if text is None]:
        said = ", ".join(f"{name} is {values[name]!r}, not a {known[name].type}" for name in wrong)
        raise InvalidArgumentError(f"{what}: {said}", "a number is written like 3 or -0.5, a boolean is true or false")
    return {name: text for name, text in texts.items() if text is not None}


def rendered(text: str, values: Mapping[str, str]) -> str:
    """The text with the values in the place of their markers; a marker without a value stays."""
    return _MARKER.sub(lambda marker: values.get(marker[1], marker[0]), text)


def _shown(argument: SkillArgument) -> str:
    said: list[str] = [argument.type] if argument.type != "string" else []
    said += [] if argument.required else ["optional"]
    return f"{argument.name} ({', '.join(said)})" if said else argument.name


def _text(argument: SkillArgument, value: Value) -> str | None:
    """A value as it is put in; None where it is not of the argument's type."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if argument.type == "number":
        return text if _NUMBER.fullmatch(text) else None
    if argument.type == "boolean":
        return text if text in ("true", "false") else None
    return text
