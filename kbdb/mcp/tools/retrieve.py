"""``retrieve``: a section or a document as it is stored, a range of lines at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbdb.errors import InvalidArgumentError
from kbdb.lines import LineRange, line_range
from kbdb.mcp.budget import Form, after, form_fits, longest_text, shrink, shrunk_form
from kbdb.mcp.tools.tool import MAX_TOKENS, NUMBER, READS, TEXT, Tool, described, gives, or_null, takes

if TYPE_CHECKING:
    from kbdb.mcp.pool import Caller
    from kbdb.mcp.registry import Context

BYTES_A_TOKEN = 8
"""More than a token has in any text but rulers and blanks: the daemon need not send more than that."""

_SHOWN = 20

DESCRIPTION = """\
Read a section (kbid) or a whole document (docid) of the knowledge base exactly as stored, byte for byte, with its \
metadata. Use it for a document in order, for exact lines, or to go on where recall cut. Not for finding (search) or \
for several sections (recall). Returns the lines asked for as far as they fit, and next: the lines that follow, \
empty at the end. What is no text comes without content: read its resource."""


def run(pool: Caller, given: dict[str, Any], _: Context) -> Form:
    """Answers a call."""
    kbid, docid, lines = given.get("kbid"), given.get("docid"), given.get("lines")
    if (kbid is None) == (docid is None):
        raise InvalidArgumentError("retrieve: give either kbid or docid", "search shows both for its hits")
    wanted = LineRange() if lines is None else line_range(lines)
    tokens = given["max_tokens"]
    params = {"kbid": kbid, "docid": docid, "lines": lines, "maxBytes": tokens * BYTES_A_TOKEN}
    view = pool.call_raw("retrieve", params)
    part, content = view.pop("excerpt"), view.pop("content")
    known = _document(view, part["bytes"]) if kbid is None else {**view, "bytes": part["bytes"]}
    if not part["total"] and part["bytes"]:
        uri = f"kbdb://section/{kbid}" if docid is None else f"kbdb://document/{docid}"
        return shrunk_form({**known, "content": None, "resource": uri, "next": ""}, _text, tokens)
    start = wanted._replace(first=part["first"], column=part["column"])

    def with_text(frame: dict[str, Any], shown: str) -> dict[str, Any]:
        if shown == content:
            last, following = part["last"], part["next"]
        else:
            going_on = after(shown, start)
            last, following = going_on.first - (going_on.column == 1), str(going_on)
        answer = {**frame, "first_line": start.first, "last_line": last, "total_lines": part["total"]}
        return {**answer, "next": following, "content": shown}

    for characters, items in ((10_000, 10_000), (400, _SHOWN), (200, 5), (60, 2), (20, 0)):
        left_off: dict[str, int] = {}
        frame = shrink(known, characters, items, left_off)
        if left_off:
            frame["left_off"] = left_off

        def build(shown: str, frame: dict[str, Any] = frame) -> Form:
            answer = with_text(frame, shown)
            return answer, _text(answer)

        # What stands around the text may take a third of the budget, unless all of it fits.
        shown, form = longest_text(content, build, tokens)
        if (shown == content and form_fits(form, tokens)) or (shown and characters <= 400):
            return form
    return shrunk_form(form[0], _text, tokens)


def _document(view: dict[str, Any], size: int) -> dict[str, Any]:
    """A manifest without what the content says anyway."""
    manifest = view["manifest"]
    del manifest["head"]
    for place in manifest["sections"]:
        del place["gap"]
    return {"manifest": manifest, "state": view["state"], "bytes": size}


def _text(answer: dict[str, Any]) -> str:
    lines = _document_head(answer) if "manifest" in answer else _section_head(answer)
    if answer["content"] is None:
        lines.append(f"no text; read the resource {answer['resource']}")
    else:
        lines.append(f"lines {answer['first_line']} to {answer['last_line']} of {answer['total_lines']}:")
        lines += ["", answer["content"], ""]
    for name, count in answer.get("left_off", {}).items():
        lines.append(f"left off: {count} {name}")
    if answer["next"]:
        lines.append(f"next: lines={answer['next']}")
    return "\n".join(lines)


def _section_head(answer: dict[str, Any]) -> list[str]:
    lines = [
        f"# {answer['title']} [{answer['kbid']}]",
        f"{answer['state']}; {answer['section_type']}, {answer['type']}; {answer['bytes']} bytes"
        + (f"; tags {', '.join(answer['tags'])}" if answer["tags"] else ""),
    ]
    if answer["successor"]:
        lines.append(f"replaced by: {answer['successor']} (recall that)")
    if answer["description"]:
        lines.append(f"about: {answer['description']}")
    for place in answer["places"]:
        lines.append(
            f"in {place['docid']} ({place['document_state']}): "
            + (f"{place['source']}, " if place["source"] else "")
            + f"lines {place['line']} to {place['line_end']}, level {place['level']}"
            + (f", parent {place['parent']}" if place["parent"] else "")
            + (f", under {' > '.join(place['heading_path'])}" if place["heading_path"] else "")
        )
    return lines


def _document_head(answer: dict[str, Any]) -> list[str]:
    manifest = answer["manifest"]
    origin = manifest["origin"]
    lines = [
        f"# {manifest['title']} ({manifest['docid']})",
        f"{answer['state']}; {manifest['type']}; {answer['bytes']} bytes; by {origin['who']}"
        + (f" from {origin['source']}" if origin["source"] else "")
        + f", sha256 {origin['sha256']}; created {manifest['created']}; updated {manifest['updated']}"
        + (f"; tags {', '.join(manifest['tags'])}" if manifest["tags"] else "")
        + (f"; subject {manifest['subject']}" if manifest["subject"] else ""),
    ]
    if manifest["description"]:
        lines.append(f"about: {manifest['description']}")
    for place in manifest["sections"]:
        lines.append(
            f"section {place['kbid']}: lines {place['line']} to {place['line_end']}, level {place['level']}"
            + (f", parent {place['parent']}" if place["parent"] else "")
            + (f", under {' > '.join(place['heading_path'])}" if place["heading_path"] else "")
        )
    return lines


TOOL = Tool(
    {
        "name": "retrieve",
        "title": "Retrieve as stored",
        "description": DESCRIPTION,
        "inputSchema": takes(
            kbid=described(TEXT, "A section, or"),
            docid=described(TEXT, "a document"),
            lines=described(TEXT, "12-40, 12- or 12, from 1; all without"),
            max_tokens=MAX_TOKENS,
        ),
        "outputSchema": gives(content=or_null(TEXT), next=TEXT, total_lines=NUMBER, state=TEXT),
        "annotations": READS,
    },
    run,
)
