"""kbdb.setup.jsonc: what is JSON with comments and trailing commas, and where a text stops being that."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.setup.fault import TextFault
from kbdb.setup.jsonc import DEEPEST, parse

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**14), 10**14)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 2, "\t"]))
def test_whatever_json_writes_is_read_as_json_reads_it(
    value: object, ascii_only: bool, indent: int | str | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    node = parse(text)
    assert node is not None
    assert node.value == json.loads(text)
    assert (node.start, node.end) == (0, len(text))


def test_comments_and_trailing_commas_are_read_over() -> None:
    text = '// one\n{"a": 1, // two\r\n /* three\n */ "b": [1, 2,], "u": "http://x /* no comment */",}\n// four'
    node = parse(text)
    assert node is not None
    assert node.value == {"a": 1, "b": [1, 2], "u": "http://x /* no comment */"}


@pytest.mark.parametrize("text", ["", " \r\n\t", "// nothing\n", "/* nothing */"])
def test_a_text_without_a_value_holds_none(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ('{"a": 1', 1, 8, "a comma or }"),
        ('{"a" 1}', 1, 6, "a colon"),
        ("{a: 1}", 1, 2, "double quotes"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{"a": 1 "b": 2}', 1, 9, "a comma"),
        ('{"a": 1,, "b": 2}', 1, 9, "double quotes"),
        ('{\n  "a": 01\n}', 2, 8, "'01'"),
        ('{\r\n  "a": tru\r\n}', 2, 8, "'tru'"),
        ('{"a": NaN}', 1, 7, "'NaN'"),
        ('{"a": +1}', 1, 7, "'+1'"),
        ('{"a": "x}', 1, 7, "no end"),
        ('{"a": "\t"}', 1, 7, "must be escaped"),
        ('{"a": "\\x"}', 1, 7, "must be escaped"),
        ("{} x", 1, 4, "nothing may follow"),
        ("{} /* x", 1, 4, "no end"),
        ("[1 2]", 1, 4, "a comma or ]"),
        ("[1, ,]", 1, 5, "a value"),
        ("[", 1, 2, "the end of the file"),
        ("#", 1, 1, "a value"),
    ],
)
def test_a_fault_is_told_with_line_and_column(text: str, line: int, column: int, what: str) -> None:
    with pytest.raises(TextFault) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert what in caught.value.what


def test_nesting_has_an_end() -> None:
    assert parse("[" * DEEPEST + "]" * DEEPEST) is not None
    with pytest.raises(TextFault, match="nested more than"):
        parse("[" * 100_000)


@given(st.text(alphabet='{}[]":,/*\n\r \\ab1-.e', max_size=40))
def test_no_text_does_worse_than_a_fault(text: str) -> None:
    try:
        node = parse(text)
    except TextFault:
        return
    assert node is None or node.end <= len(text)


@given(st.text(alphabet='{}[]":, \n\\ab1-.e', max_size=30))
def test_what_json_takes_is_taken_and_the_rest_has_a_trailing_comma(text: str) -> None:
    try:
        wanted = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return
    node = parse(text)
    assert node is not None
    assert node.value == wanted
