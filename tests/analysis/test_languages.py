"""Which algorithm stems which word, and the stop words."""

from __future__ import annotations

import pytest

from kbdb.languages import DEFAULT_ALGORITHMS, LANGUAGES, NO_STEMMING, algorithm_for, stop_words
from kbdb.reference.analysis import tokenise
from kbdb.stop_words import STOP_WORDS


@pytest.mark.parametrize(
    ("word", "algorithm"),
    [
        ("running", "english"),
        ("user's", "english"),
        ("naïve", "english"),
        ("q\u0303uo", "english"),
        ("книги", "russian"),
        ("п'ять", "russian"),
        ("ἀνθρώπων", "greek"),
        ("كتاب", "arabic"),
        ("किताबें", "hindi"),
        ("գրքեր", "armenian"),
        ("புத்தகம்", "tamil"),
        ("ספרים", None),
        ("漢字", None),
        ("ไท", None),
        ("sha256", None),
        ("v1.2", None),
        ("snake_case", None),
        ("kebab-case", None),
        ("usb-кабель", None),
        ("книга2", None),
        ("'", None),
        ("აბგ", None),
    ],
)
def test_algorithm_by_script(word: str, algorithm: str | None) -> None:
    assert algorithm_for(word, "english") == algorithm


def test_configured_language_takes_its_own_scripts_only() -> None:
    assert algorithm_for("bücher", "german") == "german"
    assert algorithm_for("книги", "german") == "russian"
    assert algorithm_for("books", "russian") == "english"
    assert algorithm_for("کتاب", "persian") == "persian"
    assert algorithm_for("књига", "serbian") == algorithm_for("knjiga", "serbian") == "serbian"
    assert algorithm_for("ספרים", "yiddish") == "yiddish"


def test_no_stemming_at_all() -> None:
    assert algorithm_for("running", NO_STEMMING) is None
    assert algorithm_for("книги", NO_STEMMING) is None
    assert stop_words(NO_STEMMING) == frozenset()


def test_every_algorithm_is_a_language() -> None:
    assert set(DEFAULT_ALGORITHMS.values()) <= LANGUAGES.keys()
    assert STOP_WORDS.keys() <= LANGUAGES.keys()


@pytest.mark.parametrize("language", STOP_WORDS)
def test_stop_words_are_words_as_the_analysis_gives_them(language: str) -> None:
    assert all(tokenise(word) == [(0, word)] for word in STOP_WORDS[language])
    assert STOP_WORDS[language] <= stop_words(language)


def test_stop_words_of_other_scripts_come_along() -> None:
    assert {"the", "и"} <= stop_words("english")
    assert "the" not in stop_words("german")
    assert "the" in stop_words("russian")
    assert {"и", "the"} <= stop_words("greek")
