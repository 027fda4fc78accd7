"""Markdown's inline markup taken out of a heading, leaving the plain text that becomes a title.

Follows CommonMark's rules for code spans, links, HTML, entities, escapes and emphasis, with two liberties: a reference
link counts without its definition being known, and ``~~strike~~`` is known.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

MAX_TITLE = 200
"""A title is cut at a word border to at most this many characters; the body then keeps the whole heading."""

_MAX_RAW = 4000
"""Headings longer than this are cut before their markup is read, which bounds the work on hostile input."""

_MARKUP = re.compile(r"[\\`*_~\[\]<&!]")
_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9.+-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9.-]+)>", re.ASCII)
TAG = re.compile(
    r"<(?:/[A-Za-z][A-Za-z0-9-]*\s*+"
    r"|[A-Za-z][A-Za-z0-9-]*+(?:\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*+\s*+/?"
    r"|!--.{0,500}?--|\?.{0,500}?\?|![A-Za-z][^>]{0,500}|!\[CDATA\[.{0,500}?\]\])>",
    re.ASCII | re.DOTALL,
)
_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
LINK_TARGET = re.compile(
    r"\(\s*+(?:(?:<(?P<angle>(?:[^<>\\\n]|\\.)*+)>|(?P<target>(?!<)(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.|\([^\s()]*\))*+\))*+))"
    r"(?:\s++(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?)\s*+\)"
)
_ATTRIBUTES = re.compile(r"\{:?[ \t]*+[#.][^\s{}]++(?:[ \t]++[^{}\n]*)?\}$")
_LABEL = re.compile(r"\[(?:[^\[\]\\]|\\.)*+\]")


@dataclass(slots=True, eq=False)
class _Run:
    """A run of one delimiter in the output; what emphasis does not use up stays as text."""

    mark: str
    count: int
    opens: bool
    closes: bool
    length: int

    def text(self) -> str:
        return self.mark * self.count


def plain_text(markup: str) -> str:
    """The text of inline Markdown as a reader sees it, on one line, white space and control characters squeezed."""
    markup = markup[:_MAX_RAW]
    if _MARKUP.search(markup):
        markup = _Stripper(markup).run()
    return one_line(markup)


def without_attributes(markup: str) -> tuple[str, str]:
    """A heading's text without the attributes at its end, and those (``{ #slug .class }``) or an empty string."""
    markup = markup.rstrip(" \t")
    brace = markup.rfind("{") if markup.endswith("}") else -1
    if brace == -1 or _ATTRIBUTES.match(markup, brace) is None:
        return markup, ""
    text = markup[:brace].rstrip(" \t")
    closing = text.rstrip("#")
    if closing != text and closing[-1:] in ("", " ", "\t"):
        text = closing.rstrip(" \t")
    return text, markup[brace:]


def one_line(text: str) -> str:
    """``text`` with each run of white space and control characters made one blank, none at the ends."""
    if not text.isprintable():
        text = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)
    return " ".join(text.split())


