"""``search``: finds sections by words or meaning; a page of hits that fits the budget, and where the next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kbdb.mcp.answers import plain, rounded
from kbdb.mcp.budget import Form, longest_text, most_items, short, shrink, shrunk_form
from kbdb.mcp.tools.tool import (
    MAX_TOKENS,
    NUMBER,
    READS,
    SECTION_TYPES,
    TEXT,
    TEXTS,
    YES,
    Tool,
    described,
    gives,
    on_the_wire,
    or_null,
    takes,
)

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context

MOST_HITS = 50
_SHOWN_NOTES = 5

DESCRIPTION = """\
Search the knowledge base, best first: past decisions, conventions, corrections, notes, documents, skills. \
Use it before answering from memory about anything that may be stored, and before learn. Not for reading: give the \
kbids of hits to recall. Words are OR-ed and ranked; also "a phrase", -without, prefix*, title:word, tag:name. \
Returns hits with snippets; verdict (answered, weak, unanswered) says how well the best one fits, hidden counts \
matches that were superseded or forgotten. For more, call again with offset=next_offset."""


def run(pool: Caller, given: dict[str, Any], _: Context) -> Form:
    """Answers a call."""
    tokens, content = given.pop("max_tokens"), given.pop("content")
    if given.get("type") in SECTION_TYPES:
        given["section_type"] = given.pop("type")
    found = pool.call_raw("search", on_the_wire(given))
    hits = found.pop("hits")
    for hit in hits:
        hit["score"] = round(hit["score"], 4)
    page = len(hits)
    if content and hits:
        hits = _with_content(pool, hits, tokens)
    rounded(found, "engine_ms", "elapsed_ms")
    found["query"] = short(found["query"], 200)
    notes = {
        name: len(found[name]) - _SHOWN_NOTES for name in ("warnings", "unreadable") if len(found[name]) > _SHOWN_NOTES
    }
    if found["warnings"] or found["unreadable"]:
        for name in ("warnings", "unreadable"):
            found[name] = shrink(found[name], 240, _SHOWN_NOTES, {})
    first, total = found["offset"], found["total"]

    def build(shown: Sequence[dict[str, Any]]) -> Form:
        end = first + len(shown)
        left_off = {"hits": page - len(shown), **notes} if len(shown) < page else notes
        more = len(shown) < page or (page > 0 and (total > end or not found["total_is_exact"]))
        answer = {**found, "hits": shown, "next_offset": end if more else None}
        if left_off:
            answer["left_off"] = left_off
        return answer, _text(answer)

    count, form = most_items(hits, build, tokens)
    if not count:
        form = _first_cut(hits[0], build, tokens) if hits else shrunk_form(build([])[0], _text, tokens)
    return form


def _first_cut(hit: dict[str, Any], build: Callable[[Sequence[dict[str, Any]]], Form], tokens: int) -> Form:
    """The answer with a first hit that is too long: its text is cut, and all else of it where even that is too much."""
    if "content" not in hit:
        return shrunk_form(build([hit])[0], _text, tokens)
    content = hit["content"]

    def with_text(shown: str) -> Form:
        return build([hit if shown == content else {**hit, "content": shown, "truncated": True}])

    shown, form = longest_text(content, with_text, tokens)
    return form if shown else shrunk_form(form[0], _text, tokens)


def _with_content(pool: Caller, hits: list[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """The hits up to the first whose section does not fit, each with its text; that of the first may be cut."""
    kbids = [hit["kbid"] for hit in hits]
    recalled = pool.call_raw("recall", {"kbids": kbids, "depth": 0, "format": "compact", "maxTokens": tokens})[
        "results"
    ]
    texts = {result["kbid"]: result for result in recalled}
    whole: list[dict[str, Any]] = []
    for hit in hits:
        result = texts.get(hit["kbid"])
        if result is None:
            break
        hit["content"] = result["content"]
        if result["truncated"]:
            hit["truncated"] = True
        whole.append(hit)
    return whole or hits


def _text(answer: dict[str, Any]) -> str:
    total = answer["total"] if answer["total_is_exact"] else f"{answer['total']} or more"
    lines = [
        f"{len(answer['hits'])} hits from offset {answer['offset']}, limit {answer['limit']}, of {total} for:"
        f" {answer['query']}",
        f"{answer['search_mode']} search by {answer['retrieval_method']}; match {answer['match']}, verdict"
        f" {answer['verdict']}; {answer['hidden']} hidden; generation {answer['generation']};"
        f" {answer['elapsed_ms']} ms, engine {answer['engine_ms']} ms",
    ]
    if answer.get("vector_index_stale"):
        lines.append("vector_index_stale: meaning is not searched before kbdb rebuild")
    lines += [f"warning: {warning}" for warning in answer["warnings"]]
    lines += [f"unreadable: {one['kbid']} {one['path']}: {one['message']}" for one in answer["unreadable"]]
    for number, hit in enumerate(answer["hits"], answer["offset"] + 1):
        path = " > ".join(hit["heading_path"])
        lines.append(f"\n{number}. {hit['title']} [{hit['kbid']}] score {plain(hit['score'])}")
        lines.append(
            f"   {hit['docid']}"
            + (f", {hit['source']}" if hit["source"] else "")
            + f", lines {hit['line']}-{hit['line_end']}, level {hit['level']}"
            + (f", under {path}" if path else "")
            + f"; {hit['section_type']}"
            + (f"; tags {', '.join(hit['tags'])}" if hit["tags"] else "")
            + (f"; matched {', '.join(hit['matched_terms'])}" if hit["matched_terms"] else "")
        )
        lines.append(f"   {hit['snippet']}")
        if "content" in hit:
            lines += ["   content (cut; recall has more):" if hit.get("truncated") else "   content:", hit["content"]]
    if left_off := answer.get("left_off"):
        lines.append("\nleft off: " + ", ".join(f"{count} {name}" for name, count in left_off.items()))
    if answer["next_offset"] is not None:
        lines.append(f"\nmore: offset={answer['next_offset']}")
    return "\n".join(lines)


TOOL = Tool(
    {
        "name": "search",
        "title": "Search knowledge",
        "description": DESCRIPTION,
        "inputSchema": takes(
            ("query",),
            query=described(TEXT, "Words to find"),
            mode=described(
                TEXT,
                "By words, by meaning, or both; default as configured. Warnings tell when meaning was left out",
                enum=["lexical", "vector", "hybrid"],
            ),
            limit=described(NUMBER, "Hits on the page", minimum=1, maximum=MOST_HITS, default=10),
            offset=described(NUMBER, "Hits to skip", minimum=0, maximum=99_000, default=0),
            content=described(YES, "Whole texts too"),
            tags=described(TEXTS, "Hits have all of these"),
            type=described(TEXT, "Media type, or default, skill, agent"),
            docid=described(TEXT, "Only in this document: docid or source path"),
            max_tokens=MAX_TOKENS,
        ),
        "outputSchema": gives(
            hits={
                "type": "array",
                "items": {"type": "object", "required": ["kbid", "docid", "title", "source", "score", "snippet"]},
            },
            total=NUMBER,
            verdict=TEXT,
            retrieval_method=TEXT,
            vector_index_stale={"type": "boolean"},
            warnings=TEXTS,
            next_offset=or_null(NUMBER),
        ),
        "annotations": READS,
    },
    run,
)
