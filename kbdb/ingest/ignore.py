"""Git's ignore rules: patterns of ``.gitignore`` and ``.kbdbignore`` files, and the globs of --include and --exclude.

A rule is matched against an entry itself, never against the folders above it: ``walk.py`` does not enter an ignored
folder, which gives git's meaning, negation included. Every star is matched at its first possible place (atomic groups),
so no pattern, however hostile, takes more than time in proportion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_CLASS_NAMES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_CLASS = re.compile(r"\[([!^]?)(\]?(?:\[:\w*:\]|\\.|[^\]\\])*)\]", re.DOTALL)
_CLASS_ITEM = re.compile(r"\[:(\w*):\]|(\\.|[^\\])(?:-(\\.|[^\\]))?", re.DOTALL)
_TOKEN = re.compile(rf"{_CLASS.pattern}|\\.|.", re.DOTALL)
_NEVER = "(?!)"


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern: what it matches (a base name, or a path relative to the rules' folder) and what that means."""

    pattern: re.Pattern[str]
    by_name: bool
    folders_only: bool
    negated: bool

    def matches(self, path: str, is_folder: bool) -> bool:
        """Whether the entry at ``path`` (``/`` between folders, relative to the rules' folder) is meant."""
        if self.folders_only and not is_folder:
            return False
        subject = path.rpartition("/")[2] if self.by_name else path
        return self.pattern.fullmatch(subject) is not None


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules of an ignore file, in its order."""
    lines = text.removeprefix("\ufeff").split("\n")
    return tuple(rule for line in lines if (rule := _rule(line.removesuffix("\r"))) is not None)


def glob_rule(glob: str) -> Rule | None:
    """The rule of one glob given on the command line, in the syntax of ignore files; None for an empty one."""
    return _rule(glob)


def verdict(rules: Sequence[Rule], path: str, is_folder: bool) -> bool | None:
    """True when the last rule that matches ignores the entry, False when it takes it back, None when none matches."""
    for rule in reversed(rules):
        if rule.matches(path, is_folder):
            return not rule.negated
    return None


def matches_within(rules: Sequence[Rule], path: str) -> bool:
    """Whether the file at ``path``, or a folder above it, is matched: how --include and --exclude read their globs."""
    folders = path.split("/")
    above = ("/".join(folders[:count]) for count in range(1, len(folders)))
    return bool(verdict(rules, path, False)) or any(verdict(rules, folder, True) for folder in above)


def _rule(line: str) -> Rule | None:
    line = _without_trailing_blanks(line)
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    pattern = line[1:] if negated else line
    folders_only = pattern.endswith("/")
    if folders_only:
        pattern = pattern[:-1]
    if not pattern:
        return None
    by_name = "/" not in pattern
    return Rule(_compiled(pattern.removeprefix("/"), by_name), by_name, folders_only, negated)


def _without_trailing_blanks(line: str) -> str:
    end = len(line.rstrip(" "))
    backslashes = end - len(line[:end].rstrip("\\"))
    return line[: end + 1] if backslashes % 2 and end < len(line) else line[:end]


@lru_cache(maxsize=1024)
def _compiled(pattern: str, by_name: bool) -> re.Pattern[str]:
    expression = _segment(pattern) if by_name else _path(_segments(pattern))
    try:
        return re.compile(expression, re.DOTALL)
    except re.error:
        return re.compile(_NEVER)


def _segments(pattern: str) -> list[str]:
    """The parts of a pattern between slashes; a slash in brackets is none."""
    segments = [""]
    for token in _TOKEN.finditer(pattern):
        if token[0] == "/":
            segments.append("")
        else:
            segments[-1] += token[0]
    return segments


def _path(segments: list[str]) -> str:
    """Segments between ``**`` take the first place they fit, which leaves the most to what follows."""
    groups: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            groups.append([])
        else:
            groups[-1].append(_segment(segment))
    if len(groups) == 1:
        return "/".join(groups[0])
    first, *middle, last = groups
    expression = "/".join(first) + "/" if first else ""
    for group in middle:
        if group:
            expression += f"(?>(?:[^/]+/)*?{'/'.join(group)}/)"
    return expression + (f"(?:[^/]+/)*{'/'.join(last)}" if last else ".+")


def _segment(glob: str) -> str:
    pieces: list[str] = [""]
    pos = 0
    while pos < len(glob):
        char = glob[pos]
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            pos += 1
        elif char == "?":
            pieces[-1] += "[^/]"
            pos += 1
        elif char == "[":
            bracket = _CLASS.match(glob, pos)
            if bracket is None:
                return _NEVER
            pieces[-1] += _character_class(bracket[2], negated=bool(bracket[1]))
            pos = bracket.end()
        elif char == "\\":
            if pos + 1 == len(glob):
                return _NEVER
            pieces[-1] += re.escape(glob[pos + 1])
            pos += 2
        else:
            pieces[-1] += re.escape(char)
            pos += 1
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + "[^/]*" + last


def _character_class(items: str, negated: bool) -> str:
    inside = ""
    for item in _CLASS_ITEM.finditer(items):
        if item[2] is None:
            if item[1] not in _CLASS_NAMES:
                return _NEVER
            inside += _CLASS_NAMES[item[1]]
            continue
        low, high = item[2][-1], (item[3] or item[2])[-1]
        # Of a range that runs backwards git still matches the first character.
        inside += f"{re.escape(low)}-{re.escape(max(low, high))}"
    if negated:
        return f"[^/{inside}]"
    return f"(?!/)[{inside}]" if inside else _NEVER
