"""Finds what a new section takes the place of, and writes it down as revise events."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from kbdb.errors import InvalidArgumentError
from kbdb.knowledge.admission import text_keys_of
from kbdb.knowledge.around import successor_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import StoredSection
from kbdb.model.truth import Event, Manifest, Section, State
from kbdb.plan import FIELDS, MAX_CLAUSES, Alternative, Clause, Plan


@dataclass(slots=True)
class Revisions:
    """Collects the revise events of one document's learning."""

    core: Core
    actor: str
    events: list[Event] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def old(self) -> tuple[str, ...]:
        """The sections superseded so far."""
        return tuple(kbid for event in self.events for kbid in event.kbids)

    @property
    def successors(self) -> set[str]:
        """The sections that took a place so far."""
        return {event.successor for event in self.events}

    def supersede_named(self, olds: Sequence[str], heirs: Sequence[Section]) -> None:
        """The first of the new sections takes the place of those that the caller names.

        What took the place of one of them before stays: the caller did not name it, and may not have read it. A warning
        names it, as two sections now stand in one place.

        Raises:
            InvalidArgumentError: one is not stored, or there is no new section that could take its place.
        """
        for kbid in olds:
            if not self.core.store.has_section(kbid):
                raise InvalidArgumentError(
                    f"supersedes names {kbid}, which is not stored", "search shows the kbid of each hit"
                )
        if not heirs:
            raise InvalidArgumentError(
                "nothing can take the place of what supersedes names: the text is empty or was withdrawn itself",
                "learn other text, or restore it first",
            )
        self._supersede(olds, heirs[0], "superseded by the caller")
        self.warnings += _still_in_place(self.core, olds, {heirs[0].kbid, *self.old})

    def _supersede(self, olds: Sequence[str], new: Section, reason: str) -> None:
        """A new section takes the place of old ones; those that are not active stay as they are."""
        now, done = utc_now(), {new.kbid, *self.old}
        olds = list(dict.fromkeys(olds))
        active = [k for k in olds if k not in done and self.core.beliefs.section(k, now).state is State.ACTIVE]
        if not active:
            return
        keys = set(text_keys_of(self.core, *(self.core.store.read_section(kbid) for kbid in active)))
        # A new section that says the same in other clothes must not be held back for the old one's sake.
        keys -= set(text_keys_of(self.core, new))
        fields = {"kbids": tuple(active), "successor": new.kbid, "reason": reason, "text_keys": tuple(sorted(keys))}
        self.events.append(self.core.event("revise", self.actor, **fields))

    def replace_same_titles(
        self, manifest: Manifest, new: Sequence[Section], beside: Collection[str], scope: str
    ) -> None:
        """Each new section supersedes the live one of its title: in the document ``scope`` first, else anywhere.

        Within the document, one under the same headings comes first. One that stands there already has no other
        document to look in, so that saying it twice does no more than saying it once.

        Args:
            manifest: of the document that lists the new sections.
            new: what takes a place.
            beside: kbids of all that is learned together, which never supersede each other.
            scope: the docid of the document to look in first.

        Raises:
            InvalidArgumentError: several sections have the title and nothing says which is meant.
        """
        paths = {placement.kbid: placement.heading_path for placement in manifest.sections}
        for section in new:
            titled = [(k, stored.places) for k, stored in live_with_title(self.core, section.title)]
            found = [(k, places) for k, places in titled if k not in beside]
            homes = {place.docid for k, places in titled if k == section.kbid for place in places}
            elsewhere = [] if homes & {scope, manifest.docid} else [k for k, _ in found]
            inside = [(k, p) for k, places in found for p in places if p.docid == scope]
            same_path = [k for k, place in inside if place.heading_path == paths[section.kbid]]
            targets = list(dict.fromkeys(same_path or [k for k, _ in inside] or elsewhere))
            if len(targets) > 1 and not same_path:
                names = ", ".join(targets)
                raise InvalidArgumentError(
                    f"replace is ambiguous: {len(targets)} sections are titled {section.title!r}: {names}",
                    "name its document by docid, name what it replaces by supersedes, or unlearn those that are wrong",
                )
            self._supersede(targets, section, "replaced by a section of the same title")


def _still_in_place(core: Core, olds: Sequence[str], gone: Collection[str]) -> Iterator[str]:
    """Says which live sections took the place of old ones before, other than those that are gone with this change."""
    for kbid in dict.fromkeys(olds):
        head = successor_of(core, kbid)
        if head and head not in gone:
            yield (
                f"{kbid} was superseded before: {head} took its place and still stands beside the new text; if that is"
                f" wrong too, learn the new text again with supersedes={head}"
            )


def live_with_title(core: Core, title: str) -> list[tuple[str, StoredSection]]:
    """The live sections of exactly this title, by kbid."""
    snapshot = core.snapshot()
    words = sorted({word for _, word in core.engine.tokenise(title)})[:MAX_CLAUSES]
    clauses = tuple(
        Clause(word, (Alternative((stem,)),), "must", FIELDS.index("title"))
        for word, stem in zip(words, core.stem(words), strict=True)
    )
    hits = snapshot.searcher.search(Plan(clauses), snapshot.searcher.sections).hits
    found = []
    for hit in hits:
        segment = snapshot.slots[hit.segment].segment
        if bool(segment.lengths(hit.entry)[0]) is not bool(words):
            continue
        if core.title_of(hit.kbid) == title:
            found.append((hit.kbid, StoredSection.decode(segment.stored(hit.entry))))
    return sorted(found)
