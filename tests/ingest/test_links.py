"""Links become targets: kbids, documents, and places in documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.ingest.links import anchors_of, links, slug_of

KBID = "0123456789abcdefghjkmnpqr0"


def targets(content: str, source: str = "docs/a/page.md", type: str = "text/markdown") -> tuple[str, ...]:
    return links(content, source, "own", lambda path: f"<{path}>" if path != "none.md" else "", type)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"see $(link:{KBID})", [f"kbid:{KBID}"]),
        (f"$(link: {KBID.upper()} )", [f"kbid:{KBID}"]),
        ("$(link:page-abc) $(link:page-abc#top)", ["doc:page-abc", "doc:page-abc#top"]),
        ("[x](other.md)", ["doc:<docs/a/other.md>"]),
        ('[x](../other.md#part "t")', ["doc:<docs/other.md>#part"]),
        ("[x](./b/../other.md?raw=1)", ["doc:<docs/a/other.md>"]),
        ("[x](../../../up.md)", ["doc:<../up.md>"]),
        ("[x](<my page.md> 't')", ["doc:<docs/a/my page.md>"]),
        ("[x](my%20p%C3%A4ge.md#a%20b)", ["doc:<docs/a/my päge.md>#a b"]),
        ("[x](a_\\(b\\)&amp;c.md)", ["doc:<docs/a/a_(b)&c.md>"]),
        ("[x](f(1).md)", ["doc:<docs/a/f(1).md>"]),
        ("[x](\n  other.md\n)", ["doc:<docs/a/other.md>"]),
        ("![img](i.png) and [![alt](j.png)](k.md)", ["doc:<docs/a/i.png>", "doc:<docs/a/j.png>", "doc:<docs/a/k.md>"]),
        ("[x](#here)", ["doc:own#here"]),
        ("[x](#)", []),
        ("[x]()", []),
        ("[r]: other.md 'title'\n[s]:\n  <sp ace.md>\n\n> [t]: q.md", None),
        ("[^1]: note.md", []),
        ("text [a] (b.md) ](c.md)", []),
        ("[x](https://x.org/a.md) [y](mailto:a@b.c) [z](//x.org) [r](/root.md) <https://a.b>", []),
        ("`[x](a.md)` ``[y](`b.md)`` [z](c.md)", ["doc:<docs/a/c.md>"]),
        ("` [x](a.md)", ["doc:<docs/a/a.md>"]),
        ("```\n[x](a.md)\n$(link:b)\n```\n\n    [y](b.md)\n", []),
        ("<!-- [x](a.md) -->\n\n<a title='[y](b.md)'>", []),
        (r"\[x](a.md) [y\](b.md)", []),
        ("- [x](a.md)\n\n  > [y](b.md)", ["doc:<docs/a/a.md>", "doc:<docs/a/b.md>"]),
        ("[x](dir/)", ["doc:<docs/a/dir>"]),
        ("", []),
    ],
)
def test_finds_what_markdown_links_to(content: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = ["doc:<docs/a/other.md>", "doc:<docs/a/q.md>", "doc:<docs/a/sp ace.md>"]
    assert targets(content) == tuple(expected)


def test_relative_links_start_from_the_source() -> None:
    assert targets("[x](a.md)", "page.md") == ("doc:<a.md>",)
    assert targets("[x](a.md)", "") == ("doc:<a.md>",)
    assert targets("[x](../a.md)", "/abs/dir/page.md") == ("doc:</abs/a.md>",)
    assert targets("[x](a.md) [y](#z)", "https://x.org/page.md") == ("doc:own#z",)
    assert targets("[x](none.md)", "page.md") == ()


def test_plain_text_knows_stored_links_only() -> None:
    assert targets(f"[x](a.md) `$(link:{KBID})`", type="text/plain") == (f"kbid:{KBID}",)


def test_targets_are_distinct_and_sorted() -> None:
    assert targets("[x](b.md) [y](a.md) [z](b.md)") == ("doc:<docs/a/a.md>", "doc:<docs/a/b.md>")


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Path Operation (config)", "path-operation-config"),
        ("What's new?", "whats-new"),
        ("特性 A_b-c", "特性-a_b-c"),
        ("", ""),
    ],
)
def test_slug_is_the_anchor_of_a_title(title: str, slug: str) -> None:
    assert slug_of(title) == slug


def test_a_section_answers_to_its_explicit_id_and_its_slug() -> None:
    assert anchors_of("## 标签 { #tags .x }\n\ntext", "标签") == ("tags", "标签")
    assert anchors_of("Tags {#tags}\n===\n", "Tags") == ("tags",)
    assert anchors_of("text", "Some title") == ("some-title",)


@given(st.text(alphabet="[]()<>`\\#!$:link{}ab/%.\n\"' &", max_size=60))
def test_nothing_raises(content: str) -> None:
    assert all(target.startswith(("doc:", "kbid:")) for target in targets(content))


@pytest.mark.parametrize(
    "bomb", ["[" * 30_000 + "](", "[a](" * 8000, "`" * 20_000 + "](a", "x <!-- " * 5000 + "](a", "<a '" * 8000]
)
def test_hostile_text_ends(bomb: str) -> None:
    assert targets(bomb) == ()
