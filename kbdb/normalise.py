"""What happens to text before it is cut into tokens, and to each token after; for both engines (csrc/README.md 7).

The result is the same on every Python: only characters of Unicode 14.0 get through, and for those neither NFKC nor case
folding ever changes.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache

from kbdb.unicode_data import IGNORABLE, UNASSIGNED, UNICODE_VERSION

ANALYSIS_VERSION = f"1 unicode-{UNICODE_VERSION}"
"""Part of an index's fingerprint: it changes with every change of what ``tokenise`` gives."""

COMBINING_MAX = 10
"""Combining characters kept in a row: Python sorts them in quadratic time, and no writing system needs as many."""

_UNASSIGNED_FIRSTS = tuple(first for first, _ in UNASSIGNED)

_FOLDED = {code: None for first, last in IGNORABLE for code in range(first, last + 1)} | {0x2019: "'", 0x2010: "-"}


def normalise(text: str) -> str:
    """The text that is cut into tokens.

    Args:
        text: any string, lone surrogates included.

    Returns:
        NFKC of the text, after characters that Unicode 14.0 does not have became spaces and rows of more than
        ``COMBINING_MAX`` combining characters were shortened. It can always be encoded as UTF-8.
    """
    if text.isascii():
        return text
    special = [character for character in set(text) if not _is_plain(character)]
    unassigned = {ord(character): " " for character in special if not is_assigned(character)}
    if unassigned:
        text = text.translate(unassigned)
    combining = "".join(sorted(character for character in special if ord(character) not in unassigned))
    if combining:
        text = re.sub(f"([{combining}]{{{COMBINING_MAX}}})[{combining}]+", r"\1", text)
    return unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=1 << 16)
def fold(token: str) -> str:
    """The surface word of a token: full case folding, then NFKC, without invisible characters, with ASCII ' and -.

    Args:
        token: a slice of normalised text as the tokeniser delivers it.

    Returns:
        The word that is indexed: never empty, at most 255 bytes of UTF-8.
    """
    if token.isascii():
        return token.lower()
    return unicodedata.normalize("NFKC", token.translate(_FOLDED).casefold())


def is_assigned(character: str) -> bool:
    """Whether Unicode 14.0 has the character."""
    index = bisect_right(_UNASSIGNED_FIRSTS, ord(character)) - 1
    return index < 0 or ord(character) > UNASSIGNED[index][1]


@lru_cache(maxsize=1 << 16)
def _is_plain(character: str) -> bool:
    """Whether the character is assigned, and is not combining nor becomes so."""
    if not is_assigned(character) or unicodedata.combining(character):
        return False
    if not unicodedata.decomposition(character):
        return True
    return not all(unicodedata.combining(part) for part in unicodedata.normalize("NFKD", character))
