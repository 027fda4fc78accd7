"""Prompts: every skill by its name, every agent as ``agent:<name>``, over the daemon's client.

``listed`` and ``get`` are what the registry's ``prompts`` and ``get_prompt`` answer. For completions there are
``names``, all that begin with what was typed, and ``values``, what an argument may be: only a boolean says. Both give
everything; cutting it to what the protocol allows is for who asks.

Without a database there are the skills that come with kbdb: hosts ask for the list once, at the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kbdb.builtin import BUILT_IN, built_in_text
from kbdb.errors import AgentNotFoundError, InvalidArgumentError, NotADatabaseError, SkillNotFoundError
from kbdb.mcp import cursors
from kbdb.mcp.budget import MOST_TOKENS, cut_at, short
from kbdb.mcp.registry import InvalidParamsError, Page
from kbdb.mcp.types import McpPrompt, McpPromptArgument, McpPromptResult

if TYPE_CHECKING:
    from kbdb.client import Client
    from kbdb.mcp.pool import Pool

AGENT = "agent:"
"""What the name of an agent's prompt begins with; no skill's does, for names hold no colon."""

PAGE = 100
"""Prompts on a page."""

LONGEST_DESCRIPTION = 400
"""Characters of a description: a page holds a hundred."""

_FOR_THE_NOTE = 200
"""Tokens for the words that tell what was left off."""

BOOLEANS = ("true", "false")


def listed(client: Client | Pool, cursor: str | None) -> Page[McpPrompt]:
    """A page of all prompts: skills in the order in which kbdb lists them, then agents by name.

    Raises:
        InvalidParamsError: the cursor is none of ours.
    """
    prompts = _all(client)
    start = 0 if cursor is None else _start(prompts, cursor)
    end = start + PAGE
    more = _cursor(end, prompts[end - 1]["name"]) if end < len(prompts) else None
    return Page(prompts[start:end], more)


def get(client: Client | Pool, name: str, arguments: Mapping[str, str]) -> McpPromptResult:
    """A prompt with its arguments put in: a skill's text; an agent's persona, then its skills by position.

    One of more than ``MOST_TOKENS`` is cut as the answers of tools are, and says at its end what was left off.

    Raises:
        InvalidParamsError: there is no such prompt, or an argument is missing, unknown or not of its type.
    """
    found = _one(client, name, {"values": dict(arguments)})
    text = _cut(found["prompt"], found)
    result: McpPromptResult = {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
    described = short(found["description"], LONGEST_DESCRIPTION)
    return {"description": described, **result} if described else result


def _cut(text: str, found: Mapping[str, Any]) -> str:
    """As much of a prompt's text as fits, in whole sentences."""
    end = cut_at(text, MOST_TOKENS)
    if end == len(text):
        return text
    end = cut_at(text, MOST_TOKENS - _FOR_THE_NOTE)
    stored = f"docid={found['docid']}" if "persona" in found else f"kbid={found['kbid']}"
    left = f"{len(text) - end:,} of {len(text):,} characters of this prompt were left off"
    return f"{text[:end].rstrip()}\n\n({left}; the tool retrieve reads what is stored, with {stored}.)\n"


def names(client: Client | Pool, prefix: str) -> list[str]:
    """The names of all prompts that begin with this, in the order of ``listed``."""
    return [prompt["name"] for prompt in _all(client) if prompt["name"].startswith(prefix)]


def values(client: Client | Pool, name: str, argument: str, typed: str) -> list[str]:
    """What could be the value of an argument of a prompt; none where that is anybody's guess.

    Raises:
        InvalidParamsError: there is no such prompt or argument.
    """
    found = {known["name"]: known for known in _one(client, name, {})["arguments"]}
    if argument not in found:
        raise InvalidParamsError(f"prompt {name!r} has no argument {argument!r}")
    return [value for value in BOOLEANS if value.startswith(typed)] if found[argument]["type"] == "boolean" else []


def _all(client: Client | Pool) -> list[McpPrompt]:
    try:
        skills = client.call_raw("skills")["items"]
        agents = client.call_raw("agents")["items"]
    except NotADatabaseError:
        skills, agents = [_built_in(name) for name in BUILT_IN], []
    return [_prompt(item["name"], item) for item in skills] + [_prompt(AGENT + item["name"], item) for item in agents]


def _one(client: Client | Pool, name: str, params: dict[str, Any]) -> dict[str, Any]:
    is_agent = name.startswith(AGENT)
    method, own = ("agent", name.removeprefix(AGENT)) if is_agent else ("skill", name)
    try:
        return client.call_raw(method, {"name": own, **params})
    except (SkillNotFoundError, AgentNotFoundError) as error:
        raise InvalidParamsError(f"no prompt {name!r}; prompts/list names them all") from error
    except InvalidArgumentError as error:
        raise InvalidParamsError(error.in_a_line) from error
    except NotADatabaseError as error:
        if own not in BUILT_IN or is_agent:
            raise InvalidParamsError(f"no prompt {name!r}: {error.in_a_line}") from error
        if values := params.get("values"):
            raise InvalidParamsError(f"skill {name} has no argument {', '.join(map(repr, values))}") from error
        return _built_in(name)


def _built_in(name: str) -> dict[str, Any]:
    """As the daemon would show it."""
    return {"name": name, "description": BUILT_IN[name], "arguments": [], "prompt": built_in_text(name).rstrip("\n")}


def _prompt(name: str, item: Mapping[str, Any]) -> McpPrompt:
    prompt: McpPrompt = {"name": name}
    if item["description"]:
        prompt["description"] = short(item["description"], LONGEST_DESCRIPTION)
    if item["arguments"]:
        prompt["arguments"] = [_argument(argument) for argument in item["arguments"]]
    return prompt


def _argument(argument: Mapping[str, Any]) -> McpPromptArgument:
    """An argument; the protocol knows no types of them, so that the description has to tell."""
    kind = "" if argument["type"] == "string" else f"({argument['type']})"
    described: McpPromptArgument = {"name": argument["name"], "required": argument["required"]}
    if text := " ".join(filter(None, (argument["description"], kind))):
        described["description"] = short(text, LONGEST_DESCRIPTION)
    return described


def _cursor(end: int, last: str) -> str:
    return cursors.written(f"{end}:{last}")


def _start(prompts: list[McpPrompt], cursor: str) -> int:
    """Where a page begins: after the last prompt of the page before, or in its place where it is gone."""
    try:
        end, colon, last = cursors.read(cursor).partition(":")
        number = int(end)
    except ValueError:
        number, colon, last = 0, "", ""
    if number < 1 or not colon:
        raise InvalidParamsError(f"the cursor {cursor!r} is none that prompts/list gave")
    places = [place for place, prompt in enumerate(prompts, start=1) if prompt["name"] == last]
    return places[0] if places else min(number - 1, len(prompts))
