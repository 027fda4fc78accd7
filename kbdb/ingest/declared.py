"""What the front matter of a skill or an agent declares beyond a document's: its name, arguments and skills.

```yaml
name: deploy-service
arguments:
  - name: service
    type: string          # or number, boolean
    description: which one to deploy
    required: true        # the default
  - region                # the same as `name: region`
skills: [review, deploy]  # of an agent; `review, deploy` says the same
```

TOML says the same with ``[[arguments]]``. As in ``front_matter``, YAML is read as events: aliases count as nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from kbdb.ingest.front_matter import NULLS, find_front_matter
from kbdb.ingest.inline import one_line
from kbdb.model.skill import ArgumentType, SkillArgument

if TYPE_CHECKING:
    import yaml

ARGUMENT_NAME = "[A-Za-z_][A-Za-z0-9_-]{0,63}"
TYPES: tuple[ArgumentType, ...] = get_args(ArgumentType)
MAX_DEPTH = 4
"""What is nested deeper declares nothing."""

_NAME = re.compile(ARGUMENT_NAME)
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_KEYS = ("name", "type", "description", "required")


@dataclass(frozen=True, slots=True)
class Declared:
    """What was declared; ``faults`` say which declarations could not be understood, and what would be right.

    ``skills``: names or kbids, each once; None where nothing is said of them.
    """

    name: str = ""
    arguments: tuple[SkillArgument, ...] = ()
    skills: tuple[str, ...] | None = None
    faults: tuple[str, ...] = ()


def read_declared(head: str) -> Declared:
    """Reads what a document's text declares in the front matter that it begins with."""
    found = find_front_matter(head, 1 if head.startswith("\ufeff") else 0)
    if found is None:
        return Declared()
    mark, block, _ = found
    try:
        values = _yaml(block) if mark == "---" else tomllib.loads(block)
    except (ValueError, RecursionError):
        # The document's parser tells of it.
        return Declared()
    if not isinstance(values, Mapping):
        return Declared()
    name, faults = values.get("name"), list[str]()
    arguments: dict[str, SkillArgument] = {}
    for given in _listed(values.get("arguments"), faults):
        argument = _argument(given, faults)
        if argument is not None:
            arguments.setdefault(argument.name, argument)
    skills = _skills(values["skills"], faults) if "skills" in values else None
    return Declared(one_line(name) if isinstance(name, str) else "", tuple(arguments.values()), skills, tuple(faults))


def argument_faults(argument: SkillArgument) -> Iterator[str]:
    """What is wrong with a declaration."""
    if _NAME.fullmatch(argument.name) is None:
        yield f"argument {argument.name!r} is no name: use letters, digits, hyphens and underscores"
    if argument.type not in TYPES:
        yield f"argument {argument.name} has the type {argument.type!r}: use one of {', '.join(TYPES)}"


def _listed(value: Any, faults: list[str]) -> list[Any]:
    if value is None or isinstance(value, list):
        return value or []
    faults.append("arguments is not a list: write each as an entry with a name")
    return []


def _skills(value: Any, faults: list[str]) -> tuple[str, ...]:
    listed = value.split(",") if isinstance(value, str) else value or []
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        faults.append("skills is not a list of names: write it like [review, deploy]")
        return ()
    return tuple(dict.fromkeys(name for given in listed if (name := one_line(given))))


def _argument(given: Any, faults: list[str]) -> SkillArgument | None:
    """One entry; what it says wrong is left out, so that a skill that was learned can still be used."""
    entry = {"name": given} if isinstance(given, str) else given
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        faults.append(f"an entry of arguments has no name: give it some of {', '.join(_KEYS)}")
        return None
    name = entry["name"].strip()
    kind, required = str(entry.get("type") or "string").strip(), _truth(entry.get("required", True))
    argument = SkillArgument(name, kind, one_line(str(entry.get("description") or "")), required is not False)  # type: ignore[arg-type]
    wrong = list(argument_faults(argument))
    if required is None:
        wrong.append(f"required of argument {name} is {entry['required']!r}: use true or false")
    faults += wrong
    if _NAME.fullmatch(name) is None:
        return None
    return argument if kind in TYPES else SkillArgument(name, "string", argument.description, argument.required)


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _TRUTH.get(str(value).strip().lower())


def _yaml(block: str) -> Any:
    """The value of a YAML text: texts, lists and mappings of them.

    Raises:
        ValueError: not YAML.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = yaml.parse(block, Loader=loader)
        nodes = (event for event in events if isinstance(event, (yaml.NodeEvent, yaml.CollectionEndEvent)))
        first = next(nodes, None)
        return None if first is None else _node(first, nodes, 1)
    except (yaml.YAMLError, UnicodeError) as error:
        raise ValueError(str(error)) from error


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Any:
    """Reads one node to its end."""
    import yaml

    if isinstance(event, yaml.ScalarEvent):
        return None if not event.style and event.value in NULLS else event.value
    if not isinstance(event, yaml.CollectionStartEvent):
        return None
    if depth > MAX_DEPTH:
        _skip(events)
        return None
    items = []
    while not isinstance(inner := next(events), yaml.CollectionEndEvent):
        items.append(_node(inner, events, depth + 1))
    if isinstance(event, yaml.SequenceStartEvent):
        return items
    pairs = zip(items[::2], items[1::2], strict=True)
    return {key: value for key, value in reversed([*pairs]) if isinstance(key, str)}


def _skip(events: Iterator[yaml.Event]) -> None:
    import yaml

    depth = 1
    while depth:
        inner = next(events)
        depth += isinstance(inner, yaml.CollectionStartEvent) - isinstance(inner, yaml.CollectionEndEvent)
