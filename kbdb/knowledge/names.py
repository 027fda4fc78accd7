"""Names of skills and agents: kebab-case, as people type them and hosts show them."""

from __future__ import annotations

import re
import unicodedata

from kbdb.errors import InvalidArgumentError

MAX_NAME = 64
_KEBAB = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")
_HUMP = re.compile("([a-z0-9])([A-Z])")
_NOT_NAME = re.compile("[^a-z0-9]+")


def is_kebab(name: str) -> bool:
    """Whether a text is a name: lower-case ASCII letters and digits in words with single hyphens between them."""
    return len(name) <= MAX_NAME and _KEBAB.fullmatch(name) is not None


def kebab(text: str) -> str:
    """The name that a title stands for; ``""`` where it has no letter or digit that a name may have."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    words = _NOT_NAME.sub("-", _HUMP.sub(r"\1-\2", plain).lower()).strip("-")
    return words[:MAX_NAME].rstrip("-")


def name_of(title: str) -> str:
    """The name of what is stored under a title; the title itself where that has no other."""
    return kebab(title) or title


def check_name(name: str, what: str) -> str:
    """Gives a name back.

    Args:
        what: it names, for the message.

    Raises:
        InvalidArgumentError: not kebab-case; the hint says what would be right.
    """
    if is_kebab(name):
        return name
    better = kebab(name)
    rule = f"lower-case letters and digits, single hyphens between words, at most {MAX_NAME} characters"
    raise InvalidArgumentError(
        f"the {what}'s name {name!r} is not kebab-case", f"use {better}" if better else f"use {rule}: deploy-service"
    )
