"""Stems for the reference, by Snowball's pure Python classes (twin: kbdb/index/stemmer.py; see kbdb/languages.py).

The classes are imported by name: ``snowballstemmer.stemmer()`` would give PyStemmer's C code where that is installed.
"""

from __future__ import annotations

from importlib import import_module
from threading import Lock
from typing import Protocol, cast

from kbdb.languages import algorithm_for


class _Algorithm(Protocol):
    def stemWord(self, word: str) -> str: ...


class Stemmer:
    """Stems words of any script for one configured language. Threads may share it: one word list at a time.

    Args:
        language: a key of ``kbdb.languages.LANGUAGES``.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._lock = Lock()
        self._algorithms: dict[str, _Algorithm] = {}

    def stems(self, words: list[str]) -> list[str]:
        """The stem of each word, in order. Words that no algorithm is for, or that it would empty, are their own."""
        with self._lock:
            return [self._stem(word) for word in words]

    def _stem(self, word: str) -> str:
        name = algorithm_for(word, self.language)
        if name is None:
            return word
        if name not in self._algorithms:
            module = import_module(f"snowballstemmer.{name}_stemmer")
            self._algorithms[name] = cast(_Algorithm, getattr(module, f"{name.capitalize()}Stemmer")())
        return self._algorithms[name].stemWord(word) or word
