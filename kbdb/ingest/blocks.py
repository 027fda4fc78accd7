"""The block structure of Markdown, as far as headings, borders and code need it: one pass over the lines.

Follows CommonMark 0.31 (block quotes and list items with lazy continuation, fences, HTML blocks, link reference
definitions) but builds no tree: it keeps the stack of open quotes and items and the one open leaf block.
``markdown.py`` makes sections from what it finds, ``links.py`` asks it which lines are code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kbdb.ingest.definitions import definition_at, definitions, may_define
from kbdb.ingest.html_blocks import html_block_end

MAX_DEPTH = 100
"""Quotes and items nested deeper than this are read as paragraph text, which bounds the work for one line."""

_QUOTE = -1
_NONE, _PARAGRAPH, _CODE, _FENCE, _HTML = range(5)

_CAN_START = frozenset("#>-+*=_`~<0123456789")
_NEEDS_A_LOOK = _CAN_START | frozenset(" \t[")
_ATX = re.compile(r"(#{1,6})(?: +|$)")
_SETEXT = re.compile(r"(?:=+|-+)$")
_FENCE_START = re.compile(r"(?:(`{3,})[^`]*|(~{3,}).*)$")
_ITEM = re.compile(r"([-+*]|(\d{1,9})[.)])(?= |$)", re.ASCII)

_MAX_DEFINITION = 4000
"""Paragraphs that start like a link definition are re-read with each line up to this many characters."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside of quotes and lists: lines ``line`` up to ``end`` (exclusive), level, text with its markup."""

    line: int
    end: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a scan found; lines are indexes into the lines scanned.

    Attributes:
        headings: top-level headings in order.
        starts: first lines of top-level blocks in order; a list is one block.
        items: first lines of the items of top-level lists.
        verbatim: for each line 1 when it is code or raw HTML, at any depth.
    """

    headings: list[Heading]
    starts: list[int]
    items: list[int]
    verbatim: bytearray


def scan(lines: Sequence[str]) -> Blocks:
    """Finds the blocks in ``lines`` (without line ends)."""
    return _Scanner(lines).run()


def atx_text(line: str) -> str:
    """The text of an ATX heading line without its opening and closing marks."""
    text = line.strip(" \t").lstrip("#").strip(" \t")
    before = text.rstrip("#")
    if before != text and before[-1:] in ("", " ", "\t"):
        return before.rstrip(" \t")
    return text


class _Scanner:
    """The state of one scan.

    ``containers`` holds the open quotes (``_QUOTE``) and items (columns their content is indented by); ``leaf`` is the
    open leaf block in the innermost of them. ``definition`` is the text of an open paragraph for as long as it may be
    one link reference definition, else None. ``bare_item`` says that the innermost item has nothing in it yet.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.found = Blocks([], [], [], bytearray(len(lines)))
        self.containers: list[int] = []
        self.leaf = _NONE
        self.paragraph_line = 0
        self.definition: str | None = None
        self.fence = ""
        self.html_end: str | None = None
        self.bare_item = False
        self.in_list = False

    def run(self) -> Blocks:
        for number, line in enumerate(self.lines):
            if not self.containers:
                # Most lines are text that starts or continues a paragraph, or lie inside a fence.
                leaf = self.leaf
                if leaf == _FENCE:
                    if self.fence not in line:
                        self.found.verbatim[number] = 1
                        continue
                elif leaf <= _PARAGRAPH and self.definition is None and line and line[0] not in _NEEDS_A_LOOK:
                    if leaf == _NONE:
                        self._start_paragraph(number, line)
                    continue
            self._line(number, line)
        return self.found

    def _line(self, number: int, line: str) -> None:
        if "\t" in line:
            line = line.expandtabs(4)
        rest, depth = self._enter_containers(line.rstrip(" "))
        self.bare_item = False
        matched = depth == len(self.containers)
        if not rest:
            self._blank_line(number, depth, matched)
        elif not (matched and self.leaf > _PARAGRAPH and self._continue_verbatim(number, rest)):
            if self.definition is not None and self.leaf == _PARAGRAPH:
                self._continue_definition(rest)
            self._start_blocks(number, rest, depth)

    def _enter_containers(self, rest: str) -> tuple[str, int]:
        """Walks the open containers that this line continues; returns the line's rest and how many they are."""
        depth = 0
        for width in self.containers:
            stripped = rest.lstrip(" ")
            if width == _QUOTE:
                if stripped[:1] != ">" or len(rest) - len(stripped) > 3:
                    break
                rest = stripped[2:] if stripped[1:2] == " " else stripped[1:]
            elif not stripped:
                if self.bare_item and depth == len(self.containers) - 1:
                    break
            elif len(rest) - len(stripped) >= width:
                rest = rest[width:]
            else:
                break
            depth += 1
        return rest, depth

    def _blank_line(self, number: int, depth: int, matched: bool) -> None:
        if matched and (self.leaf in (_FENCE, _CODE) or (self.leaf == _HTML and self.html_end is not None)):
            self.found.verbatim[number] = 1
        else:
            self._close(depth)

    def _continue_verbatim(self, number: int, rest: str) -> bool:
        """Takes the line into the open code, fence or HTML block, unless it ends the block by not belonging to it."""
        if self.leaf == _CODE:
            if not rest.startswith("    "):
                self.leaf = _NONE
                return False
        elif self.leaf == _FENCE:
            stripped = rest.lstrip(" ")
            if stripped.startswith(self.fence) and len(rest) - len(stripped) < 4 and not stripped.strip(self.fence[0]):
                self.leaf = _NONE
        elif self.html_end is not None and _contains(rest, self.html_end):
            self.leaf = _NONE
        self.found.verbatim[number] = 1
        return True

    def _continue_definition(self, rest: str) -> None:
        """Decides, before a paragraph's next line, whether a definition ended the paragraph with the line before."""
        text, line = self.definition or "", rest.strip(" ")
        ended = definition_at(text)
        grown = f"{text}\n{line}"
        if ended is not None and ended.end == len(text):
            longer = definition_at(grown)
            untitled = line[0] in "\"'(" and not ended.titled
            if not untitled and (longer is None or longer.end != len(grown)):
                self.leaf, self.definition = _NONE, None
                return
        self.definition = grown if len(grown) <= _MAX_DEFINITION and may_define(grown) else None

    def _start_blocks(self, number: int, rest: str, depth: int) -> None:
        """Opens what the rest of the line starts: containers one after the other, then at most one leaf."""
        paragraph = self.leaf == _PARAGRAPH
        inside = paragraph and depth == len(self.containers)
        while True:
            stripped = rest.lstrip(" ")
            indent = len(rest) - len(stripped)
            if indent >= 4:
                if not paragraph:
                    self._start_leaf(number, depth, _CODE)
                    self.found.verbatim[number] = 1
                    return
                break
            if stripped[:1] not in _CAN_START:
                break
            if stripped[0] == ">":
                if depth >= MAX_DEPTH:
                    break
                self._open_container(number, depth, _QUOTE)
                rest = stripped[2:] if stripped[1:2] == " " else stripped[1:]
            elif self._leaf_starts(number, stripped, depth, inside, paragraph):
                return
            elif (item := _item(stripped, indent, inside)) is not None and depth < MAX_DEPTH:
                self._open_container(number, depth, item[0])
                rest = item[1]
                self.bare_item = not rest
            else:
                break
            depth += 1
            paragraph = inside = False
        if not paragraph:
            self._close(depth)
            if stripped:
                self._start_paragraph(number, stripped)

    def _leaf_starts(self, number: int, text: str, depth: int, inside: bool, paragraph: bool) -> bool:
        """Starts (and, being one line, ends) the heading, fence, HTML block or break that ``text`` is, if it is one."""
        first = text[0]
        if first == "#" and (mark := _ATX.match(text)):
            self._start_leaf(number, depth, _NONE)
            if not depth:
                self.found.headings.append(Heading(number, number + 1, len(mark[1]), atx_text(text)))
            return True
        if first in "`~" and (fence := _FENCE_START.match(text)):
            self._start_leaf(number, depth, _FENCE)
            self.fence = fence[1] or fence[2]
            self.found.verbatim[number] = 1
            return True
        if first == "<":
            return self._html_starts(number, text, depth, paragraph)
        if inside and first in "=-" and _SETEXT.match(text) and self._setext(number, text):
            return True
        if first in "*_-" and _is_break(text):
            self._start_leaf(number, depth, _NONE)
            return True
        return False

    def _html_starts(self, number: int, text: str, depth: int, paragraph: bool) -> bool:
        end = html_block_end(text, interrupts=paragraph)
        if end is None:
            return False
        self._start_leaf(number, depth, _HTML)
        self.html_end = end or None
        if end and _contains(text, end):
            self.leaf = _NONE
        self.found.verbatim[number] = 1
        return True

    def _setext(self, number: int, underline: str) -> bool:
        """Ends the open paragraph as a heading, if it holds more than link reference definitions."""
        first = self.paragraph_line
        if not self.containers:
            text = "\n".join(line.strip(" \t") for line in self.lines[first:number])
            if text.startswith("["):
                _, rest = definitions(text)
                if rest == len(text):
                    return False
                first += text.count("\n", 0, rest)
                text = text[rest:]
            if first != self.paragraph_line:
                self.found.starts.append(first)
            self.found.headings.append(Heading(first, number + 1, 1 if underline[0] == "=" else 2, text))
        self.leaf, self.definition = _NONE, None
        return True

    def _start_leaf(self, number: int, depth: int, leaf: int) -> None:
        self._close(depth)
        if not depth:
            self.found.starts.append(number)
            self.in_list = False
        self.leaf = leaf

    def _start_paragraph(self, number: int, text: str) -> None:
        self._start_leaf(number, len(self.containers), _PARAGRAPH)
        self.paragraph_line = number
        if text[0] == "[" and may_define(text):
            self.definition = text

    def _open_container(self, number: int, depth: int, width: int) -> None:
        self._close(depth)
        if not depth:
            item = width != _QUOTE
            if item:
                self.found.items.append(number)
            if not (item and self.in_list):
                self.found.starts.append(number)
            self.in_list = item
        self.containers.append(width)

    def _close(self, depth: int) -> None:
        del self.containers[depth:]
        self.leaf, self.definition = _NONE, None


def _is_break(text: str) -> bool:
    marks = text.replace(" ", "")
    return len(marks) >= 3 and marks == marks[0] * len(marks)


def _item(text: str, indent: int, in_paragraph: bool) -> tuple[int, str] | None:
    """The width of the list item that ``text`` starts, and the text after its marker; None if it starts none."""
    marker = _ITEM.match(text)
    if marker is None:
        return None
    after = text[marker.end() :]
    content = after.lstrip(" ")
    if in_paragraph and (not content or (marker[2] and int(marker[2]) != 1)):
        return None
    blanks = len(after) - len(content)
    if not content:
        return indent + marker.end() + 1, ""
    if blanks > 4:
        return indent + marker.end() + 1, after[1:]
    return indent + marker.end() + blanks, content


def _contains(line: str, end: str) -> bool:
    """Whether a line holds an HTML block's end; ends that are tags are given in lower case."""
    if end != "</":
        return end in line
    lower = line.lower()
    return any(tag in lower for tag in ("</script>", "</pre>", "</style>", "</textarea>"))
