"""Parsing keeps every byte, counts lines exactly and refuses only what is not text or far too long."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import NotUtf8Error, TooLargeError
from kbdb.ingest import parse as parse_module
from kbdb.ingest.document import ParsedDocument
from kbdb.ingest.lines import BLANK, split_lines
from kbdb.ingest.parse import is_text, media_type_of, parse

ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", " \n\t\n"])
LINES = st.sampled_from(
    [
        "# A",
        "## B { #b }",
        "#",
        "text",
        "- item",
        "> q",
        "```",
        "---",
        "+++",
        "title: x",
        "===",
        "\ufeff",
        "\x00",
        "\x0c",
        "    code",
        "<!--",
        "-->",
        "x" * 5000,
        "\u2028",
        "\x85",
        "tags: [a",
        "é中",
        " ",
        "\t",
    ]
)
SOURCES = st.lists(st.tuples(LINES, ENDS), max_size=12).map(lambda pairs: "".join(map("".join, pairs))) | st.text()
NAMES = st.sampled_from(["a.md", "a.txt", "a.py", "a.json", "", "a.unknown", ".md", "LICENSE"])


def bad_byte(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def rejoined(document: ParsedDocument) -> str:
    return document.head + "".join(part.content.decode() + part.gap for part in document.parts)


@given(SOURCES, NAMES)
def test_parts_rejoin_to_the_source_and_lines_are_exact(source: str, name: str) -> None:
    data = source.encode("utf-8", "replace")
    document = parse(data, name)
    if document.type == "application/octet-stream":
        assert document.parts[0].content == data
        return
    text = data.decode()
    assert rejoined(document) == text
    lines = split_lines(text)
    offset = len(document.head)
    for part in document.parts:
        content = part.content.decode()
        assert content.strip(BLANK)
        assert content[-1] not in BLANK
        assert not part.gap.strip(BLANK)
        last = offset + len(content) - 1
        assert (part.line, part.line_end) == (lines.number(offset), lines.number(last))
        offset = last + 1 + len(part.gap)


@given(SOURCES)
def test_parents_and_paths_follow_from_levels(source: str) -> None:
    parts = parse(source.encode("utf-8", "replace"), "page.md").parts
    for index, part in enumerate(parts):
        assert part.title
        assert part.parent < index
        above = [parts[part.parent]] if part.parent >= 0 else []
        while above and above[0].parent >= 0:
            above.insert(0, parts[above[0].parent])
        assert part.heading_path == tuple(parent.title for parent in above)
        assert all(upper.level < lower.level for upper, lower in pairwise([*above, part]))


@given(st.binary(max_size=200), st.sampled_from(["a.md", "a.txt", "a.bin", "a", "a.png", ""]))
def test_any_bytes_are_parsed_or_refused_with_the_offset(data: bytes, name: str) -> None:
    if is_text(media_type_of(name, data)) and (offset := bad_byte(data)) is not None:
        with pytest.raises(NotUtf8Error, match=f"at offset {offset}$") as raised:
            parse(data, name)
        assert raised.value.hint
    else:
        document = parse(data, name)
        assert b"".join([document.head.encode(), *(p.content + p.gap.encode() for p in document.parts)]) == data


def test_real_documentation_rejoins_and_takes_its_titles(shared_data: Path) -> None:
    root = shared_data / "markdown"
    for page in sorted(root.rglob("*.md")):
        data = page.read_bytes()
        document = parse(data, page.name)
        assert rejoined(document).encode() == data
        assert not document.warnings
    model = parse((root / "prometheus/docs/concepts/data_model.md").read_bytes(), "data_model.md")
    assert [(p.title, p.level, p.line) for p in model.parts][:2] == [
        ("Data model", 0, 6),
        ("Metric names and labels", 2, 12),
    ]
    chinese = parse((root / "fastapi-zh/features.md").read_bytes(), "features.md")
    assert (chinese.title, chinese.parts[1].title) == ("特性", "FastAPI 特性")


def test_headings_make_a_tree() -> None:
    source = b"intro\n\n# A\n\na\n\n### B\n\nb\n## C\n# D\n"
    parts = parse(source, "page.md").parts
    assert [(p.title, p.level, p.parent, p.heading_path, p.line, p.line_end, p.gap) for p in parts] == [
        ("A", 0, -1, (), 1, 1, "\n\n"),
        ("A", 1, -1, (), 3, 5, "\n\n"),
        ("B", 3, 1, ("A",), 7, 9, "\n"),
        ("C", 2, 1, ("A",), 10, 10, "\n"),
        ("D", 1, -1, (), 11, 11, "\n"),
    ]
    assert parts[2].content == b"### B\n\nb"


def test_headings_without_text_take_the_title_above() -> None:
    parts = parse(b"#\n\na\n\n# B\n\n##\n\nb\n", "page.md").parts
    assert [(p.title, p.heading_path) for p in parts] == [("B", ()), ("B", ()), ("B", ("B",))]


@pytest.mark.parametrize(
    ("source", "name", "title"),
    [
        ("---\ntitle: From matter\n---\n# Heading\n", "page.md", "From matter"),
        ("text\n## Two\n# One `x` { #one }\n", "page.md", "One x"),
        ("## Two\n", "docs/my-page.md", "my-page"),
        ("text", "C:\\docs\\page.md", "page"),
        ("text", "notes.txt", "notes"),
        ("x = 1", "pkg/tool.py", "tool.py"),
        ("text", ".md", ".md"),
        ("\n> A **bold** start\nmore", "", "A bold start"),
        ("## Two\n# \n", "", "Two"),
        ("word " * 50, "", "word " * 15 + "word…"),
        ("\x0c", "", ""),
    ],
)
def test_title_comes_from_the_best_place(source: str, name: str, title: str) -> None:
    assert parse(source.encode(), name).title == title


def test_a_given_title_names_the_document_but_not_its_headings() -> None:
    document = parse(b"text\n# H\n", "", title=" Mine\n")
    assert (document.title, [part.title for part in document.parts]) == ("Mine", ["Mine", "H"])


@pytest.mark.parametrize("source", ["", "\ufeff", "\n", " \r\n\t\r", "\ufeff\n\n", "---\ntitle: x\n---\n", "+++\n+++"])
def test_sources_without_text_have_no_parts(source: str) -> None:
    document = parse(source.encode(), "page.md")
    assert (document.head, document.parts) == (source, ())


def test_byte_order_mark_and_blank_lines_go_to_the_head() -> None:
    document = parse("\ufeff\r\n\r\n# A\r\n\r\ntext\r\n".encode(), "page.md")
    assert document.head == "\ufeff\r\n\r\n"
    (part,) = document.parts
    assert (part.title, part.content, part.line, part.line_end, part.gap) == ("A", b"# A\r\n\r\ntext", 3, 5, "\r\n")


def test_other_media_types_are_kept_whole() -> None:
    for name in ("photo.png", "thing.unknown"):
        document = parse(b"\x89PNG\0\xff", name)
        assert (document.title, document.parts[0].title) == (name, name)
        assert document.parts[0].content == b"\x89PNG\0\xff"


def test_a_given_type_wins() -> None:
    assert parse(b"# a\n# b", "page.md", "text/plain").parts[0].content == b"# a\n# b"
    assert len(parse(b"# a\n# b", "page.txt", "text/markdown; charset=utf-8").parts) == 2
    with pytest.raises(NotUtf8Error, match="byte 0xff at offset 1"):
        parse(b"a\xff", "thing.unknown", "text/plain")


def test_other_encodings_are_named() -> None:
    with pytest.raises(NotUtf8Error) as raised:
        parse("héllo".encode("utf-16"), "page.md")
    assert "UTF-16LE" in raised.value.hint


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_module, "MAX_SOURCE_BYTES", 10)
    with pytest.raises(TooLargeError, match="has 11 bytes"):
        parse(b"x" * 11, "page.md")


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("README.MD", "text/markdown"),
        ("a/b.tar.gz", "application/gzip"),
        ("Makefile", "text/x-makefile"),
        ("LICENSE", "text/plain"),
        ("x.rst", "text/plain"),
        ("x.py", "text/x-python"),
        ("x.json", "application/json"),
        ("x.svg", "image/svg+xml"),
        ("x.nobody", "application/octet-stream"),
        (".gitignore", "application/octet-stream"),
        ("", "text/markdown"),
    ],
)
def test_media_type_follows_from_the_name(name: str, type: str) -> None:
    assert media_type_of(name) == type


def test_unknown_names_are_judged_by_their_bytes() -> None:
    assert media_type_of("x.nobody", "é".encode()) == "text/plain"
    assert media_type_of("x.nobody", b"a\0") == "application/octet-stream"
    assert media_type_of("x.nobody", b"\xff") == "application/octet-stream"
