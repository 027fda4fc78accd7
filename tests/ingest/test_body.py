"""The heading is the title, so the body leaves it out; nothing else is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.ingest.body import body_of
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
