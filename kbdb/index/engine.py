"""Chooses the engine: the compiled one, its twin in plain Python, or both in lock-step.

``KBDB_ENGINE=c|reference|checked`` forces one; unset means the compiled engine, or the reference where the
package was installed without it (``KBDB_PURE=1``).
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, cast

from kbdb.errors import InvalidArgumentError

if TYPE_CHECKING:
    from kbdb.index.api import EngineModule, Stem

VARIABLE = "KBDB_ENGINE"
REMEMBERED_WORDS = 200_000
"""Stems are remembered for so many words (some 30 MB), then forgotten all at once."""

MODULES = {"c": "kbdb._engine", "reference": "kbdb.reference", "checked": "kbdb.index.checked"}


def engine() -> EngineModule:
    """The engine module this process uses; its names are described in ``kbdb.index.api``."""
    return _load(os.environ.get(VARIABLE, ""))


@cache
def _load(choice: str) -> EngineModule:
    if choice:
        if choice not in MODULES:
            raise InvalidArgumentError(f"{VARIABLE} is {choice!r}", f"use one of: {', '.join(MODULES)}")
        try:
            return import_module(MODULES[choice])
        except ImportError as error:
            raise InvalidArgumentError(
                f"the engine {choice!r} is not installed ({error})", "reinstall kbdb with a C compiler present"
            ) from error
    try:
        return import_module(MODULES["c"])
    except ModuleNotFoundError as error:
        if error.name != MODULES["c"]:
            raise
        return import_module(MODULES["reference"])


def stemmer(language: str) -> Stem:
    """Surface words to stems, by the stemmer that belongs to the engine in use. Remembers the words it has met.

    Args:
        language: a key of ``kbdb.languages.LANGUAGES``, for words in Latin script.
    """
    implementation = engine().IMPLEMENTATION
    if implementation == "reference":
        return _remembering(_reference_stems(language))
    from kbdb.index.stemmer import Stemmer

    stems = Stemmer(language).stems
    return _remembering(_checked(stems, _reference_stems(language)) if implementation == "checked" else stems)


def _reference_stems(language: str) -> Stem:
    from kbdb.reference.stemmer import Stemmer

    return Stemmer(language).stems


def _remembering(stem: Stem) -> Stem:
    known: dict[str, str] = {}

    def remembered(words: list[str]) -> list[str]:
        if len(known) > REMEMBERED_WORDS:
            known.clear()
        found = list(map(known.get, words))
        if None in found:
            new = list(compress(words, map(not_, found)))
            fresh = stem(new)
            known.update(zip(new, fresh, strict=True))
            coming = iter(fresh)
            found = [one or next(coming) for one in found]
        return cast(list[str], found)

    return remembered


def _checked(stem: Stem, twin: Stem) -> Stem:
    def both(words: list[str]) -> list[str]:
        found, expected = stem(words), twin(words)
        if found != expected:
            differing = [word for word, one, other in zip(words, found, expected, strict=True) if one != other]
            raise AssertionError(f"the stemmers disagree on {differing}")
        return found

    return both
