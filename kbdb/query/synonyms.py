"""What else to search for when the store does not know a word: the built-in list and ``synonyms.toml``.

Read once when a database is opened; ``resolve`` looks words up by their stems, so that "repositories" finds "repo".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kbdb.errors import ConfigError, StorageError
from kbdb.query.builtin_synonyms import GROUPS, WORDS

FORMAT_HINT = 'write groups = [["k8s", "kubernetes"], …] and, under [words], one-way entries: oncall = ["pager duty"]'


@dataclass(frozen=True, slots=True)
class SynonymList:
    """Synonyms as written: ``groups`` stand for each other, a key of ``words`` is also searched as its values."""

    groups: tuple[tuple[str, ...], ...]
    words: tuple[tuple[str, tuple[str, ...]], ...]


BUILT_IN = SynonymList(GROUPS, tuple(WORDS.items()))


@dataclass(frozen=True, slots=True)
class Synonyms:
    """What to search for in place of a word, by the word's stem; the user's entries first."""

    by_stem: Mapping[str, tuple[str, ...]]

    def of(self, stem: str) -> tuple[str, ...]:
        """The texts that stand for a word of this stem; each is one word or a phrase."""
        return self.by_stem.get(stem, ())


NO_SYNONYMS = Synonyms({})


def load_synonyms(path: Path, stem: Callable[[list[str]], list[str]]) -> Synonyms:
    """The synonyms of a database.

    Args:
        path: its ``synonyms.toml``; may be absent.
        stem: distinct surface words to their stems.

    Raises:
        ConfigError: the file is not as described in README.md; names the line.
        StorageError: the file is there and cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return make_synonyms((BUILT_IN,), stem)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror})") from error
    return make_synonyms((parse_synonyms(data, str(path)), BUILT_IN), stem)


def make_synonyms(lists: Iterable[SynonymList], stem: Callable[[list[str]], list[str]]) -> Synonyms:
    """Joins lists into one table. Where several speak of a word, the earlier list's texts come first."""
    pairs = [pair for one in lists for pair in _pairs(one)]
    words = sorted({word for word, _ in pairs})
    stems = dict(zip(words, stem(words), strict=True))
    table: dict[str, dict[str, None]] = {}
    for word, text in pairs:
        if stems.get(text) != stems[word]:
            table.setdefault(stems[word], {})[text] = None
    return Synonyms({key: tuple(texts) for key, texts in table.items()})


def _pairs(one: SynonymList) -> Iterable[tuple[str, str]]:
    for group in one.groups:
        folded = [_fold(text) for text in group]
        for word in folded:
            if " " not in word:
                yield from ((word, text) for text in folded if text != word)
    for word, texts in one.words:
        yield from ((_fold(word), _fold(text)) for text in texts)


def _fold(text: str) -> str:
    normal = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", normal).split())


def parse_synonyms(data: bytes, where: str) -> SynonymList:
    """Reads the text of a ``synonyms.toml``.

    Args:
        data: the file's bytes.
        where: names the file in errors.

    Raises:
        ConfigError: not UTF-8, not TOML, an unknown key, a value that is not a list of words; names the line.
    """
    import tomllib  # few databases have such a file

    try:
        text = data.decode("utf-8-sig")
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"{where}, line {line}: not UTF-8", "save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        last = text.count("\n") + 1
        message = str(error).replace("at end of document", f"at line {last}, the end")
        raise ConfigError(f"{where}: {message}", FORMAT_HINT) from error
    for key in document:
        if key not in ("groups", "words"):
            raise _error(where, text, key, f"unknown key {key!r}; known are groups and words")
    return SynonymList(
        _groups(document.get("groups", []), where, text), _one_way(document.get("words", {}), where, text)
    )


def _groups(value: object, where: str, text: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list):
        raise _error(where, text, "groups", "groups must be a list of lists of words")
    groups = []
    for number, group in enumerate(value, 1):
        words = _words(group)
        if words is None or len(words) < 2:
            raise _error(where, text, "groups", f"group {number} must be a list of at least two words, not {group!r}")
        groups.append(words)
    return tuple(groups)


def _one_way(value: object, where: str, text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _error(where, text, "words", "words must be a table: a line [words], then word = [...]")
    entries = []
    for word, others in value.items():
        words = _words(others)
        if not words or not _fold(word) or " " in _fold(word):
            raise _error(where, text, word, f"{word!r} must be one word with a list of words, not {others!r}")
        entries.append((word, words))
    return tuple(entries)


def _words(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    words = tuple(word for word in value if isinstance(word, str) and _fold(word))
    return words if len(words) == len(value) else None


def _error(where: str, text: str, key: str, message: str) -> ConfigError:
    """A ConfigError that names the line on which ``key`` is set, where it stands at the start of one."""
    found = re.search(rf"^[ \t]*(?:\[+[ \t]*)?[\"']?{re.escape(key)}[\"']?[ \t]*[\].=]", text, re.MULTILINE)
    line = f", line {text.count(chr(10), 0, found.start()) + 1}" if found else ""
    return ConfigError(f"{where}{line}: {message}", FORMAT_HINT)
