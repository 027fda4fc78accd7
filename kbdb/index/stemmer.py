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
        # Nearly all words are of Latin letters without marks; the others are looked at one by one.
        ascii = words if "".join(words).isascii() else filter(str.isascii, words)
        latin = list(filter(str.isalpha, ascii))
        with self._lock:
            if len(latin) == len(words):
                return self._group(algorithm_for("a", self.language), words)
            groups = {algorithm_for("a", self.language): latin}
            for word in set(words).difference(latin):
                groups.setdefault(algorithm_for(word, self.language), []).append(word)
            found: dict[str, str] = {}
            for algorithm, group in groups.items():
                found.update(zip(group, self._group(algorithm, group), strict=True))
        return [found[word] for word in words]

    def _group(self, algorithm: str | None, words: list[str]) -> list[str]:
        """The stem of each word of one script."""
        if algorithm is None or not words:
            return words
        stems: list[str] = self._algorithm(algorithm).stemWords(words)
        return stems if all(stems) else [stem or word for stem, word in zip(stems, words, strict=True)]

    def _algorithm(self, name: str) -> pystemmer.Stemmer:
        """Snowball's C objects hold the word they work on, so they are used under the lock only."""
        if name not in self._algorithms:
            # Without a cache of its own: the callers stem each distinct word once.
            self._algorithms[name] = pystemmer.Stemmer(name, 0)
        return self._algorithms[name]
