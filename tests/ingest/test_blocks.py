"""The block scanner finds the top-level headings that CommonMark defines; markdown-it is the oracle.

Known differences, where the scanner follows cmark (the specification's reference implementation) instead: a setext
underline ends a paragraph that is not yet a whole link definition (``[f]:`` / ``===``), and a line after a whole
definition in a quote or item may be its title, so it continues the paragraph. Unicode white space after an HTML tag
is no white space, as the specification says.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kbdb.ingest.blocks import MAX_DEPTH, scan
from kbdb.ingest.inline import plain_text
from kbdb.ingest.lines import split_lines

ORACLE = MarkdownIt("commonmark")
BLOCK_ORACLE = MarkdownIt("commonmark")
BLOCK_ORACLE.core.ruler.enableOnly(["normalize", "block"])

PIECES = [
    *("# a", "## b ##", "#", "#x", "####### 7", "===", "---", "- - -", "***", "=", "--", "\\# x"),
    *("> ", ">", "- ", "-", "+ x", "1. ", "1) a", "2. b", "10. x", "-\tx", "*", "1."),
    *("```", "```py", "~~~", "~~~~", "    ", "   ", "  ", " ", "\t", "`c`"),
    *("<div>", "</div>", "<!-- c", "-->", "<pre>", "</pre>", "<b>", "<a href='x'>", "<?x", "?>", "<![CDATA[", "]]>"),
    *("[f]: /u", "[f]: /u 't'", "[a]: b c", "[f]: <a b>", "text", "foo bar", "| a | b |", "|---|---|", "é", "中"),
    *("<!X", "\x0c"),
]
LINE = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)


def expected_headings(source: str) -> list[tuple[int, int, str]]:
    env: dict[str, object] = {}
    tokens = BLOCK_ORACLE.parse(source, env)
    return [
        (token.map[0], int(token.tag[1]), seen(tokens[index + 1].content, env))
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def seen(markup: str, env: dict[str, object]) -> str:
    return " ".join(text_of(ORACLE.parseInline(markup, env)[0]).split())


def text_of(token: Token) -> str:
    texts = {"softbreak": " ", "hardbreak": " "}
    return "".join(
        text_of(child)
        if child.type == "image"
        else texts.get(child.type, child.content if child.type in ("text", "code_inline", "text_special") else "")
        for child in token.children or []
    )


def headings(source: str) -> list[tuple[int, int, str]]:
    found = scan(split_lines(source).texts).headings
    return [(heading.line, heading.level, plain_text(heading.text)) for heading in found]


def test_finds_the_headings_of_real_documentation_with_their_text(shared_data: Path) -> None:
    pages = sorted((shared_data / "markdown").rglob("*.md"))
    assert len(pages) >= 530
    for page in pages:
        source = page.read_bytes().decode()
        assert headings(source) == expected_headings(source), page


@settings(max_examples=400, derandomize=True)
@given(st.lists(LINE, max_size=9), st.sampled_from(["\n", "\r\n", "\r"]))
def test_finds_the_headings_of_made_up_markdown(lines: list[str], end: str) -> None:
    source = end.join(lines)
    expected = [heading[:2] for heading in expected_headings(source)]
    assert [heading[:2] for heading in headings(source)] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("```\n# a\n```\n# b", [(3, 1, "b")]),
        ("```\n# never closed\n# a", []),
        ("~~~ `x`\n# a\n~~~~\n# b", [(3, 1, "b")]),
        ("`` ` ``\n# a", [(1, 1, "a")]),
        ("- ```\n  # a\n\n# b", [(3, 1, "b")]),
        ("- a\n\n      # code\n\n  # in item\n\n# b", [(6, 1, "b")]),
        ("    # code", []),
        ("\t# code", []),
        ("a\n    # lazy", []),
        ("   # a", [(0, 1, "a")]),
        ("#hashtag\n#\n# #", [(1, 1, ""), (2, 1, "")]),
        ("####### seven", []),
        ("#\ta\t#", [(0, 1, "a")]),
        ("a\nb\n===", [(0, 1, "a b")]),
        ("a\n---\nb", [(0, 2, "a")]),
        ("- a\n---\n# b", [(2, 1, "b")]),
        ("- a\n  ---\n# b", [(2, 1, "b")]),
        ("> a\n---\n# b", [(2, 1, "b")]),
        ("> # a\nlazy\n===", [(1, 1, "lazy")]),
        ("| a | b |\n| --- | --- |\n# c", [(2, 1, "c")]),
        ("a | b\n--- | ---\n# c", [(2, 1, "c")]),
        ("<!--\n# a\n\n# b\n-->\n# c", [(5, 1, "c")]),
        ("<!-- never closed\n\n# a", []),
        ("<div>\n# a\n\n# b", [(3, 1, "b")]),
        ("<pre>\n\n# a\n</pre>\n# b", [(4, 1, "b")]),
        ("<SCRIPT>\n\n# a\n</Script>\n# b", [(4, 1, "b")]),
        ("[f]: /u\n===\n# b", [(2, 1, "b")]),
        ("[f]: /u\na\n===", [(1, 1, "a")]),
        ("[f]:\n===", [(0, 1, "[f]:")]),
        ("a\x0c# b\n\x0c# c\n# d", [(2, 1, "d")]),
        ("a\u2028# b\n# c", [(1, 1, "c")]),
        ("a\r# b\r\n# c\n", [(1, 1, "b"), (2, 1, "c")]),
        ("-\n\n  # a", [(2, 1, "a")]),
        ("1. a\n2. b\n\n   # c\n# d", [(4, 1, "d")]),
        ("", []),
    ],
)
def test_follows_commonmark_where_headings_are_easily_mistaken(
    source: str, expected: list[tuple[int, int, str]]
) -> None:
    assert headings(source) == expected


def test_a_list_is_one_block_with_items() -> None:
    blocks = scan(["a", "", "- b", "", "  c", "- d", "", "e", "", "> f", "", "1. g", "2. h"])
    assert blocks.starts == [0, 2, 7, 9, 11]
    assert blocks.items == [2, 5, 11, 12]


def test_marks_code_and_raw_html_lines_at_any_depth() -> None:
    lines = ["a", "```", "b", "```", "", "    c", "", "> ~~~", "> d", "", "- e", "", "      f", "<p>", "", "g"]
    marked = [index for index, flag in enumerate(scan(lines).verbatim) if flag]
    assert marked == [1, 2, 3, 5, 6, 7, 8, 12, 13]


def test_nesting_without_end_is_text() -> None:
    deep = ">" * 50 * MAX_DEPTH
    assert headings(f"{deep}\n{'- ' * 5 * MAX_DEPTH}x\n\n# a") == [(3, 1, "a")]
