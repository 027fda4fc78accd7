"""Links in a section's text, as reference targets: ``kbid:…``, ``doc:<docid>`` and ``doc:<docid>#<anchor>``.

Knows ``$(link:…)`` and Markdown's links, images and reference definitions; which document a path means is the caller's.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from kbdb.ingest.blocks import scan
from kbdb.ingest.body import leading_heading
from kbdb.ingest.definitions import definition_at
from kbdb.ingest.inline import AUTOLINK, LINK_TARGET, TAG, one_line, run_length, without_attributes
from kbdb.ingest.lines import BLANK, split_lines
from kbdb.ingest.media import MARKDOWN

_KBID = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")
_LINK = re.compile(r"\$\(link:[ \t]*+([^\s()#]++)(?:#([^\s()]++))?[ \t]*+\)")
_MARK = re.compile(r"[\\`<\[\]$]")
_DEFINITION = re.compile(r"^\[(?!\^)", re.MULTILINE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*:")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ATTRIBUTE_ID = re.compile(r"#([^\s{}]+)")


def links(
    content: str, source: str, docid: str, docid_of_path: Callable[[str], str], type: str = MARKDOWN
) -> tuple[str, ...]:
    """What a section links to.

    Args:
        content: the section's text.
        source: path of its document as the store knows it: relative to the database's folder with ``/``, absolute
            outside of it, or empty. Relative links start from there; from a URL they lead nowhere.
        docid: its document's, which ``#anchor`` alone means.
        docid_of_path: the docid of the document with this source path; it may get a path that leaves the database's
            folder (``../x.md``) and answers an empty string for paths that mean no document.
        type: outside of Markdown only ``$(link:…)`` is a link.

    Returns:
        Sorted, distinct targets. URLs, links from a site's root (``/x``) and links in code are left out.
    """
    if not may_link(content):
        return ()
    targets: set[str] = set()
    if not type.startswith(MARKDOWN):
        targets.update(_stored(found) for found in _LINK.finditer(content))
        return tuple(sorted(targets))
    for text in _paragraphs(content):
        for target in _targets(text):
            if isinstance(target, re.Match):
                targets.add(_stored(target))
            elif resolved := _resolve(target, source, docid, docid_of_path):
                targets.add(resolved)
    return tuple(sorted(targets))


def may_link(content: str) -> bool:
    """False for a text that plainly links to nothing."""
    # One character is found many times faster than two, and most texts have neither.
    if "]" in content and ("](" in content or "]:" in content):
        return True
    return "$" in content and "$(link:" in content


def slug_of(title: str) -> str:
    """The anchor that GitHub makes of a heading: lower case, punctuation gone, blanks to hyphens."""
    kept = "".join(c for c in title.lower() if c in "-_ " or c.isalnum() or unicodedata.category(c)[0] == "M")
    return kept.replace(" ", "-")


def anchors_of(content: str, title: str) -> tuple[str, ...]:
    """The anchors under which links may name a section: the explicit id of its heading (``{ #id }``), and the slug."""
    heading = leading_heading(content)
    attributes = without_attributes(heading[0])[1] if heading else ""
    explicit = _ATTRIBUTE_ID.search(attributes)
    slug = slug_of(title)
    return (slug,) if explicit is None or explicit[1] == slug else (explicit[1], slug)


def _stored(link: re.Match[str]) -> str:
    target, anchor = link[1], link[2]
    if not anchor and _KBID.fullmatch(target.lower()):
        return f"kbid:{target.lower()}"
    return f"doc:{target}#{anchor}" if anchor else f"doc:{target}"


def _paragraphs(content: str) -> Iterator[str]:
    """Runs of lines that are neither blank nor code, without indentation and quote marks."""
    lines = split_lines(content).texts
    verbatim = scan(lines).verbatim
    run: list[str] = []
    for line, skip in zip(lines, verbatim, strict=True):
        stripped = line.strip(BLANK)
        if stripped and not skip:
            run.append(stripped.lstrip("> \t"))
        elif run:
            yield "\n".join(run)
            run = []
    if run:
        yield "\n".join(run)


def _targets(text: str) -> Iterator[str | re.Match[str]]:
    """The targets written in a paragraph, and matches of ``$(link:…)``."""
    for start in _DEFINITION.finditer(text):
        if (definition := definition_at(text, start.start())) is not None:
            yield definition.target
    pos = depth = 0
    while (mark := _MARK.search(text, pos)) is not None:
        pos = mark.end()
        char = mark[0]
        if char == "\\":
            pos += 1
        elif char == "`":
            pos = _after_code(text, mark.start())
        elif char == "<":
            if skipped := AUTOLINK.match(text, mark.start()) or TAG.match(text, mark.start()):
                pos = skipped.end()
        elif char == "[":
            depth += 1
        elif char == "]":
            if depth and (target := LINK_TARGET.match(text, pos)):
                yield target["angle"] or target["target"] or ""
                pos = target.end()
            depth = max(depth - 1, 0)
        elif link := _LINK.match(text, mark.start()):
            yield link
            pos = link.end()


def _after_code(text: str, pos: int) -> int:
    """The offset after the code span that starts at ``pos``, or after its back-ticks if nothing closes them."""
    ticks = run_length(text, pos)
    end = pos + ticks
    close = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)").search(text, end) if ticks <= 100 else None
    return close.end() if close else end


def _resolve(written: str, source: str, docid: str, docid_of_path: Callable[[str], str]) -> str | None:
    import html

    target = html.unescape(_ESCAPE.sub(r"\1", written))
    if not target or target.startswith("/") or _SCHEME.match(target):
        return None
    path, _, anchor = target.partition("#")
    path, anchor = unquote(path.partition("?")[0]), one_line(unquote(anchor))
    if path and "://" in source:
        return None
    if path:
        docid = docid_of_path(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)))
    elif not anchor:
        return None
    if not docid:
        return None
    return f"doc:{docid}#{anchor}" if anchor else f"doc:{docid}"
