"""Stems for the C engine, by Snowball's C code in PyStemmer (twin: reference/stemmer.py; see kbdb/languages.py)."""

from __future__ import annotations

from threading import Lock

import Stemmer as pystemmer  # type: ignore[import-not-found, unused-ignore]

from kbdb.languages import algorithm_for


class Stemmer:
    """Stems words of any script for one configured language. Threads may share it: one word list at a time.

    Args:
        language: a key of ``kbdb.languages.LANGUAGES``.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._lock = Lock()
        self._algorithms: dict[str, pystemmer.Stemmer] = {}

    def stems(self, words: list[str]) -> list[str]:
        """The stem of each word, in order. Words that no algorithm is for, or that it would empty, are their own."""
        stems = list(words)
        places: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            algorithm = algorithm_for(word, self.language)
            if algorithm is not None:
                places.setdefault(algorithm, []).append(place)
        with self._lock:
            for algorithm, where in places.items():
                found = self._algorithm(algorithm).stemWords([words[place] for place in where])
                for place, stem in zip(where, found, strict=True):
                    stems[place] = stem or words[place]
        return stems

    def _algorithm(self, name: str) -> pystemmer.Stemmer:
        """Snowball's C objects hold the word they work on, so they are used under the lock only."""
        if name not in self._algorithms:
            # Without a cache of its own: the callers stem each distinct word once.
            self._algorithms[name] = pystemmer.Stemmer(name, 0)
        return self._algorithms[name]
