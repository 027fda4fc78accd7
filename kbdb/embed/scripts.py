"""The language gate: whether a provider understands the script a text is written in. Pure."""

from __future__ import annotations

from kbdb.languages import script_of_letter


def serves(scripts: frozenset[str] | None, text: str) -> bool:
    """Whether at least half of a text's letters are of these scripts; a text without letters is served by any model.

    Half, because a Greek letter in an English question changes nothing, and an English name in a Chinese one little.

    Args:
        scripts: as a provider declares them; None for all.
        text: a query.
    """
    if scripts is None:
        return True
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(script_of_letter(letter) in scripts for letter in letters) >= len(letters)
