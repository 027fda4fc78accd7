"""The one gate before the journal: what may become live again, and what stays as it was decided.

Every write passes here. Text that was forgotten, superseded or marked wrong is stored (a document mirrors its source)
but stays out of search, and the answer says so; only the user's own statement of a single text brings it back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kbdb.index.text_key import distinct_stems_of, text_key, words_of
from kbdb.ingest.body import body_of
from kbdb.ingest.parse import is_text
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import text_of
from kbdb.model.learn import Suppressed
from kbdb.model.truth import Event, Section, State
from kbdb.store.beliefs import Belief, Beliefs
from kbdb.store.ids import kbid_encode

CARRIED_AS = {
    State.FORGOTTEN: "forget",
    State.ERASED: "forget",
    State.INVALIDATED: "invalidate",
    State.SUPERSEDED: "forget",
}
"""The kind of event that carries a text's decided state over to a section that says the same in other clothes."""


@dataclass(slots=True)
class Gate:
    """Admits sections to one call's changes.

    Attributes:
        core: the database.
        actor: who writes.
        revives: whether the call is a user's own statement, which brings back what was held.
        beliefs: what is believed once the events that go with the call anyway are stored.
    """

    core: Core
    actor: str
    revives: bool
    beliefs: Beliefs
    suppressed: list[Suppressed] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def admit(self, section: Section) -> tuple[Event, ...]:
        """Decides on one section that a document is about to list; returns the events that go with it."""
        belief = self.held(section)
        if belief is None:
            return ()
        if self.revives and belief.state is not State.ERASED:
            self.warnings.append(f"{section.title!r} was {belief.state} on {belief.since[:10]}; said again, it is back")
            kinds = self.beliefs.revival(section.kbid, utc_now()) or ("restore",)
            return tuple(self._event(kind, section, "said again") for kind in kinds)
        restore = "" if belief.state is State.ERASED else f"kbdb restore {section.kbid}"
        said = Suppressed(section.kbid, section.title, belief.state, belief.since, belief.reason, restore)
        self.suppressed.append(said)
        if self.beliefs.section(section.kbid, utc_now()).state is not State.ACTIVE:
            return ()
        return (self._event(CARRIED_AS[belief.state], section, f"same text as one that was {belief.state}"),)

    def held(self, section: Section) -> Belief | None:
        """What was decided against a section or its text, or None where nothing stands against it."""
        own = self.beliefs.section(section.kbid, utc_now())
        return own if own.state is not State.ACTIVE else self._decided_text(section)

    def _decided_text(self, section: Section) -> Belief | None:
        salts = self.beliefs.salts()
        words = section_words(self.core, section) if salts else []
        if not words:
            return None
        found = (self.beliefs.text(text_key(salt, words)) for salt in salts)
        return next((belief for belief in found if belief is not None and not self._is_heir(section, belief)), None)

    def _is_heir(self, section: Section, belief: Belief) -> bool:
        """Whether the section is what took the place of the one that the belief speaks of, though their texts agree."""
        return belief.successor != "" and self.beliefs.head_of(belief.successor) == section.kbid

    def _event(self, kind: str, section: Section, reason: str) -> Event:
        keys = () if kind == "valid-until" else text_keys_of(self.core, section)
        return self.core.event(kind, self.actor, kbids=(section.kbid,), reason=reason, text_keys=keys)


def section_words(core: Core, section: Section) -> list[str]:
    """The words of a section's title and body, in order; a title that begins the body counts once.

    None of what is not text: two pictures of one name are not one picture.
    """
    if not is_text(section.type):
        return []
    body = words_of(core.engine, body_of(text_of(section), section.title, section.type))
    title = words_of(core.engine, section.title)
    return body if body[: len(title)] == title else title + body


def text_keys_of(core: Core, *sections: Section) -> tuple[str, ...]:
    """The keys by which the sections' texts are recognised later; a text without words has none."""
    texts = (section_words(core, section) for section in sections)
    return tuple(sorted({text_key(core.store.catalog.salt, words) for words in texts if words}))


def live_twins(core: Core, sections: Iterable[Section]) -> list[Section]:
    """The live sections that say what one of these says under another kbid, by kbid; none of these among them."""
    searcher, slots = core.snapshot().searcher, core.snapshot().slots
    given = {section.kbid: section for section in sections}
    found: dict[str, Section] = {}
    for section in given.values():
        words = section_words(core, section)
        body = body_of(text_of(section), section.title, section.type)
        stems = distinct_stems_of(core.engine, core.stem, section.title, body) if words else []
        hits = searcher.similar(stems, 1.0, searcher.sections) if stems else []
        kbids = {kbid_encode(slots[place].segment.kbid(entry)) for place, entry, _ in hits} - given.keys()
        found.update((twin.kbid, twin) for twin in core.readable(kbids) if section_words(core, twin) == words)
    return [found[kbid] for kbid in sorted(found)]
