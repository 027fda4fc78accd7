"""Folded copies of texts, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.normalise import fold, normalise
from kbdb.query.folding import fold_text


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Plain ASCII", "plain ascii"),
        ("ÄÖ ΣΑΣ", "äö σασ"),
        ("Straße ﬁne", "strasse fine"),
        ("E\u0301te\u0301", "été"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("co\u00adop", "coop"),
        ("don\u2019t", "don't"),
        ("全角，", "全角,"),
        ("a…b", "a...b"),
        ("İx", "i\u0307x"),
        ("\u1100\u1161\u11a8", "각"),
    ],
)
def test_text_is_folded_as_words_are(text: str, folded: str) -> None:
    assert folded == fold_text(text).text


def test_positions_lead_back_to_where_they_came_from() -> None:
    text = "xﬃ co\u00adop e\u0301 y"
    folded = fold_text(text)
    assert folded.text == "xffi coop é y"
    assert [folded.offset(position) for position in range(len(folded.text) + 1)] == [
        0, 1, 1, 1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13,
    ]  # fmt: skip
    assert folded.position(2) == 4
    assert folded.position(6) == 7
    assert folded.position(len(text)) == len(folded.text)


@given(st.text() | st.text(alphabet="aAﬁßé\u0301\u0323İｶﾞ数\u00ad…Σ\u1100\u1161 \n"))
def test_folding_any_text_keeps_order_and_ends(text: str) -> None:
    folded = fold_text(text)
    back = [folded.offset(position) for position in range(len(folded.text) + 1)]
    assert back == sorted(back)
    assert all(0 <= offset <= len(text) for offset in back)
    there = [folded.position(offset) for offset in range(len(text) + 1)]
    assert there == sorted(there)
    assert all(0 <= position <= len(folded.text) for position in there)


@given(st.text(alphabet="abßéÀΩﬁ数據ガ, ."))
def test_text_without_marks_folds_as_a_whole(text: str) -> None:
    assert fold_text(text).text == fold(normalise(text))
