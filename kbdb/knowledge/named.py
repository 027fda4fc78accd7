"""What ids and paths name: sections and documents that are stored, or an error that says what would be right."""

from __future__ import annotations

from kbdb.checks import utf8
from kbdb.errors import DocumentNotFoundError, InvalidArgumentError, InvalidIdError, SectionNotFoundError
from kbdb.knowledge.core import Core
from kbdb.knowledge.sources import docid_of_source, source_of
from kbdb.model.truth import Manifest
from kbdb.store.ids import check_docid, is_docid, kbid_decode


def names_section(core: Core, kbid: str | None, docid: str | None) -> bool:
    """Whether it is the kbid that is given; exactly one of them must be.

    Raises:
        InvalidArgumentError: both or neither.
        InvalidIdError: it is none; where it is a path that was learned, the hint has the docid.
    """
    if (kbid is None) == (docid is None):
        raise InvalidArgumentError("give either a kbid or a docid", "search shows both for its hits")
    if kbid is not None:
        kbid_decode(kbid)
        return True
    name = str(docid)
    if not is_docid(name) and (learned_as := _learned_as(core, name)):
        raise InvalidIdError(f"not a docid: {name!r}", learned_as)
    check_docid(name)
    return False


def require_section(core: Core, kbid: str) -> None:
    """Raises SectionNotFoundError where nothing of that id is stored."""
    if not core.store.has_section(kbid):
        raise SectionNotFoundError(
            f"no section {kbid} in {core.store.layout.root}", "search shows the kbid of each hit"
        )


def require_document(core: Core, docid: str) -> Manifest:
    """The manifest, or DocumentNotFoundError."""
    if not core.store.has_manifest(docid):
        raise no_document(core, docid)
    return core.store.read_manifest(docid)


def no_document(core: Core, name: str) -> DocumentNotFoundError:
    """What to raise where no document has a name."""
    hint = _learned_as(core, name) or "search shows the docid of each hit"
    return DocumentNotFoundError(f"no document {name} in {core.store.layout.root}", hint)


def documents_named(core: Core, name: str) -> list[str]:
    """The documents that a name stands for: a docid, or the path they were learned from; sorted."""
    utf8(name, "docid")
    if is_docid(name) and core.store.has_manifest(name):
        return [name]
    home = core.store.layout.home
    source = source_of(home, home / name)
    own = docid_of_source(source)
    return sorted({*core.indexer.documents_from(source), *((own,) if core.store.has_manifest(own) else ())})


def _learned_as(core: Core, path: str) -> str:
    """That what was learned from a path has a docid of its own; ``""`` where nothing was."""
    docids = documents_named(core, path)
    return f"{path} was learned as {', '.join(docids)}: use that docid" if docids else ""
