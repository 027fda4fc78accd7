"""``recall``: sections in full with what stands around them, as many as fit the budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kbdb.errors import InvalidArgumentError
from kbdb.lines import LineRange
from kbdb.mcp.budget import MOST_TOKENS, Form, after, form_fits, longest_text, most_items, shrink, shrunk_form
from kbdb.mcp.tools.tool import MAX_TOKENS, NUMBER, READS, TEXT, TEXTS, Tool, described, gives, takes

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context

MOST_KBIDS = 50
_AROUND = ("references", "back_references", "documents", "siblings")
_SHOWN_AROUND = 10
_TOKENS_A_NAME = 80
"""The budget that lets one more kbid be named of those that are missing, or left off."""

MORE_NAMES = (
    f"not all omitted kbids are named; a larger max_tokens (to {MOST_TOKENS}) shows and names more, as does recall of"
    " fewer kbids or with a smaller depth"
)

DESCRIPTION = """\
Read sections of the knowledge base in full, by the kbids that search gave, with tags, state, links to and from them, \
and neighbours. Use it before you rely on a hit, and cite title and docid. Not for finding (search), nor for exact \
lines or whole documents (retrieve). depth 1-3 brings the sections they link to as well. Returns whole sections as \
long as they fit: a first one too long is cut and next_lines says where retrieve goes on; omitted counts the rest, \
omitted_kbids names them for the next call; successor is what replaced a superseded one."""


def run(pool: Caller, given: dict[str, Any], _: Context) -> Form:
    """Answers a call."""
    kbid, kbids = given.get("kbid"), given.get("kbids")
    if (kbid is None) == (kbids is None):
        raise InvalidArgumentError("recall: give either kbid or kbids", "search shows the kbids of its hits")
    tokens = given["max_tokens"]
    asked = list(dict.fromkeys([kbid] if kbids is None else kbids))
    if not asked:
        raise InvalidArgumentError(
            "recall: kbids names no section", "give at least one; search shows the kbids of its hits"
        )
    params = {"kbids": asked, "depth": given["depth"], "format": given["format"], "maxTokens": tokens}
    found = pool.call_raw("recall", params)
    results = [_around_cut(result) for result in found["results"]]
    missing = found["missing"]
    named = tokens // _TOKENS_A_NAME

    def build(shown: Sequence[dict[str, Any]]) -> Form:
        omitted = _in_order(asked, [*(result["kbid"] for result in results[len(shown) :]), *found["omitted_kbids"]])
        answer = {
            "results": shown,
            "omitted": len(omitted),
            "omitted_kbids": omitted[:named],
            "missing": missing[:named],
        }
        names = {"omitted_kbids": omitted, "missing": missing}
        if left_off := {name: len(kbids) - named for name, kbids in names.items() if len(kbids) > named}:
            answer["left_off"] = left_off
        if len(omitted) > named:
            answer["more"] = MORE_NAMES
        return answer, _text(answer)

    count, form = most_items(results, build, tokens)
    if not count and results:
        form = _first_cut(results[0], build, tokens)
    return form


def _in_order(asked: Sequence[str], omitted: Sequence[str]) -> list[str]:
    """What was left out: first what was asked for itself, as it was asked for, then what links lead to."""
    left = set(omitted)
    return list(dict.fromkeys([*(kbid for kbid in asked if kbid in left), *omitted]))


def _around_cut(result: dict[str, Any]) -> dict[str, Any]:
    """A result with few of what may be many."""
    left_off = dict(result.pop("left_off", None) or {})
    for name in _AROUND:
        if result[name]:
            result[name] = shrink(result[name], 200, _SHOWN_AROUND, left_off, name)
    if left_off:
        result["left_off"] = left_off
    return _going_on(result, result["content"]) if result["truncated"] else result


def _first_cut(result: dict[str, Any], build: Callable[[Sequence[dict[str, Any]]], Form], tokens: int) -> Form:
    """The answer with the beginning of its first section, and little else of it where even that is too much."""
    content = result["content"]
    for characters, items in ((400, _SHOWN_AROUND), (200, 3), (60, 1), (20, 0)):
        left_off = dict(result.get("left_off", {}))
        lesser = shrink({**result, "content": ""}, characters, items, left_off)
        if left_off:
            lesser["left_off"] = left_off

        def with_text(shown: str, lesser: dict[str, Any] = lesser) -> Form:
            whole = shown == content and not result["truncated"]
            return build([{**lesser, "content": shown} if whole else _going_on(lesser, shown)])

        shown, form = longest_text(content, with_text, tokens)
        if shown or (not content and form_fits(form, tokens)):
            return form
    return shrunk_form(form[0], _text, tokens)


def _going_on(result: dict[str, Any], shown: str) -> dict[str, Any]:
    following = after(shown, LineRange())
    return {**result, "content": shown, "truncated": True, "next_lines": str(following)}


def _text(answer: dict[str, Any]) -> str:
    lines: list[str] = []
    for result in answer["results"]:
        lines += _section(result)
    if answer["omitted"] or answer["omitted_kbids"]:
        lines.append(f"omitted: {answer['omitted']} {' '.join(answer['omitted_kbids'])}".rstrip())
    if "more" in answer:
        lines.append(f"more: {answer['more']}")
    if answer["missing"]:
        lines.append(f"not stored: {' '.join(answer['missing'])}")
    lines += [f"left off: {count} {name}" for name, count in answer.get("left_off", {}).items()]
    return "\n".join(lines) or "nothing"


def _section(result: dict[str, Any]) -> list[str]:
    known = result["metadata"]
    head = [
        f"# {result['title']} [{result['kbid']}]",
        f"{known['state']}; {known['section_type']}, {known['type']}; level {result['level']}"
        + (f" under {result['parent']}" if result["parent"] else "")
        + (f"; tags {', '.join(known['tags'])}" if known["tags"] else "")
        + (f"; created {known['created']}" if known["created"] else "")
        + (f"; updated {known['updated']}" if known["updated"] else ""),
    ]
    if result["successor"]:
        head.append(f"replaced by: {result['successor']} (recall that)")
    if known["description"]:
        head.append(f"about: {known['description']}")
    if result["documents"]:
        head.append(f"in: {', '.join(result['documents'])}")
    lines = [*head, "", result["content"], ""]
    if result["truncated"]:
        lines.append(f"(cut: retrieve kbid={result['kbid']} lines={result['next_lines']})")
    for name in ("references", "back_references", "siblings"):
        for one in result[name]:
            target = f"{one['target']} " if "target" in one else ""
            parts = (f"{target}{one['title']}", f"[{one['kbid']}]" if one["kbid"] else "", one["docid"])
            lines.append(f"{name.replace('_', ' ')}: {' '.join(filter(None, parts))}")
    for name, count in result.get("left_off", {}).items():
        lines.append(f"left off: {count} {name}")
    return [*lines, ""]


TOOL = Tool(
    {
        "name": "recall",
        "title": "Recall sections",
        "description": DESCRIPTION,
        "inputSchema": takes(
            kbid=described(TEXT, "One section, or"),
            kbids=described(TEXTS, "several", maxItems=MOST_KBIDS),
            depth=described(NUMBER, "Links to follow", minimum=0, maximum=3, default=0),
            format=described(TEXT, "compact leaves links and neighbours out", enum=["full", "compact"], default="full"),
            max_tokens=MAX_TOKENS,
        ),
        "outputSchema": gives(
            results={"type": "array", "items": {"type": "object", "required": ["kbid", "title", "content"]}},
            omitted=NUMBER,
            omitted_kbids=TEXTS,
            missing=TEXTS,
        ),
        "annotations": READS,
    },
    run,
)
