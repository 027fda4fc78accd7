"""Skills and agents are read whole: one source is one section, whatever headings it has.

Its title, which gives the name, is what the caller says, else the ``name`` in its front matter, else what a document's
title is. Any title will do (``kbdb.knowledge.names``): a text is not to be refused for its heading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from kbdb.ingest.declared import read_declared
from kbdb.ingest.document import ParsedDocument, Part
from kbdb.ingest.inline import cut_title
from kbdb.ingest.parse import is_text
from kbdb.knowledge.core import Core
from kbdb.knowledge.names import is_kebab, name_of
from kbdb.model.truth import Manifest

WHOLE = ("skill", "agent")
"""The section types of which a source is one section."""


def read_whole(parsed: ParsedDocument, section_type: str, title: str = "") -> ParsedDocument:
    """What was parsed, as one part where its sections are to be skills or agents.

    Args:
        title: as the caller of the parser knows it.
    """
    if section_type not in WHOLE or not parsed.parts or not is_text(parsed.type):
        return parsed
    declared = read_declared(parsed.head)
    title = parsed.title if title or not declared.name else cut_title(declared.name)
    first, last = parsed.parts[0], parsed.parts[-1]
    content = b"".join(part.content + part.gap.encode() for part in parsed.parts[:-1]) + last.content
    part = Part(title, content, first.level, -1, (), first.line, last.line_end, last.gap)
    return replace(parsed, title=title, parts=(part,), warnings=(*parsed.warnings, *declared.faults))


def called(section_type: str, title: str, *, said: bool) -> Iterator[str]:
    """Tells under which name a skill or agent is found, where its title is not that name.

    Args:
        said: whether the caller speaks of this one; in a folder, a title that becomes a name is not worth a word.
    """
    if section_type not in WHOLE or is_kebab(title):
        return
    name = name_of(title)
    if not is_kebab(name):
        yield f"the {section_type} {title!r} has no name in kebab-case and is called by its title; give it one as title"
    elif said:
        yield f"the {section_type} {title!r} is called {name}"


def revised_by(core: Core, old: Manifest | None, section_type: str, kbids: Collection[str]) -> Iterator[str]:
    """The skills or agents of a document that those which it lists from now on are revisions of."""
    if old is None or section_type not in WHOLE:
        return
    for section in core.readable(dict.fromkeys(placement.kbid for placement in old.sections)):
        if section.section_type == section_type and section.kbid not in kbids:
            yield section.kbid
