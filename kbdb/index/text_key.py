"""Text keys: how the same text is recognised later without keeping it (DESIGN: events).

A text key is ``<salt>$<hex>``: SHA-256 over the salt and the analysed token sequence of title and body, whatever the
section's type, heading level, white space or inflections. The salt keeps a list of keys from being tried against
guesses across databases.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from kbdb.index.api import EngineModule, Stem


def stems_of(engine: EngineModule, stem: Stem, *texts: str) -> list[str]:
    """The stems of the texts' tokens, in order."""
    words = [word for text in texts for _, word in engine.tokenise(text)]
    distinct = sorted(set(words))
    to_stem = dict(zip(distinct, stem(distinct), strict=True))
    return [to_stem[word] for word in words]


def distinct_stems_of(engine: EngineModule, stem: Stem, *texts: str) -> list[str]:
    """The distinct stems of the texts' tokens, sorted."""
    words = {word for text in texts for _, word in engine.tokenise(text)}
    return sorted(set(stem(sorted(words))))


def text_key(salt: str, stems: Sequence[str]) -> str:
    """The key of a token sequence under a salt."""
    digest = sha256("\x1f".join((salt, *stems)).encode()).hexdigest()
    return f"{salt}${digest}"
