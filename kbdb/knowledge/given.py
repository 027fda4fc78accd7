"""What the caller of an earlier learn said of a document, beside its source; it outlives changes of the file.

Nothing extra is stored for it: it is what the manifest says and the source, read alone, does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from kbdb.errors import KbdbError
from kbdb.ingest.parse import media_type_of, parse
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import clean_tags
from kbdb.knowledge.reading import content_of
from kbdb.knowledge.whole import read_whole
from kbdb.model.truth import Manifest


@dataclass(frozen=True, slots=True)
class Given:
    """Values for what the source does not say itself; None and no tags where nothing was said."""

    type: str | None = None
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()


def given_before(core: Core, old: Manifest | None) -> Given:
    """What was said of a document that mirrors a file."""
    if old is None:
        return Given()
    name = old.origin.source.rpartition("/")[2]
    try:
        data = content_of(core, old)
        type = None if media_type_of(name, data) == old.type else old.type
        stored = core.indexer.stored(old.sections[0].kbid) if old.sections else None
        read = read_whole(parse(data, name, type), stored.section_type if stored else "")
    except KbdbError:
        # Damaged, and about to be made good by this learn: nothing tells which of the tags came from where.
        return Given(tags=old.tags)
    return Given(
        type=type,
        title=None if read.title == old.title else old.title,
        description=None if read.description == old.description else old.description,
        tags=tuple(sorted(set(old.tags) - set(clean_tags(read.tags)))),
    )
