"""CommonMark's seven kinds of HTML block: whether a line starts one, and what ends it. Used by ``blocks.py``."""

from __future__ import annotations

import re

_RAW_TAG = re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE | re.ASCII)
_BLOCK_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
)
_BLOCK_TAG = re.compile(rf"</?(?:{'|'.join(_BLOCK_TAGS.split())})(?=\s|/?>|$)", re.IGNORECASE | re.ASCII)
_ANY_TAG = re.compile(
    r"<(?:[a-z][a-z0-9-]*+(?:\s++[a-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*+\s*+/?"
    r"|/[a-z][a-z0-9-]*+\s*+)>\s*$",
    re.IGNORECASE | re.ASCII,
)


def html_block_end(line: str, interrupts: bool) -> str | None:
    """What ends the HTML block that ``line`` (starting with ``<``) starts.

    Args:
        line: the line from its first ``<`` on.
        interrupts: whether a paragraph is open, which a tag of no special meaning cannot end.

    Returns:
        None when the line starts no HTML block; ``""`` when a blank line ends it; ``"</"`` when the closing tag of a
        raw element (script, pre, style, textarea) does; else the characters that do.
    """
    if line.startswith("<!--"):
        return "-->"
    if line.startswith("<?"):
        return "?>"
    if line.startswith("<![CDATA["):
        return "]]>"
    if line.startswith("<!") and line[2:3].isascii() and line[2:3].isalpha():
        return ">"
    if _RAW_TAG.match(line):
        return "</"
    if _BLOCK_TAG.match(line) or (not interrupts and _ANY_TAG.match(line)):
        return ""
    return None
