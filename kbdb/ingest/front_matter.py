"""YAML and TOML front matter: what a Markdown document says of itself, read without trusting it.

YAML is read as a stream of events, never as objects: no aliases are followed, no keys merged, no types guessed, so a
few bytes cannot become a billion and a title of ``2024`` stays as written.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbdb.ingest.inline import one_line

if TYPE_CHECKING:
    import yaml

MAX_FRONT_MATTER = 64 * 1024
"""Characters in which the closing delimiter must come; a longer block is text."""

_OPEN = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)")
_CLOSE = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)", re.MULTILINE),
}
_YAML_KEY = re.compile(r"\s*(?:#[^\n]*\n\s*)*[\w.-]+[ \t]*:(?:[ \t]|$)", re.MULTILINE)
_TOML_KEY = re.compile(r"\s*(?:#[^\n]*\n\s*)*(?:[\w.\"'-]+[ \t]*=|\[)")
_LINE = re.compile(r"^(title|description|tags|keywords)[ \t]*[:=][ \t]*(.*)$", re.MULTILINE)
_TEXTS = ("title", "description")
NULLS = frozenset({"", "~", "null", "Null", "NULL"})

_Values = dict[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What front matter says, and the offset in the text after it."""

    title: str
    description: str
    tags: tuple[str, ...]
    end: int
    warnings: tuple[str, ...] = ()


def read_front_matter(text: str, start: int) -> FrontMatter | None:
    """Reads the front matter that begins at ``start``.

    A block between delimiters counts when it is empty or a mapping. If it cannot be parsed but begins like one, it
    counts too, with a warning, and plain ``key: value`` lines are believed; anything else is text between breaks.

    Returns:
        None when there is none.
    """
    found = find_front_matter(text, start)
    if found is None:
        return None
    mark, block, end = found
    if mark == "---":
        return _read(block, end, _yaml_values, _YAML_KEY, "YAML")
    return _read(block, end, _toml_values, _TOML_KEY, "TOML")


def find_front_matter(text: str, start: int) -> tuple[str, str, int] | None:
    """The delimiter, the text between, and the offset after a block between delimiters; None when there is none."""
    opening = _OPEN.match(text, start)
    if opening is None:
        return None
    # A CR alone ends a line, which MULTILINE does not know; as many characters stay in place.
    window = text[opening.end() : opening.end() + MAX_FRONT_MATTER].replace("\r\n", " \n").replace("\r", "\n")
    closing = _CLOSE[opening[1]].search(window)
    if closing is None:
        return None
    return opening[1], window[: closing.start()], opening.end() + closing.end()


def _read(
    block: str, end: int, values: Callable[[str], _Values | None], key: re.Pattern[str], language: str
) -> FrontMatter | None:
    try:
        found = values(block)
    except ValueError as error:
        if key.match(block) is None:
            return None
        lines: _Values = {name: value.strip().strip("\"'") for name, value in _LINE.findall(block)}
        return _from_values(lines, end, (f"front matter is not valid {language}: {one_line(str(error))}",))
    return None if found is None else _from_values(found, end, ())


def _from_values(values: _Values, end: int, warnings: tuple[str, ...]) -> FrontMatter:
    title, description = (one_line(text) if isinstance(text := values.get(name), str) else "" for name in _TEXTS)
    tags = dict.fromkeys(tag for name in ("tags", "keywords") for tag in _tags(values.get(name, [])))
    return FrontMatter(title, description, tuple(tags), end, warnings)


def _tags(value: str | list[str]) -> Iterator[str]:
    if isinstance(value, str):
        text = value.strip("[] ")
        value = [part.strip(" \"'") for part in (text.split(",") if "," in text else text.split())]
    for item in value:
        if tag := one_line(item).lstrip("#").strip():
            yield tag


def _yaml_values(block: str) -> _Values | None:
    """The texts and lists of texts in a YAML mapping's top level; None when it is something else than a mapping.

    Raises:
        ValueError: not YAML.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = yaml.parse(block, Loader=loader)
        return _yaml_mapping(event for event in events if isinstance(event, (yaml.NodeEvent, yaml.CollectionEndEvent)))
    except (yaml.YAMLError, RecursionError, UnicodeError) as error:
        raise ValueError(str(error)) from error


def _yaml_mapping(events: Iterator[yaml.Event]) -> _Values | None:
    import yaml

    first = next(events, None)
    if not isinstance(first, yaml.MappingStartEvent):
        return {} if first is None or _yaml_node(first, events) is None else None
    values: _Values = {}
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        key = _yaml_node(event, events)
        value = _yaml_node(next(events), events)
        if isinstance(key, str) and value is not None:
            values.setdefault(key, value)
    return values


def _yaml_node(event: yaml.Event, events: Iterator[yaml.Event]) -> str | list[str] | None:
    """Reads one node to its end: a scalar's text, the texts directly in a collection; None for nulls and aliases."""
    import yaml

    if isinstance(event, yaml.ScalarEvent):
        return None if not event.style and event.value in NULLS else event.value
    items: list[str] = []
    depth = 1 if isinstance(event, yaml.CollectionStartEvent) else 0
    while depth:
        inner = next(events)
        if isinstance(inner, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(inner, yaml.CollectionEndEvent):
            depth -= 1
        elif depth == 1 and isinstance(inner, yaml.ScalarEvent):
            items.append(inner.value)
    return items if isinstance(event, yaml.SequenceStartEvent) else None


def _toml_values(block: str) -> _Values:
    try:
        table = tomllib.loads(block)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return {name: text for name, value in table.items() if (text := _toml_text(value)) is not None}


def _toml_text(value: object) -> str | list[str] | None:
    if isinstance(value, list):
        return [text for item in value if isinstance(text := _toml_text(item), str)]
    if isinstance(value, (str, int, float, datetime.date, datetime.time)):
        return str(value)
    return None
