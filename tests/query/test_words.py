"""Tokens grouped into what a person calls a word, by the real analysis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.index.engine import engine
from kbdb.query.words import Word, is_single, is_unspaced, joined, words_of


def words(text: str) -> list[Word]:
    return words_of(text, engine().tokenise)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("?! -", []),
        ("Two Words", [Word("two", "plain", ("two",)), Word("words", "plain", ("words",))]),
        ("foo_bar baz", [Word("foo_bar", "identifier", ("foo", "bar")), Word("baz", "plain", ("baz",))]),
        ("fooBar", [Word("foobar", "identifier", ("foo", "bar"))]),
        ("fooBar.baz", [Word("foobar.baz", "identifier", ("foo", "bar", "baz"), ("foobar",))]),
        ("src/fooBar.py", [Word("src/foobar.py", "identifier", ("src", "foo", "bar", "py"), ("foobar",))]),
        ("数据库", [Word("数据库", "run", ("数据", "据库"))]),
        ("数", [Word("数", "run", ("数",))]),
        ("第3章", [Word("第", "run", ("第",)), Word("3", "plain", ("3",)), Word("章", "run", ("章",))]),
        ("ภาษา", [Word("ภาษา", "run", ("ภา", "าษ", "ษา"))]),
        ("๑๒", [Word("๑๒", "plain", ("๑๒",))]),
    ],
)
def test_words(text: str, expected: list[Word]) -> None:
    assert expected == words(text)


def test_single_characters_of_scripts_without_spaces() -> None:
    assert [is_single(words(text)[0]) for text in ("数", "数据", "x", "a_b")] == [True, False, False, False]
    assert is_unspaced("한국")
    assert not is_unspaced("дом")


def test_pairs_join_to_the_text_they_were_cut_from() -> None:
    assert joined(("数据", "据库")) == "数据库"
    assert joined(("哈哈", "哈哈")) == "哈哈哈"


@given(st.text() | st.text(alphabet="aB_.-/:' 数据库のカ한글ไท1\u0301"))
def test_every_token_is_in_one_word(text: str) -> None:
    tokens = [surface for _, surface in engine().tokenise(text)]
    grouped = [
        surface
        for word in words(text)
        for surface in ([word.text] if word.kind == "identifier" else []) + [*word.inner, *word.parts]
    ]
    assert sorted(tokens) == sorted(grouped)
    assert all(word.parts for word in words(text))
