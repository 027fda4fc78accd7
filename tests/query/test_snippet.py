"""The passage shown with a hit: where it stands, what is marked, how it is cut."""

from __future__ import annotations

import re
from itertools import accumulate

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from query_store import Store

from kbdb.query.emphasis import emphasis_markers, without_emphasis
from kbdb.query.snippet import ELLIPSIS, line_of, make_snippet

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
MARKS = ("\ue000", "\ue001")
FILLER = "Nothing to see in this sentence here. " * 20


def collapsed(text: str) -> str:
    """The text as a snippet shows it: without its bold, white space as one space."""
    return re.sub(r"\s+", " ", without_emphasis(text, 0, len(text), emphasis_markers(text)))


def test_terms_are_marked_and_the_rest_is_left_out(store: Store) -> None:
    text = f"{FILLER}Edit the configuration; the token follows. {FILLER}"
    snippet = make_snippet(text, store.matcher("configuration token"), width=100)
    assert snippet.text.startswith(f"{ELLIPSIS}Edit the **configuration**; the **token** follows. Nothing")
    assert snippet.text.endswith(ELLIPSIS)
    assert text[snippet.start :].startswith("Edit the")


def test_the_window_with_most_of_the_query_wins(store: Store) -> None:
    text = f"token token token {FILLER} configuration of a token {FILLER} token configuration"
    snippet = make_snippet(text, store.matcher("configuration token"), width=80)
    assert "**configuration** of a **token**" in snippet.text


def test_of_equal_windows_the_first_wins(store: Store) -> None:
    snippet = make_snippet(f"a token {FILLER} b token", store.matcher("token"), width=60)
    assert snippet.start == 0
    assert "a **token**" in snippet.text


def test_a_phrase_beats_its_words(store: Store) -> None:
    text = f"limit the rate {FILLER} the rate limit {FILLER}"
    assert "the **rate limit**" in make_snippet(text, store.matcher('"rate limit"'), width=60).text


def test_without_a_match_the_body_begins(store: Store) -> None:
    snippet = make_snippet("# Heading\n\nThe body, and more.", store.matcher("token"), start=9, width=100)
    assert snippet.text == "The body, and more."
    assert line_of("# Heading\n\nThe body, and more.", snippet.telling) == 3


def test_the_heading_is_not_shown_again(store: Store) -> None:
    text = "# The token\n\nFirst line.\nA token here."
    snippet = make_snippet(text, store.matcher("token"), start=11)
    assert snippet.text == "First line. A **token** here."
    assert line_of(text, snippet.telling) == 4


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_line_is_that_of_the_most_telling_match(store: Store, end: str) -> None:
    text = end.join(["the", "the", "", "a token", "the"])
    assert line_of(text, make_snippet(text, store.matcher("token")).telling) == 4
    assert line_of(text, len(text)) == 5


def test_markdown_signs_at_the_start_are_left_out(store: Store) -> None:
    assert make_snippet("- [x] a token", store.matcher("token")).text == "[x] a **token**"
    assert make_snippet("```python\ntoken = 1\n```", store.matcher("token")).text == "**token** = 1 ```"


def test_identifiers_are_marked_as_one(store: Store) -> None:
    assert make_snippet("set rate_limit", store.matcher("rate_limit")).text == "set **rate_limit**"
    assert make_snippet("中数据库中", store.matcher("数据库")).text == "中**数据库**中"


def test_bold_of_the_source_is_no_mark(store: Store) -> None:
    assert make_snippet("The **token** counts.", store.matcher("token")).text == "The **token** counts."
    assert make_snippet("**The *token*** and **more**", store.matcher("token")).text == "The ***token** and more"
    assert make_snippet("A **rate** limit", store.matcher('"rate limit"')).text == "A **rate limit**"
    assert make_snippet("**token** " + FILLER, store.matcher("token"), width=20).text.startswith("**token** Nothing")


def test_white_space_is_one_space(store: Store) -> None:
    assert make_snippet("a\n\n  token\t\tb", store.matcher("token")).text == "a **token** b"


def test_empty_text_gives_an_empty_snippet(store: Store) -> None:
    for text in ("", " \n "):
        assert make_snippet(text, store.matcher("token")).text == ""


def test_marks_may_be_chosen(store: Store) -> None:
    assert make_snippet("a token", store.matcher("token"), marks=("<", ">")).text == "a <token>"


def test_long_words_are_cut_between_graphemes(store: Store) -> None:
    text = f"token {FAMILY * 100}"
    snippet = make_snippet(text, store.matcher("token"), width=40)
    shown = snippet.text.removesuffix(ELLIPSIS).removeprefix("**token**").strip()
    assert shown in ("", *(FAMILY * n for n in range(20)))


pieces = st.lists(
    st.sampled_from(
        [
            "token ",
            "Configuration",
            "数据库",
            " ",
            "\n",
            "\r\n",
            ". ",
            "。",
            "a long word ",
            FAMILY,
            "\U0001f1e9\U0001f1ea",
            "e\u0301",
            "क्षि",
            "\u1100\u1161\u11a8",
            "กำ",
            "foo_bar",
            "# ",
            "- ",
            "**",
            "`",
            "ﬁ",
            "tok\u0301en",
        ]
    )
    | st.text(max_size=4),
    max_size=40,
).map("".join)


@settings(deadline=None)
@given(pieces, st.integers(0, 60), st.sampled_from(["token configuration 数据库", '"foo bar"', "据 conf*", "zzzz"]))
@example(f"{FAMILY}token{FAMILY}", 1, "token")
def test_a_snippet_is_a_piece_of_the_text_on_whole_graphemes(store: Store, text: str, width: int, query: str) -> None:
    snippet = make_snippet(text, store.matcher(query), width=width, marks=MARKS)
    cuts = {0, *accumulate(len(cluster) for cluster in regex.findall(r"\X", text))}
    assert {snippet.start, snippet.end} <= cuts
    plain = snippet.text.replace(MARKS[0], "").replace(MARKS[1], "")
    assert plain.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS).strip() in collapsed(text)
    assert snippet.text.count(MARKS[0]) == snippet.text.count(MARKS[1])
    assert 0 <= snippet.telling <= len(text)
    assert make_snippet(text, store.matcher(query), width=width, marks=MARKS) == snippet
