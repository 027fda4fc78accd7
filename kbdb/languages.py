"""Which Snowball algorithm stems which word, by the script of its letters (stop words: kbdb/stop_words.py)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from kbdb.stop_words import STOP_WORDS
from kbdb.unicode_data import SCRIPT_LETTERS

NO_STEMMING = "none"
"""The language that leaves every word as it is, in every script."""

LANGUAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        NO_STEMMING: (),
        **dict.fromkeys(
            (
                "basque", "catalan", "czech", "danish", "dutch", "english", "esperanto", "estonian", "finnish",
                "french", "german", "hungarian", "indonesian", "irish", "italian", "lithuanian", "norwegian",
                "polish", "portuguese", "romanian", "sesotho", "spanish", "swedish", "turkish",
            ),
            ("Latn",),
        ),
        "serbian": ("Latn", "Cyrl"),
        "russian": ("Cyrl",),
        "greek": ("Grek",),
        "arabic": ("Arab",),
        "persian": ("Arab",),
        "hindi": ("Deva",),
        "nepali": ("Deva",),
        "armenian": ("Armn",),
        "tamil": ("Taml",),
        "yiddish": ("Hebr",),
    }
)  # fmt: skip
"""What may be configured, and its scripts: Snowball's algorithms without the older variants of English and Dutch."""

DEFAULT_ALGORITHMS: Mapping[str, str] = MappingProxyType(
    {
        "Latn": "english",
        "Cyrl": "russian",
        "Grek": "greek",
        "Arab": "arabic",
        "Deva": "hindi",
        "Armn": "armenian",
        "Taml": "tamil",
    }
)
"""The algorithm of each script that the configured language is not written in."""


def algorithm_for(word: str, language: str) -> str | None:
    """The Snowball algorithm that stems a word.

    Args:
        word: a surface word: folded, as ``tokenise`` gives it.
        language: a key of ``LANGUAGES``.

    Returns:
        The algorithm's name; None for a word that is its own stem: one with digits or joiners, of several scripts, or
        of a script without a stemmer.
    """
    if word.isascii():
        return _algorithms(language).get("Latn") if word.replace("'", "").isalpha() else None
    script = _script_of(word)
    return None if script is None else _algorithms(language).get(script)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Surface words that say little about what a text is about.

    Args:
        language: a key of ``LANGUAGES``.

    Returns:
        Those of the language, and those of the default languages of the scripts it is not written in; empty for
        languages without a list.
    """
    algorithms = set(_algorithms(language).values())
    return frozenset(word for name in algorithms for word in STOP_WORDS.get(name, ()))


@cache
def _algorithms(language: str) -> Mapping[str, str]:
    if language == NO_STEMMING:
        return {}
    return {**DEFAULT_ALGORITHMS, **dict.fromkeys(LANGUAGES[language], language)}


def _script_of(word: str) -> str | None:
    """The script of all letters of a word of letters, marks and apostrophes."""
    scripts = set()
    for character in word:
        if character == "'" or unicodedata.category(character)[0] == "M":
            continue
        scripts.add(script_of_letter(character))
    return scripts.pop() if len(scripts) == 1 else None


_RANGES = sorted((first, last, script) for script, ranges in SCRIPT_LETTERS.items() for first, last in ranges)
_FIRSTS = [first for first, _, _ in _RANGES]


@lru_cache(maxsize=4096)
def script_of_letter(character: str) -> str | None:
    """The script of a letter, by its ISO 15924 code; None for those without a stemmer and all that is no letter."""
    index = bisect_right(_FIRSTS, ord(character)) - 1
    if index < 0 or ord(character) > _RANGES[index][1]:
        return None
    return _RANGES[index][2]
