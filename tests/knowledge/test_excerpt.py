"""Lines of sections and documents: what is asked for, how much fits, and where to go on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from knowledge_base import GUIDE, docid, kbid, write

from kbdb.errors import InvalidArgumentError
from kbdb.ingest.lines import line_ends
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.excerpt import cut
from kbdb.lines import LineRange, line_range
from kbdb.model.read import DocumentView, Excerpt, SectionView

TEXTS = st.text(alphabet="ab \n\r\té中e\u0301👍🏽", max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12-40", LineRange(12, 1, 40)),
        ("12-", LineRange(12, 1, None)),
        ("12", LineRange(12, 1, 12)),
        ("12:300-", LineRange(12, 300, None)),
        ("12:300-13", LineRange(12, 300, 13)),
        ("7:2", LineRange(7, 2, 7)),
    ],
)
def test_ranges_are_read_as_they_are_written(text: str, expected: LineRange) -> None:
    assert (line_range(text), line_range(str(expected))) == (expected, expected)


@pytest.mark.parametrize("text", ["", "0", "a", "3-2", "-3", "1-2-3", " 1", "1:0-", "1-2:3", "٣", "9999999999"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError):
        line_range(text)


@given(TEXTS, st.integers(1, 8), st.none() | st.integers(0, 5))
def test_a_range_holds_the_lines_an_editor_shows(text: str, first: int, more: int | None) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = lines if lines[-1] else lines[:-1]
    wanted = LineRange(first, 1, None if more is None else first + more)
    if first > max(len(lines), 1):
        with pytest.raises(InvalidArgumentError):
            cut(text.encode(), "text/plain", wanted, None)
        return
    piece, excerpt = cut(text.encode(), "text/plain", wanted, None)
    shown = lines[first - 1 : wanted.last]
    read = piece.decode().replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    assert "\n".join(shown).removesuffix("\n") == read.removesuffix("\n")
    following = f"{wanted.last + 1}-" if wanted.last is not None and wanted.last < len(lines) else ""
    assert (first, first + len(shown) - 1, len(lines), following) == (
        excerpt.first,
        excerpt.last,
        excerpt.total,
        excerpt.next,
    )


@given(TEXTS, st.integers(1, 40))
def test_what_follows_the_pieces_in_turn_gives_all_of_it(text: str, most: int) -> None:
    content, pieces, wanted = text.encode(), [], LineRange()
    while True:
        piece, excerpt = cut(content, "text/plain", wanted, most)
        pieces.append(piece)
        assert len(piece) <= most or len(piece.decode()) <= 8
        assert piece or not content
        assert excerpt.first + line_ends(piece.decode()) - (piece[-1:] in (b"\n", b"\r", b"")) == excerpt.last
        if not excerpt.next:
            break
        wanted = line_range(excerpt.next)
    assert content == b"".join(pieces)


def test_whole_lines_are_given_where_one_fits() -> None:
    content = b"one\ntwo\nthree\n"
    assert cut(content, "text/plain", None, 9) == (b"one\ntwo\n", Excerpt(1, 1, 2, 3, "3-", 14))
    assert cut(content, "text/plain", LineRange(2, 1, 3), 5) == (b"two\n", Excerpt(2, 1, 2, 3, "3-3", 14))
    assert cut(content, "text/plain", LineRange(3), 2) == (b"th", Excerpt(3, 1, 3, 3, "3:3-", 14))


def test_lines_end_in_both_characters_or_none_of_them() -> None:
    assert cut(b"one\r\ntwo", "text/plain", None, 4)[1].next == "1:4-"
    assert cut(b"one\r\ntwo", "text/plain", None, 5)[1].next == "2-"


def test_a_section_and_a_document_are_given_in_part(kb: KnowledgeBase, home: Path) -> None:
    learned = docid(kb.learn([write(home / "guide.md", GUIDE)]))
    section = kb.retrieve(kbid(kb, "Pressing"), lines="3")
    assert isinstance(section, SectionView)
    assert section.content == b"Press the apples within a day, then boil the juice."
    assert section.excerpt == Excerpt(3, 1, 3, 3, "", 64)
    first = kb.retrieve(kbid(kb, "Pressing"), lines="1")
    assert isinstance(first, SectionView)
    assert first.excerpt == Excerpt(1, 1, 1, 3, "2-", 64)
    document = kb.retrieve(docid=learned, lines="11-13")
    assert isinstance(document, DocumentView)
    assert document.content == b"## Pressing\n\nPress the apples within a day, then boil the juice.\n"
    assert [place.kbid for place in document.manifest.sections] == [kbid(kb, "Pressing")]
    whole = kb.retrieve(docid=learned)
    assert isinstance(whole, DocumentView)
    assert (whole.excerpt, whole.content.decode()) == (None, GUIDE)


def test_lines_that_are_not_there_are_refused_with_how_many_there_are(kb: KnowledgeBase) -> None:
    kb.learn(content="one\ntwo", title="T", docid="t")
    with pytest.raises(InvalidArgumentError) as refusal:
        kb.retrieve(docid="t", lines="9-")
    assert "1-2" in refusal.value.hint
    with pytest.raises(InvalidArgumentError):
        kb.retrieve(docid="t", lines="1:9-")
    with pytest.raises(InvalidArgumentError):
        kb.retrieve(docid="t", max_bytes=0)


def test_what_is_no_text_has_no_lines(kb: KnowledgeBase, home: Path) -> None:
    learned = docid(kb.learn([write(home / "p.png", b"\x89PNG\n\n")]))
    with pytest.raises(InvalidArgumentError):
        kb.retrieve(docid=learned, lines="1")
    view = kb.retrieve(docid=learned, max_bytes=10)
    assert (view.content, view.excerpt) == (b"", Excerpt(0, 1, 0, 0, "", 6))
