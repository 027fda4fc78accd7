"""A place in a settings file where it is not what it should be."""

from __future__ import annotations


class TextFault(Exception):
    """What is wrong, and on which line and column; ``kbdb.setup.change`` tells in which file.

    Args:
        text: the whole text.
        place: the offset of the fault in it.
        what: what is wrong there.
    """

    def __init__(self, text: str, place: int, what: str) -> None:
        before = text[:place].replace("\r\n", "\n").replace("\r", "\n")
        self.line = before.count("\n") + 1
        self.column = len(before) - (before.rfind("\n") + 1) + 1
        self.what = what
        super().__init__(f"line {self.line}, column {self.column}: {what}")
