"""unlearn and restore: what should no longer be found, and what should be again. Nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from kbdb.knowledge.admission import live_twins, text_keys_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.named import require_document, require_section
from kbdb.model.change import Receipt, RemoveSectionResult, RestoreResult
from kbdb.model.truth import Event, Section, State
from kbdb.store.store import Change


def unlearn_section(core: Core, kbid: str, reason: str, actor: str) -> RemoveSectionResult:
    """Forgets one section, in whatever documents list it, and with it the live ones that say the same text.

    Raises:
        SectionNotFoundError: nothing of that id is stored.
    """
    started = perf_counter()
    require_section(core, kbid)
    belief = core.beliefs.section(kbid, utc_now())
    if belief.state is State.FORGOTTEN:
        receipt = Receipt(belief.event, (), "", (), f"kbdb restore {kbid}")
        return RemoveSectionResult(False, _ms(started), core.generation, receipt)
    return forget_sections(core, (kbid,), reason, actor)


def forget_sections(core: Core, kbids: Sequence[str], reason: str, actor: str) -> RemoveSectionResult:
    """Forgets stored sections and the live ones that say the same texts, by one event: one restore takes it back."""
    started = perf_counter()
    said = core.readable(kbids)
    kbids = (*kbids, *(twin.kbid for twin in live_twins(core, said)))
    listing = sorted(set().union(*live_documents(core, kbids).values()))
    event = core.event("forget", actor, kbids=kbids, reason=reason, text_keys=text_keys_of(core, *said))
    core.commit([Change(events=(event,))])
    others = tuple(listing) if len(listing) > 1 else ()
    receipt = Receipt(event.id, kbids, "", others, f"kbdb restore {kbids[0]}")
    return RemoveSectionResult(True, _ms(started), core.generation, receipt)


def unlearn_document(core: Core, docid: str, reason: str, actor: str) -> RemoveSectionResult:
    """Forgets a document, with the sections that no other live document lists, and the live ones that say the same.

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
    listing = live_documents(core, [placement.kbid for placement in manifest.sections])
    for kbid in listing:
        elsewhere = listing[kbid] - {docid}
        if elsewhere:
            others |= elsewhere
        elif core.beliefs.section(kbid, now).state is State.ACTIVE:
            own.append(kbid)
    said = core.readable(own)
    kbids = (*own, *(twin.kbid for twin in live_twins(core, said)))
    keys = text_keys_of(core, *said)
    event = core.event("forget", actor, docid=docid, kbids=kbids, reason=reason, text_keys=keys)
    core.commit([Change(events=(event,))])
    receipt = Receipt(event.id, kbids, docid, tuple(sorted(others)), f"kbdb restore {docid}")
    return RemoveSectionResult(True, _ms(started), core.generation, receipt)


def restore_section(core: Core, kbid: str, actor: str) -> RestoreResult:
    """Takes back the last thing that was decided against a section; does nothing where it is live.

    What was forgotten by the same call comes back with it, unless that call spoke of a document.
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
    kbids = (kbid, *_forgotten_with(core, kbid))
    keys = text_keys_of(core, *core.readable(kbids))
    core.commit([Change(events=(core.event("restore", actor, docid=docid, kbids=kbids, text_keys=keys),))])
    return RestoreResult(kbids, docid, core.generation)


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


def live_documents(core: Core, kbids: Sequence[str]) -> dict[str, set[str]]:
    """For each of the sections, in their order, the live documents that list it."""
    listing: dict[str, set[str]] = {kbid: set() for kbid in kbids}
    for manifest in core.indexer.manifests_listing(*kbids):
        if core.document_is_live(manifest.docid):
            for placement in manifest.sections:
                if placement.kbid in listing:
                    listing[placement.kbid].add(manifest.docid)
    return listing


def _forgotten_with(core: Core, kbid: str) -> Iterator[str]:
    """The other sections that are forgotten by the very event that forgot a section."""
    now = utc_now()
    belief = core.beliefs.section(kbid, now)
    event = core.events.get(belief.event)
    if belief.state is not State.FORGOTTEN or event is None or event.docid:
        return
    for other in event.kbids:
        known = core.beliefs.section(other, now)
        together = known.state is State.FORGOTTEN and known.event == event.id
        if other != kbid and together and core.store.has_section(other):
            yield other


def _ms(started: float) -> float:
    return (perf_counter() - started) * 1000
