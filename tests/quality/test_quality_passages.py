"""How a document is cut into passages, with words for tokens."""

from __future__ import annotations

import pytest

from bench.quality.collection import Document
from bench.quality.passages import passages


def fits(text: str) -> bool:
    return len(text.split()) <= 6


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Title", "One two three. Four.", ["Title\nOne two three. Four."]),
        ("Title", "", ["Title"]),
        ("", " \n", []),
        ("T", "One two three. Four five six. Seven.", ["T\nOne two three.", "T\nFour five six. Seven."]),
        ("", "one two three four\n\nfive six seven", ["one two three four", "five six seven"]),
        ("T", "a b c d e f g h i j", ["T\na b c d e", "T\nf g h i j"]),
        (
            "a title of more than six words",
            "one two",
            ["a title of more than six words\none", "a title of more than six words\ntwo"],
        ),
    ],
    ids=["fits", "title alone", "nothing", "sentences", "paragraphs", "a long sentence", "a long title"],
)
def test_passages_are_whole_sentences_where_they_can_be(title: str, text: str, expected: list[str]) -> None:
    assert expected == passages(Document("id", title, text), fits)


def test_no_word_is_lost() -> None:
    text = "One two three four five six seven eight. Nine ten! Eleven\ntwelve thirteen? Fourteen"
    cut = passages(Document("id", "", text), fits)
    assert text.split() == " ".join(cut).split()
    assert all(map(fits, cut))
