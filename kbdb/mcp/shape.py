"""Results as the revision at hand knows them: what came later is left out, or told in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kbdb.mcp.revisions import Revision

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""The methods that list, and the name of the list."""


def shaped(revision: Revision, method: str, value: dict[str, Any]) -> dict[str, Any]:
    """A result in the words of a revision; the same object where it knows them all."""
    if revision.annotated and revision.structured:
        return value
    if method in LISTS:
        later = _later_than(revision)
        return {**value, LISTS[method]: [_without(item, later) for item in value[LISTS[method]]]}
    if method == "tools/call":
        return {**_without(value, ("structuredContent",)), "content": _contents(revision, value["content"])}
    if method == "prompts/get":
        messages = [{**one, "content": _content(revision, one["content"])} for one in value["messages"]]
        return {**value, "messages": messages}
    return value


def _later_than(revision: Revision) -> tuple[str, ...]:
    later = () if revision.structured else ("title", "outputSchema", "_meta")
    return later if revision.annotated else (*later, "annotations")


def _without(value: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}


def _contents(revision: Revision, contents: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [_content(revision, one) for one in contents]


def _content(revision: Revision, content: Mapping[str, Any]) -> Mapping[str, Any]:
    if content["type"] == "resource_link" and not revision.structured:
        return {"type": "text", "text": f"{content['name']}: {content['uri']}"}
    if content["type"] == "audio" and not revision.annotated:
        return {"type": "text", "text": f"(audio, {content['mimeType']})"}
    return content
