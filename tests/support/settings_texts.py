"""Texts of settings files for Hypothesis: JSON with comments and TOML, written in every way their users might."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import strategies as st

NEWLINES = st.sampled_from(["\n", "\r\n"])
NAMES = st.text(alphabet="abcé-_ .$\"\\/{}[],:#'", min_size=1, max_size=6).filter(lambda name: name != "kbdb")
WORDS = st.text(alphabet="ab{}[],:\"'\\/*# \té\u2028", max_size=8)
LEAVES = st.none() | st.booleans() | st.integers(-99, 10**12) | WORDS
JSON_VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.fixed_dictionaries(
    {"command": WORDS, "args": st.lists(WORDS, max_size=3)}, optional={"enabled": st.booleans()}
)


@st.composite
def jsonc(draw: st.DrawFn, value: Any) -> str:
    """A text that holds a value, with white space, comments and trailing commas wherever they may stand."""
    newline, ascii_only = draw(NEWLINES), draw(st.booleans())
    gaps = st.sampled_from(
        [
            *("", "", " ", "\t", newline, f"{newline}  ", f"{newline}{newline}\t"),
            *(
                f"// c {newline}",
                f" //{newline}  ",
                "/* c */",
                f'/* {newline} " }} */ ',
                f"{newline}  // c{newline}  /*c*/ ",
            ),
        ][: draw(st.sampled_from([3, 6, 12]))]
    )

    def gap() -> str:
        return draw(gaps)

    def written(held: Any) -> str:
        if isinstance(held, dict):
            members = [f"{gap()}{json.dumps(name)}{gap()}:{gap()}{written(item)}{gap()}" for name, item in held.items()]
            return "{" + joined(members) + "}"
        if isinstance(held, list):
            return "[" + joined([f"{gap()}{written(item)}{gap()}" for item in held]) + "]"
        return json.dumps(held, ensure_ascii=ascii_only)

    def joined(items: list[str]) -> str:
        trailing = f",{gap()}" if items and draw(st.booleans()) else ""
        return (",".join(items) + trailing) if items else gap()

    return f"{gap()}{written(value)}{gap()}"


_TOML_LINES = st.sampled_from(
    [
        "",
        "  ",
        "# a comment",
        "  # [mcp_servers.kbdb]",
        'model = "x" # why',
        'text = """\n[mcp_servers.kbdb]\n""\\"""" # end',
        "raw = '''\n# no comment\ncommand = \"x\"'''",
        "when = 1979-05-27 07:32:00",
        'list = [ # one\n  "a]", "#",\n  [1, 2], { x = "}" },\n]',
        "limit = 1_000.5e3",
        "a . \"b c\".'d' = true",
    ]
)
_TOML_SERVERS = st.sampled_from(
    [
        [],
        ["[mcp_servers]"],
        ["[mcp_servers]", 'other = { command = "x", args = ["a", "}"] }'],
        ["[mcp_servers]", 'other.command = "x"', "other.args = []"],
        ["[mcp_servers.other] # theirs", 'command = "x"', "", "[mcp_servers.other.env]", 'KEY = "v"'],
        ["[\"mcp_servers\".'other one']", 'command = "x"'],
        ["[ mcp_servers . other ]", "args = [", '  "a", # one', "]"],
    ]
)
_TOML_FIRST = st.sampled_from(
    [[], [], ['mcp_servers = { other = { command = "x" }, b = {} }'], ['mcp_servers.other.command = "x"']]
)


@st.composite
def toml(draw: st.DrawFn) -> str:
    """A TOML text, most with some servers, none with ours."""
    newline = draw(NEWLINES)
    first = draw(_TOML_FIRST)
    parts = [*draw(st.lists(_TOML_LINES, max_size=4, unique=True)), *first]
    parts += draw(st.lists(_TOML_LINES.filter(lambda line: line.lstrip()[:1] in ("", "#")), max_size=2))
    parts += [] if first else draw(_TOML_SERVERS)
    parts += draw(st.lists(_TOML_LINES.filter(lambda line: line.lstrip()[:1] in ("", "#")), max_size=2))
    if draw(st.booleans()):
        parts += [draw(st.sampled_from(["[profiles.p]", "[[hooks]]", "  [tui]  # x"]))]
        parts += draw(st.lists(_TOML_LINES, max_size=3, unique=True))
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n"]))
    tomllib.loads(text)
    return text.replace("\n", newline)
