"""Titles are what a reader sees of a heading."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kbdb.ingest.inline import MAX_TITLE, cut_title, one_line, plain_text

PIECES = [
    "*",
    "**",
    "_",
    "__",
    "`",
    "``",
    "\\",
    "&amp;",
    "&",
    "&#65;",
    "a",
    "b c",
    "é",
    ".",
    "(",
    ")",
    "<b>",
    "</b>",
    "![",
    "[",
    "](x)",
    "<http://a.b>",
    "<",
    ">",
    "!",
    " ",
    "](<y z> 'q')",
]


def seen(tokens: list[Token]) -> str:
    kinds = ("text", "code_inline", "text_special", "softbreak")
    return "".join(
        seen(t.children or []) if t.type == "image" else t.content if t.type in kinds else "" for t in tokens
    )


@settings(max_examples=300, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
def test_strips_markup_as_the_oracle_does(markup: str) -> None:
    (inline,) = MarkdownIt("commonmark").parseInline(markup)
    assert plain_text(markup) == " ".join(seen(inline.children or []).split())


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("Using `list`s **instead** of _sets_", "Using lists instead of sets"),
        ("`` a`b ``", "a`b"),
        ("[Django](https://x.org/a_(b) 'title') rocks", "Django rocks"),
        ("[a][ref] and [b][] and [c]", "a and b and [c]"),
        ("![logo *new*](x.png) Home", "logo new Home"),
        ("[![alt](i.png)](u)", "alt"),
        ("<b>Bold</b> <!-- c --> <https://x.org>", "Bold https://x.org"),
        ("AT&amp;T &copy; &#x41; &nope;", "AT&T © A &nope;"),
        (r"\*not\* \# a", "*not* # a"),
        ("snake_case_name and 2*3*4", "snake_case_name and 234"),
        ("~~old~~ new ~ 5", "old new ~ 5"),
        ("**unclosed and `tick", "**unclosed and `tick"),
        ("a\x00b\u2028c\t d", "a b c d"),
        ("", ""),
    ],
)
def test_strips_markup(markup: str, expected: str) -> None:
    assert plain_text(markup) == expected


@given(st.text())
def test_one_line_has_no_control_characters(text: str) -> None:
    line = one_line(text)
    assert line == line.strip()
    assert len(line.splitlines()) <= 1
    assert "\0" not in line


def test_long_titles_are_cut_at_a_word() -> None:
    cut = cut_title("word " * 100)
    assert cut.endswith("word…")
    assert len(cut) <= MAX_TITLE
    assert len(cut_title("x" * 1000)) == MAX_TITLE


@pytest.mark.parametrize(
    "bomb", ["*a_" * 30_000, "[" * 90_000, "`" * 30_000 + "a``" * 9_000, "<!--" * 20_000, "[a](" * 20_000]
)
def test_hostile_markup_ends(bomb: str) -> None:
    assert len(plain_text(bomb)) <= len(bomb)
