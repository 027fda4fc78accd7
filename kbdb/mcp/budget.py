"""Makes answers fit a budget of tokens: fewer items, shorter texts, and a count of what was left off.

A host shows its model the structured form of a result or its text, not both, so that the larger of the two has to fit.
The structured form is counted as hosts write it: JSON without spaces, characters as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from kbdb.graphemes import boundaries_around
from kbdb.lines import LineRange
from kbdb.mcp.tokens import beginning, fits
from kbdb.sentences import last_break

DEFAULT_TOKENS = 4_000
LEAST_TOKENS = 500
MOST_TOKENS = 20_000
"""What a call may ask for. Hosts cut, or refuse, results past some 25,000 tokens."""

Form = tuple[dict[str, Any], str]
"""An answer twice: as an object, and as text that says the same."""

_WIDTHS = ((0, 0), (400, 50), (200, 20), (100, 8), (40, 3), (20, 1), (8, 1), (3, 1))
"""Characters of a text and items of a list, from all to the least that still says something."""

_WHOLE = ("kbid", "kbids", "docid", "parent", "other", "successor", "missing", "omitted_kbids", "next", "next_lines")
"""Names of short texts that are of no use when cut."""

ELLIPSIS = "\u2026"


def form_fits(form: Form, tokens: int) -> bool:
    """Whether both forms of an answer fit."""
    value, text = form
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A text says the same with fewer signs, so that it is looked at where the object leaves little room.
    roomy = len(text) <= len(written) and fits(written, tokens * 3 // 4)
    return roomy or (fits(written, tokens) and fits(text, tokens))


def most_items(items: Sequence[Any], build: Callable[[Sequence[Any]], Form], tokens: int) -> tuple[int, Form]:
    """As many of the first items as fit, and the answer with them; it may be 0, and then need not fit."""
    form = build(items)
    if form_fits(form, tokens):
        return len(items), form
    most, least = len(items) - 1, 0
    form = build(items[:0])
    while least < most:
        middle = (least + most + 1) // 2
        tried = build(items[:middle])
        if form_fits(tried, tokens):
            least, form = middle, tried
        else:
            most = middle - 1
    return least, form


def longest_text(text: str, build: Callable[[str], Form], tokens: int) -> tuple[str, Form]:
    """The longest beginning of a text, in whole sentences where one fits, with which an answer fits."""
    form = build(text)
    allowed = tokens
    shown = text
    while shown and not form_fits(form, tokens):
        shown = text[: cut_at(text, allowed)] if allowed else ""
        form = build(shown)
        allowed = allowed * 4 // 5 if allowed > 8 else 0
    return shown, form


def cut_at(text: str, tokens: int) -> int:
    """Where to cut a text to so many tokens: after a sentence, a line or a word, else between two characters."""
    end = beginning(text, tokens)
    if end == len(text):
        return end
    half = end // 2
    if found := last_break(text, half, end):
        return found[1]
    if (space := text.rfind(" ", half, end)) >= 0:
        return space + 1
    return boundaries_around(text, end)[0] or end


def after(shown: str, start: LineRange) -> LineRange:
    """Where a text goes on of which ``shown`` was given, beginning at ``start``."""
    ends = shown.count("\n") + shown.count("\r") - shown.count("\r\n")
    line = max(shown.rfind("\n"), shown.rfind("\r")) + 1
    column = len(shown) - line + (1 if ends else start.column)
    return LineRange(start.first + ends, column, start.last)


def shrunk_form(value: dict[str, Any], draw: Callable[[dict[str, Any]], str], tokens: int) -> Form:
    """An answer of short values, made to fit: with less of its lists and texts where it does not as it is.

    What was left off is counted in ``left_off``, by the names of the lists.
    """
    form = value, draw(value)
    for characters, items in _WIDTHS[1:]:
        if form_fits(form, tokens):
            break
        left_off = dict(value.get("left_off", {}))
        smaller = shrink(value, characters, items, left_off)
        if left_off:
            smaller["left_off"] = left_off
        form = smaller, draw(smaller)
    return form


def shrink(value: Any, characters: int, items: int, left_off: dict[str, int], path: str = "items") -> Any:
    """A value with its texts and lists cut; counts the items that went, by the path of their list."""
    if isinstance(value, str):
        return value if path.rpartition(".")[2] in _WHOLE else short(value, characters)
    if isinstance(value, list):
        if len(value) > items:
            left_off[path] = left_off.get(path, 0) + len(value) - items
        return [shrink(item, characters, items, left_off, path) for item in value[:items]]
    if isinstance(value, dict):
        inside = "" if path == "items" else f"{path}."
        return {name: shrink(item, characters, items, left_off, inside + name) for name, item in value.items()}
    return value


def short(text: str, characters: int) -> str:
    """A text of at most so many characters, an ellipsis in the place of the rest."""
    return text if len(text) <= characters else text[: characters - 1] + ELLIPSIS