def cut_title(text: str, limit: int = MAX_TITLE) -> str:
    """``text`` if it has at most ``limit`` characters, else its start up to a word border, with an ellipsis."""
    if len(text) <= limit:
        return text
    start = text[:limit]
    border = start.rfind(" ")
    return (start[:border] if border > limit // 2 else start[:-1]).rstrip() + "…"


class _Stripper:
    """One pass over the markup.

    ``out`` collects text and delimiter runs, ``brackets`` the places of open brackets there, whether they open an
    image, and whether they may still become a link (a link holds no other link).
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.out: list[str | _Run] = []
        self.brackets: list[tuple[int, bool, bool]] = []

    def run(self) -> str:
        source, pos = self.source, 0
        while pos < len(source):
            found = _MARKUP.search(source, pos)
            if found is None:
                self.out.append(source[pos:])
                break
            if found.start() > pos:
                self.out.append(source[pos : found.start()])
            pos = self._markup(found.start())
        _emphasis(self.out, 0)
        return _joined(self.out)

    def _markup(self, pos: int) -> int:
        mark = self.source[pos]
        if mark == "\\":
            return self._escape(pos)
        if mark == "`":
            return self._code(pos)
        if mark == "<":
            return self._angle(pos)
        if mark == "&":
            return self._entity(pos)
        if mark == "!" and self.source[pos + 1 : pos + 2] != "[":
            return self._literal("!", pos)
        if mark in "![":
            return self._open(pos, image=mark == "!")
        if mark == "]":
            return self._close(pos)
        return self._run(pos)

    def _literal(self, text: str, pos: int) -> int:
        self.out.append(text)
        return pos + len(text)

    def _escape(self, pos: int) -> int:
        after = self.source[pos + 1 : pos + 2]
        if after in _ESCAPABLE:
            self.out.append(after)
            return pos + 2
        return self._literal("\\", pos)

    def _code(self, pos: int) -> int:
        ticks = run_length(self.source, pos)
        end = pos + ticks
        while (close := self.source.find("`", end)) != -1:
            length = run_length(self.source, close)
            if length == ticks:
                code = self.source[pos + ticks : close].replace("\n", " ")
                if len(code) > 2 and code[0] == code[-1] == " " and code.strip(" "):
                    code = code[1:-1]
                self.out.append(code)
                return close + length
            end = close + length
        return self._literal("`" * ticks, pos)

    def _angle(self, pos: int) -> int:
        if link := AUTOLINK.match(self.source, pos):
            self.out.append(link[1])
            return link.end()
        if tag := TAG.match(self.source, pos):
            return tag.end()
        return self._literal("<", pos)

    def _entity(self, pos: int) -> int:
        if entity := _ENTITY.match(self.source, pos):
            import html

            self.out.append(html.unescape(entity[0]))
            return entity.end()
        return self._literal("&", pos)

    def _open(self, pos: int, image: bool) -> int:
        self.brackets.append((len(self.out), image, True))
        return self._literal("![" if image else "[", pos)

    def _close(self, pos: int) -> int:
        if not self.brackets:
            return self._literal("]", pos)
        start, image, active = self.brackets.pop()
        target = active and (LINK_TARGET.match(self.source, pos + 1) or _LABEL.match(self.source, pos + 1))
        if not target:
            return self._literal("]", pos)
        self.out[start] = ""
        _emphasis(self.out, start + 1)
        self.out[start + 1 :] = [_joined(self.out[start + 1 :])]
        if not image:
            self.brackets = [(place, is_image, is_image) for place, is_image, _ in self.brackets]
        return target.end()

    def _run(self, pos: int) -> int:
        source, mark = self.source, self.source[pos]
        count = run_length(source, pos)
        before, after = source[pos - 1 : pos] if pos else " ", source[pos + count : pos + count + 1] or " "
        left = not after.isspace() and (not _is_punctuation(after) or before.isspace() or _is_punctuation(before))
        right = not before.isspace() and (not _is_punctuation(before) or after.isspace() or _is_punctuation(after))
        opens, closes = left, right
        if mark == "_":
            opens = left and (not right or _is_punctuation(before))
            closes = right and (not left or _is_punctuation(after))
        elif mark == "~" and count != 2:
            opens = closes = False
        self.out.append(_Run(mark, count, opens, closes, count))
        return pos + count


def _emphasis(out: list[str | _Run], start: int) -> None:
    """Takes matched delimiters out of ``out[start:]``: CommonMark's process-emphasis, less the nodes it would make."""
    openers: list[_Run] = []
    for piece in out[start:]:
        if not isinstance(piece, _Run):
            continue
        while piece.closes and piece.count and (opener := _opener_for(openers, piece)) is not None:
            used = 2 if opener.count >= 2 and piece.count >= 2 else 1
            opener.count -= used
            piece.count -= used
            del openers[openers.index(opener) + (1 if opener.count else 0) :]
        if piece.opens and piece.count:
            openers.append(piece)


def _opener_for(openers: list[_Run], closer: _Run) -> _Run | None:
    for opener in reversed(openers):
        if opener.mark != closer.mark:
            continue
        thirds = (opener.closes or closer.opens) and (opener.length + closer.length) % 3 == 0
        if thirds and (opener.length % 3 or closer.length % 3):
            continue
        return opener
    return None


def _joined(out: list[str | _Run]) -> str:
    return "".join(piece if isinstance(piece, str) else piece.text() for piece in out)


def run_length(source: str, pos: int) -> int:
    """How many times the character at ``pos`` stands there in a row."""
    end = pos
    while end < len(source) and source[end] == source[pos]:
        end += 1
    return end - pos


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"
