"""Names of skills and agents: kebab-case, as people type them and hosts show them."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from kbdb.errors import InvalidArgumentError

MAX_NAME = 64
_KEBAB = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")
_HUMP = re.compile("([a-z0-9])([A-Z])")
_NOT_NAME = re.compile("[^a-z0-9]+")

_DIGEST = 8
"""Hexadecimal digits that tell titles apart of which a name cannot hold all letters."""


def is_kebab(name: str) -> bool:
    """Whether a text is a name: lower-case ASCII letters and digits in words with single hyphens between them."""
    return len(name) <= MAX_NAME and _KEBAB.fullmatch(name) is not None


def kebab(text: str) -> str:
    """The letters and digits of a text that a name may have, as a name; ``""`` where it has none."""
    return _kebab(_plain(text))[:MAX_NAME].rstrip("-")


def name_of(title: str) -> str:
    """The name of what is stored under a title; the title itself where that has no other.

    Where a name cannot hold all its letters and digits, it ends with a digest of them: what has other letters is not
    to have the same name.
    """
    if is_kebab(title):
        return title
    plain = _plain(title)
    words = _kebab(plain)
    if not words:
        return title
    if len(words) <= MAX_NAME and not any(character.isalnum() and not character.isascii() for character in plain):
        return words
    digest = hashlib.sha256(_letters(title).encode()).hexdigest()[:_DIGEST]
    return f"{words[: MAX_NAME - _DIGEST - 1].rstrip('-')}-{digest}"


def _plain(text: str) -> str:
    """A text without the marks on its letters."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _kebab(plain: str) -> str:
    return _NOT_NAME.sub("-", _HUMP.sub(r"\1-\2", plain).lower()).strip("-")


def _letters(title: str) -> str:
    """The words of a title, whatever their script, case and spacing; marks count as letters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).casefold())
    return " ".join("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded).split())


def check_name(name: str, what: str) -> str:
    """Gives a name back.

    Args:
        what: it names, for the message.

    Raises:
        InvalidArgumentError: not kebab-case; the hint says what would be right.
    """
    if is_kebab(name):
        return name
    better = name_of(name)
    rule = f"lower-case letters and digits, single hyphens between words, at most {MAX_NAME} characters"
    raise InvalidArgumentError(
        f"the {what}'s name {name!r} is not kebab-case",
        f"use {better}" if is_kebab(better) else f"use {rule}: deploy-service",
    )
