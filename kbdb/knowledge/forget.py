"""unlearn and restore: what should no longer be found, and what should be again. Nothing is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from kbdb.errors import DocumentNotFoundError, SectionNotFoundError
from kbdb.knowledge.admission import text_keys_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.model import Event, Manifest, Receipt, RemoveSectionResult, RestoreResult, Section, State
from kbdb.store.store import Change


def unlearn_section(core: Core, kbid: str, reason: str, actor: str) -> RemoveSectionResult:
    """Forgets one section, in whatever documents list it.

    Raises:
        SectionNotFoundError: nothing of that id is stored.
    """
    started = perf_counter()
    require_section(core, kbid)
    belief = core.beliefs.section(kbid, utc_now())
    others = tuple(m.docid for m in core.indexer.manifests_listing(kbid) if core.document_is_live(m.docid))
    if belief.state is State.FORGOTTEN:
        receipt = Receipt(belief.event, (), "", others, f"kbdb restore {kbid}")
        return RemoveSectionResult(False, _ms(started), core.generation, receipt)
    keys = text_keys_of(core, *core.readable([kbid]))
    event = core.event("forget", actor, kbids=(kbid,), reason=reason, text_keys=keys)
    core.commit([Change(events=(event,))])
    receipt = Receipt(event.id, (kbid,), "", others, f"kbdb restore {kbid}")
    return RemoveSectionResult(True, _ms(started), core.generation, receipt)


def unlearn_document(core: Core, docid: str, reason: str, actor: str) -> RemoveSectionResult:
    """Forgets a document, with the sections that no other live document lists.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    started = perf_counter()
    manifest = require_document(core, docid)
    belief = core.beliefs.document(docid)
    if belief.state == "forgotten":
        receipt = Receipt(belief.event, (), docid, (), f"kbdb restore {docid}")
        return RemoveSectionResult(False, _ms(started), core.generation, receipt)
    now, own, others = utc_now(), [], set()
    for kbid in dict.fromkeys(placement.kbid for placement in manifest.sections):
        listing = {m.docid for m in core.indexer.manifests_listing(kbid) if core.document_is_live(m.docid)}
        if listing - {docid}:
            others |= listing - {docid}
        elif core.beliefs.section(kbid, now).state is State.ACTIVE:
            own.append(kbid)
    keys = text_keys_of(core, *core.readable(own))
    event = core.event("forget", actor, docid=docid, kbids=tuple(own), reason=reason, text_keys=keys)
    core.commit([Change(events=(event,))])
    receipt = Receipt(event.id, tuple(own), docid, tuple(sorted(others)), f"kbdb restore {docid}")
    return RemoveSectionResult(True, _ms(started), core.generation, receipt)


def restore_section(core: Core, kbid: str, actor: str) -> RestoreResult:
    """Takes back the last thing that was decided against a section; does nothing where it is live.

    A section that was superseded before it was forgotten is superseded again. Where only withdrawn documents list it,
    one of them becomes live with it; what was forgotten together with that document stays forgotten.

    Raises:
        SectionNotFoundError: nothing of that id is stored.
    """
    require_section(core, kbid)
    listing = [manifest.docid for manifest in core.indexer.manifests_listing(kbid)]
    docid = "" if any(map(core.document_is_live, listing)) else next(iter(listing), "")
    if not docid and not core.beliefs.revival(kbid, utc_now()):
        return RestoreResult((), "", core.generation)
    keys = text_keys_of(core, *core.readable([kbid]))
    core.commit([Change(events=(core.event("restore", actor, docid=docid, kbids=(kbid,), text_keys=keys),))])
    return RestoreResult((kbid,), docid, core.generation)


def restore_document(core: Core, docid: str, actor: str) -> RestoreResult:
    """Makes a document live again, with the sections that were forgotten together with it.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    require_document(core, docid)
    if core.document_is_live(docid):
        return RestoreResult((), docid, core.generation)
    kbids = core.events[core.beliefs.document(docid).event].kbids
    event = revival_of(core, docid, actor, core.readable(kbids))
    core.commit([Change(events=(event,))])
    return RestoreResult(event.kbids, docid, core.generation)


def revival_of(core: Core, docid: str, actor: str, sections: Sequence[Section]) -> Event:
    """The event that makes a forgotten or retired document live again.

    With it come those of the sections that were forgotten together with it; any others stay forgotten.
    """
    together = core.events[core.beliefs.document(docid).event].kbids
    back = {section.kbid: section for section in sections if section.kbid in together}
    keys = text_keys_of(core, *back.values())
    return core.event("restore", actor, docid=docid, kbids=tuple(back), text_keys=keys)


def require_section(core: Core, kbid: str) -> None:
    """Raises SectionNotFoundError where nothing of that id is stored."""
    if not core.store.has_section(kbid):
        raise SectionNotFoundError(f"no section {kbid} in {core.store.layout.root}", "kbdb search finds kbids")


def require_document(core: Core, docid: str) -> Manifest:
    """The manifest, or DocumentNotFoundError."""
    if not core.store.has_manifest(docid):
        raise DocumentNotFoundError(f"no document {docid} in {core.store.layout.root}", "kbdb list shows docids")
    return core.store.read_manifest(docid)


def _ms(started: float) -> float:
    return (perf_counter() - started) * 1000
