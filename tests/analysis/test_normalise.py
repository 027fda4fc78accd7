"""What normalise and fold promise for every single character of Unicode."""

from __future__ import annotations

import unicodedata

from kbdb.normalise import fold, is_assigned, normalise
from kbdb.reference.unicode_classes import MARK, RANGES

TOKEN_BYTES_MAX, WORD_BYTES_MAX = 144, 255
FITS_PER_BYTE = WORD_BYTES_MAX / TOKEN_BYTES_MAX


def every_token_character() -> list[str]:
    """Every character that may begin or continue a token and is its own normal form."""
    characters = (chr(code) for first, last, _, _ in RANGES for code in range(first, last + 1))
    return [character for character in characters if unicodedata.normalize("NFKC", character) == character]


def test_folding_never_lengthens_past_the_limit() -> None:
    for character in every_token_character():
        assert len(fold(character).encode()) <= FITS_PER_BYTE * len(character.encode()), hex(ord(character))


def test_only_marks_fold_to_nothing() -> None:
    marks = {code for first, last, kind, _ in RANGES if kind == MARK for code in range(first, last + 1)}
    assert all(fold(character) for character in every_token_character() if ord(character) not in marks)


def test_classified_characters_are_assigned() -> None:
    assert all(is_assigned(chr(first)) and is_assigned(chr(last)) for first, last, _, _ in RANGES)


def test_characters_of_later_versions_become_spaces() -> None:
    assert normalise("a\U0001fae8b\U0001c200c") == "a b c"


def test_every_normalised_character_can_be_encoded() -> None:
    text = normalise("".join(map(chr, range(0x20000))))
    assert all(is_assigned(character) for character in set(text))
    text.encode("utf-8")


def test_rows_of_combining_characters_are_shortened_to_ten() -> None:
    assert normalise("x" + "\u0323" * 10) == normalise("x" + "\u0323" * 11)
    assert normalise("x" + "\u0323" * 9) != normalise("x" + "\u0323" * 10)


def test_characters_that_become_combining_count_as_such() -> None:
    half_width_voicing = "\uff9e"
    assert len(normalise("ア" + half_width_voicing * 1000)) == 10 + 1


def test_apostrophe_and_hyphen_fold_to_ascii() -> None:
    assert fold("don\u2019t") == "don't"
    assert fold("é\u2010é") == "é-é"
