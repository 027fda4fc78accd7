"""Long sections are cut at good borders, and stay contiguous."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.ingest.document import ParsedDocument
from kbdb.ingest.parse import parse
from kbdb.ingest.split import BLOCK_LIMIT, PIECE, SECTION_LIMIT

PARAGRAPH = "word " * 199 + "end."
"""999 characters."""


def parsed(source: str, name: str = "page.md") -> ParsedDocument:
    document = parse(source.encode(), name)
    assert document.head + "".join(part.content.decode() + part.gap for part in document.parts) == source
    return document


def test_sections_up_to_the_limit_stay_whole() -> None:
    assert len(parsed("# A\n\n" + "x" * (SECTION_LIMIT - 5)).parts) == 1
    assert len(parsed("# A\n\n" + "\n\n".join([PARAGRAPH] * 9)).parts) == 1


def test_longer_ones_are_cut_between_paragraphs_and_keep_their_place() -> None:
    source = "# Top\n\n## A\n\n" + "\n\n".join([PARAGRAPH] * 20) + "\n\n### B\n"
    top, *pieces, below = parsed(source).parts
    assert len(pieces) == 3
    assert {(p.title, p.level, p.parent, p.heading_path) for p in pieces} == {("A", 2, 0, ("Top",))}
    assert (below.parent, below.heading_path) == (1, ("Top", "A"))
    assert [(p.line, p.line_end) for p in pieces] == [(3, 17), (19, 31), (33, 43)]
    assert all(len(piece.content) <= PIECE and piece.gap == "\n\n" for piece in pieces)
    assert all(piece.content.endswith(b"end.") for piece in pieces)
    assert top.content == b"# Top"


@pytest.mark.parametrize(
    "block",
    [
        "```\n" + "code\n\n" * 3000 + "```",
        "- item\n\n  more\n" * 1000,
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 1500,
        "> quote\n>\n" * 1500,
    ],
)
def test_lists_tables_fences_and_quotes_are_not_torn(block: str) -> None:
    assert SECTION_LIMIT < len(block) < BLOCK_LIMIT
    contents = [part.content.decode() for part in parsed(f"# A\n\n{PARAGRAPH}\n\n{block}\n\n{PARAGRAPH}\n").parts]
    assert any(block.strip() in content for content in contents)


def test_blocks_past_the_hard_limit_are_torn_at_their_items_and_lines() -> None:
    items = parsed("# A\n\n" + "- item\n\n  more\n\n" * 4000).parts
    assert len(items) > 3
    assert all(part.content.startswith(b"- item") for part in items[1:])
    code = parsed("# A\n\n```\n" + "code\n" * 10_000 + "```\n").parts
    assert len(code) > 3
    assert all(len(part.content) <= SECTION_LIMIT for part in code)


def test_endless_lines_are_cut_at_words_if_there_are_any() -> None:
    parts = parsed("word " * 20_000, "page.txt").parts
    assert len(parts) == 13
    assert all(part.content.startswith(b"word") and part.content.endswith(b"word") for part in parts)
    assert {(part.line, part.line_end) for part in parts} == {(1, 1)}
    assert [len(part.content) for part in parsed("x" * 40_000, "page.txt").parts] == [PIECE] * 4 + [8000]


def test_an_edit_at_the_end_leaves_the_first_pieces_alone() -> None:
    before = parsed("# A\n\n" + "\n\n".join([PARAGRAPH] * 30)).parts
    after = parsed("# A\n\n" + "\n\n".join([PARAGRAPH] * 30 + ["New."])).parts
    assert [part.content for part in after[:3]] == [part.content for part in before[:3]]


def test_code_is_cut_before_definitions() -> None:
    function = "def f():\n    a = 1\n\n    return a\n\n\n"
    parts = parsed(function * 1000, "tool.py").parts
    assert len(parts) > 3
    assert all(part.content.startswith(b"def f") and part.content.endswith(b"return a") for part in parts)
    assert {(part.title, part.level, part.parent) for part in parts} == {("tool.py", 0, -1)}


def test_plain_text_is_cut_at_blank_lines_and_has_no_headings() -> None:
    parts = parsed("Title\n=====\n\n" + f"{PARAGRAPH}\n\n" * 20, "page.rst").parts
    assert len(parts) == 3
    assert all(part.content.endswith(b"end.") for part in parts)


BLOCKS = st.sampled_from(
    [PARAGRAPH, "short", "x" * 9000, "- a\n" * 900, "```\ny\n\n```", "    c\n\n" * 700, "z z" * 15_000]
)


@given(st.lists(st.tuples(BLOCKS, st.sampled_from(["\n", "\n\n", "\r\n\r\n", " \n\t\n"])), max_size=9), st.booleans())
def test_any_section_rejoins_and_no_piece_is_huge(blocks: list[tuple[str, str]], code: bool) -> None:
    source = "".join(map("".join, blocks))
    for part in parsed(source, "a.py" if code else "a.md").parts:
        assert len(part.content) <= BLOCK_LIMIT + PIECE
