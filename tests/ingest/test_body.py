"""The heading is the title, so the body leaves it out; nothing else is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.ingest.body import _after_plain_heading, body_of, leading_heading
from kbdb.ingest.inline import plain_text, without_attributes
from kbdb.ingest.parse import parse

MARKDOWN = "text/markdown"


@pytest.mark.parametrize(
    ("content", "title", "body"),
    [
        ("# A\n\ntext", "A", "text"),
        ("  ## A `b` { #a } ##\r\ntext", "A b", "text"),
        ("# A\rtext", "A", "text"),
        ("# A", "A", ""),
        ("##\n\ntext", "Parent", "text"),
        ("Two\nlines\n===\n\ntext", "Two lines", "text"),
        ("A\n---", "A", ""),
        ("A\r---\rtext\r", "A", "text\r"),
        ("text\n\nA\n===", "A", "text\n\nA\n==="),
        ("# Other\n\ntext", "A", "# Other\n\ntext"),
        ("#A\ntext", "A", "#A\ntext"),
        ("text - more\n- item", "A", "text - more\n- item"),
        ("", "A", ""),
    ],
)
def test_leaves_the_heading_out(content: str, title: str, body: str) -> None:
    assert body_of(content, title, MARKDOWN) == body


def test_keeps_a_heading_that_is_longer_than_its_title() -> None:
    (part,) = parse(f"# {'word ' * 100}\n\ntext".encode(), "page.md").parts
    content = part.content.decode()
    assert len(part.title) < 250
    assert body_of(content, part.title, MARKDOWN) == content


def test_plain_text_keeps_every_line() -> None:
    assert body_of("# A\ntext", "A", "text/plain") == "# A\ntext"


@given(st.text(alphabet="#=- a\n\r\t`>{}", max_size=40), st.text(alphabet="#a ", max_size=4))
def test_the_body_is_an_end_of_the_content(content: str, title: str) -> None:
    assert content.endswith(body_of(content, title, MARKDOWN))


@given(st.lists(st.sampled_from(["# A", "B\n===", "text", "", "- x", "```"]), max_size=8).map("\n".join))
def test_no_heading_of_a_part_is_left_in_its_body(source: str) -> None:
    for part in parse(source.encode(), "page.md").parts:
        body = body_of(part.content.decode(), part.title, MARKDOWN)
        assert (len(body) < len(part.content)) == (part.level > 0)


@given(
    st.integers(0, 8), st.text("aB .-_*#{}[`é\t\r\n\xa0\u2028", max_size=9), st.sampled_from(["\n", "", "\r\n", " \n"])
)
def test_what_is_plainly_a_heading_is_the_heading_that_the_scanner_finds(level: int, title: str, end: str) -> None:
    content = f"{'#' * level} {title}{end}text\n===\n"
    if after := _after_plain_heading(content, title):
        found = leading_heading(content)
        assert found is not None
        assert (plain_text(without_attributes(found[0])[0]), found[1]) == (title, after)
