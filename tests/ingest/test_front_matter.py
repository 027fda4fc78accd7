"""Front matter is believed where it can be read, and never trusted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.ingest.front_matter import MAX_FRONT_MATTER, FrontMatter, read_front_matter
from kbdb.ingest.parse import parse


def read(source: str) -> FrontMatter:
    found = read_front_matter(source, 0)
    assert found is not None
    return found


def test_reads_title_description_and_tags() -> None:
    source = "---\ntitle: A\ndescription: >\n  two\n  lines\ntags: [a, 'b c']\nother: {x: 1}\n---\nbody"
    assert read(source) == FrontMatter("A", "two lines", ("a", "b c"), source.index("body"))


def test_reads_toml() -> None:
    source = "+++\r\ntitle = 'A'\r\ndate = 2024-01-01\r\ntags = ['x', 3]\r\n[extra]\r\na = 1\r\n+++\r\nbody"
    assert read(source) == FrontMatter("A", "", ("x", "3"), source.index("body"))


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ("2024", "2024"),
        ("2024-01-31", "2024-01-31"),
        ("yes", "yes"),
        ("null", ""),
        ("~", ""),
        ("", ""),
        ("'null'", "null"),
        ("'Q: A'", "Q: A"),
        ("[a]", ""),
        ("{a: b}", ""),
        ("*x", ""),
        ('"a\\0\\nb"', "a b"),
    ],
)
def test_scalars_stay_as_written(value: str, title: str) -> None:
    source = f"---\nanchor: &x 1\ntitle: {value}\n---\n"
    assert read(source).title == title
    assert read(source).warnings == ()


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("'a, b c , #d'", ("a", "b c", "d")),
        ("a b\tb", ("a", "b")),
        ("[a, a, '']", ("a",)),
        ("[[a], b]", ("b",)),
        ("\n  - a\n  - b", ("a", "b")),
        ("null", ()),
        ("1", ("1",)),
    ],
)
def test_tags_may_be_a_list_or_a_text(value: str, tags: tuple[str, ...]) -> None:
    assert read(f"---\ntags: {value}\n---\n").tags == tags


def test_keywords_are_tags_too() -> None:
    assert read("---\ntags: a\nkeywords: b, a\n---\n").tags == ("a", "b")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_and_either_closing_mark_will_do(end: str) -> None:
    for close in ("---", "...", "--- \t"):
        source = end.join(["---", "title: A", "tags: b", close, "body"])
        assert read(source) == FrontMatter("A", "", ("b",), source.index("body"))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "--",
        "text\n---\ntitle: x\n---\n",
        "---\ntitle: never closed",
        "---\n\nSome text: and more\nlines\n\n---\n",
        "---\n- a\n- b\n---\n",
        "---\njust text\n---\n",
        " ---\ntitle: x\n---\n",
        "+++\ntext\n+++\n",
        "---- \na: b\n---\n",
    ],
)
def test_what_is_no_mapping_between_marks_is_text(source: str) -> None:
    assert read_front_matter(source, 0) is None


def test_what_cannot_be_parsed_stays_in_the_head_with_a_warning() -> None:
    source = b"---\ntitle: A: B\ntags: x, y\nbad: [\n---\n\n# H\n"
    document = parse(source, "page.md")
    assert (document.title, document.tags) == ("A: B", ("x", "y"))
    assert document.head == "---\ntitle: A: B\ntags: x, y\nbad: [\n---\n\n"
    assert "not valid YAML" in document.warnings[0]
    assert "not valid TOML" in parse(b"+++\ntitle = x\n+++\n# H", "page.md").warnings[0]


def test_title_wins_for_the_document_only() -> None:
    document = parse(b"---\ntitle: Matter\n---\nintro\n# Heading\n", "page.md")
    assert [part.title for part in document.parts] == ["Matter", "Heading"]
    assert [part.line for part in document.parts] == [4, 5]


def test_hostile_yaml_is_harmless() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    assert read(f"---\n{bomb}tags: *a29\ntitle: x\n---\n").title == "x"
    merges = "a0: &a0 {k: v}\n" + "".join(
        f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30)
    )
    assert read(f"---\n{merges}title: x\n---\n").title == "x"
    for deep in ("[" * 30_000, "- " * 30_000, "{a: " * 10_000):
        assert read(f"---\ntitle: x\nb: {deep}\n---\n").title == "x"
        assert read(f"+++\ntitle = 'x'\nb = {deep}\n+++\n").title == "x'"[:1]
    assert read_front_matter(f"---\ntitle: {'x' * MAX_FRONT_MATTER}\n---\n", 0) is None


@given(st.text(alphabet="ab:-[]{}\"'#&*!|>%@`,?\n \t0\0\x85\ufeff\U0001f600", max_size=60))
def test_nothing_between_the_marks_raises(block: str) -> None:
    for mark in ("---", "+++"):
        source = f"{mark}\n{block}\n{mark}\nbody"
        document = parse(source.encode(), "page.md")
        assert document.head + "".join(p.content.decode() + p.gap for p in document.parts) == source
