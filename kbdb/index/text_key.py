"""Text keys: how the same text is recognised later without keeping it (DESIGN: events).

A text key is ``<salt>$<hex>``: SHA-256 over the salt and the surface words of title and body in order, whatever the
section's type, heading level, case or white space. Not their stems: keys are kept for good, and a database's language
may change. The salt keeps a list of keys from being tried against guesses across databases.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from kbdb.index.api import EngineModule, Stem


def words_of(engine: EngineModule, text: str) -> list[str]:
    """The surface words of a text, in order."""
    return [word for _, word in engine.tokenise(text)]


def distinct_stems_of(engine: EngineModule, stem: Stem, *texts: str) -> list[str]:
    """The distinct stems of the texts' tokens, sorted."""
    words = {word for text in texts for _, word in engine.tokenise(text)}
    return sorted(set(stem(sorted(words))))


def text_key(salt: str, words: Sequence[str]) -> str:
    """The key of a sequence of words under a salt."""
    digest = sha256("\x1f".join((salt, *words)).encode()).hexdigest()
    return f"{salt}${digest}"
