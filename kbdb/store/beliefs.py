"""What is believed now: the state of sections, documents and texts, derived by replaying events (rules in README.md).

Nothing here is stored. The order is (time, id), so clones that hold the same events believe the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from kbdb.errors import CorruptError
from kbdb.model.truth import Event, State
from kbdb.store.layered import Layered

DocumentState = Literal["live", "retired", "forgotten"]

_MARK_OF_KIND = {
    "revise": State.SUPERSEDED,
    "invalidate": State.INVALIDATED,
    "forget": State.FORGOTTEN,
    "erase": State.ERASED,
}
_STRONGEST_FIRST = (State.ERASED, State.FORGOTTEN, State.INVALIDATED, State.SUPERSEDED)
_UNDONE_FIRST = (State.FORGOTTEN, State.INVALIDATED, State.SUPERSEDED)
"""What a restore takes back, one at a time; erased bytes do not come back."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of a section or a text, and which event says so.

    Attributes:
        since: the event's instant, or the instant of expiry; ``""`` for what no event speaks of.
        reason: the actor's words.
        successor: the kbid that took its place, when superseded.
        event: the id of the newest event that says so.
    """

    state: State
    since: str = ""
    reason: str = ""
    successor: str = ""
    event: str = ""


@dataclass(frozen=True, slots=True)
class DocumentBelief:
    """Whether a document counts, and which event says so."""

    state: DocumentState
    since: str = ""
    reason: str = ""
    event: str = ""


_LIVE = DocumentBelief("live")


def replay(events: Iterable[Event], as_of: str = "") -> Beliefs:
    """Derives beliefs from events.

    Args:
        events: in any order; an event may occur more than once.
        as_of: leave out what came after this instant (spelled as in events); ``""`` leaves out nothing.

    Raises:
        CorruptError: two different events carry one id.
    """
    beliefs = Beliefs()
    seen: dict[str, Event] = {}
    for event in sorted(events, key=lambda event: (event.time, event.id)):
        if as_of and event.time > as_of:
            break
        if event.id not in seen:
            seen[event.id] = event
            beliefs._apply(event)
        elif seen[event.id] != event:
            raise CorruptError(f"event {event.id} exists twice and differs", "remove the line that is wrong")
    beliefs._settle()
    return beliefs


_Marks = dict[State, tuple[Event, ...]]
_DocumentMarks = dict[DocumentState, tuple[Event, ...]]


class Beliefs:
    """The outcome of a replay: read-only, and may be shared by threads.

    A section carries a mark for each way in which it was withdrawn, with the events that set it. Its state is its
    strongest mark: erased, forgotten, invalidated, superseded.

    Attributes:
        newest: (time, id) of the last event in it; events after that can be added by ``continued``.
    """

    def __init__(self) -> None:
        self.newest = ("", "")
        self._marks = Layered[_Marks]()
        self._until = Layered[Event]()
        self._documents = Layered[_DocumentMarks]()
        self._tombstones = Layered[tuple[Event, ...]]()
        self._salts: frozenset[str] = frozenset()
        # Derived from the above when first asked for.
        self._predecessors: dict[str, list[str]] | None = None
        self._expiries: list[tuple[str, str]] | None = None

    def continued(self, events: Iterable[Event]) -> Beliefs:
        """What a replay of all events up to here and these would give, at the cost of these.

        Args:
            events: all after ``newest``, each once.
        """
        beliefs = Beliefs()
        beliefs.newest = self.newest
        beliefs._marks = self._marks.continued()
        beliefs._until = self._until.continued()
        beliefs._documents = self._documents.continued()
        beliefs._tombstones = self._tombstones.continued()
        beliefs._salts, beliefs._expiries = self._salts, self._expiries
        for event in sorted(events, key=lambda event: (event.time, event.id)):
            beliefs._apply(event)
        return beliefs

    def section(self, kbid: str, now: str) -> Belief:
        """What is believed of a section at an instant.

        Args:
            kbid: any kbid, known or not.
            now: an instant spelled as in events; only expiry depends on it.
        """
        marks = self._marks.get(kbid) or {}
        for state in _STRONGEST_FIRST:
            if marks.get(state):
                return _belief(state, marks[state][-1])
        until = self._until.get(kbid)
        if until is not None and until.until and until.until <= now:
            return Belief(State.EXPIRED, until.until, until.reason, "", until.id)
        return Belief(State.ACTIVE)

    def document(self, docid: str) -> DocumentBelief:
        """Whether a document counts."""
        marks = self._documents.get(docid) or {}
        states: tuple[DocumentState, ...] = ("forgotten", "retired")
        for state in states:
            if marks.get(state):
                event = marks[state][-1]
                return DocumentBelief(state, event.time, event.reason, event.id)
        return _LIVE

    def text(self, text_key: str) -> Belief | None:
        """What was decided about a text, in whatever section it stood; None when nothing stands against it."""
        inforce = [event for event in self._tombstones.get(text_key) or () if self._stands(event)]
        for state in _STRONGEST_FIRST:
            found = [event for event in inforce if _MARK_OF_KIND[event.kind] is state]
            if found:
                return _belief(state, found[-1])
        return None

    def text_keys(self) -> list[str]:
        """The keys of all texts that something stands against, sorted."""
        return sorted(key for key, _ in self._tombstones.items() if self.text(key) is not None)

    def salts(self) -> list[str]:
        """The salts of the keys of all texts that were ever withdrawn, sorted."""
        return sorted(self._salts)

    def kbids(self) -> list[str]:
        """The sections that any event spoke of, sorted."""
        return sorted({kbid for kbid, _ in self._marks.items()} | {kbid for kbid, _ in self._until.items()})

    def documents(self) -> list[str]:
        """The documents that any event spoke of as a whole, sorted."""
        return sorted(docid for docid, _ in self._documents.items())

    @property
    def spoken_of(self) -> int:
        """How many sections and documents events spoke of, roughly."""
        return len(self._marks) + len(self._until) + len(self._documents)

    def inactive(self, now: str) -> Iterator[str]:
        """The sections that are not active at an instant."""
        for kbid, marks in self._marks.items():
            if marks:
                yield kbid
        yield from self.expiring("", now)

    def withdrawn_documents(self) -> Iterator[str]:
        """The documents that do not count."""
        return (docid for docid, marks in self._documents.items() if marks)

    def expiring(self, after: str, now: str) -> Iterator[str]:
        """The sections whose time ends past one instant, and no later than another."""
        ends = self._ends()
        first, last = (bisect_right(ends, (instant, chr(0x7F))) for instant in (after, now))
        return (kbid for _, kbid in ends[first:last])

    def head_of(self, kbid: str) -> str:
        """The end of a section's chain of successors, whatever its state; itself when nothing succeeded it."""
        while successor := self._successor(kbid):
            kbid = successor
        return kbid

    def predecessors(self, kbid: str) -> list[str]:
        """All sections whose chain of successors leads here, nearest first, then by kbid."""
        if self._predecessors is None:
            self._predecessors = self._linked()
        found: list[str] = []
        level = [kbid]
        while level:
            level = sorted(old for new in level for old in self._predecessors.get(new, ()))
            found += level
        return found

    def revival(self, kbid: str, now: str) -> tuple[str, ...]:
        """The kinds of events that would make a section active: a restore for each mark, valid-until when expired.

        Empty when it is active already, and when it is erased, which nothing takes back.
        """
        marks = self._marks.get(kbid) or {}
        if marks.get(State.ERASED):
            return ()
        restores = ("restore",) * sum(1 for state in _UNDONE_FIRST if marks.get(state))
        until = self._until.get(kbid)
        expired = until is not None and until.until != "" and until.until <= now
        return (*restores, "valid-until") if expired else restores

    def next_expiry(self, now: str) -> str:
        """The first instant after ``now`` at which some section expires, or ``""``."""
        ends = self._ends()
        place = bisect_right(ends, (now, chr(0x7F)))
        return ends[place][0] if place < len(ends) else ""

    def _ends(self) -> list[tuple[str, str]]:
        """(instant, kbid) of all sections whose time ends, sorted."""
        if self._expiries is None:
            self._expiries = sorted((event.until, kbid) for kbid, event in self._until.items() if event.until)
        return self._expiries

    def _settle(self) -> None:
        for table in (self._marks, self._until, self._documents, self._tombstones):
            table.settle()

    def _linked(self) -> dict[str, list[str]]:
        """For each section that took a place, the sections whose place it took."""
        found: dict[str, list[str]] = {}
        for old, _ in self._marks.items():
            if successor := self._successor(old):
                found.setdefault(successor, []).append(old)
        return found

    def _apply(self, event: Event) -> None:
        self.newest = (event.time, event.id)
        if event.kind == "restore":
            self._restore(event)
        elif event.kind == "valid-until":
            self._expiries = None
            for kbid in event.kbids:
                self._until[kbid] = event
        elif event.kind == "retire":
            if not event.kbids:
                self._mark_document(event.docid, "retired", event)
        else:
            self._withdraw(event)

    def _withdraw(self, event: Event) -> None:
        state = _MARK_OF_KIND[event.kind]
        for kbid in event.kbids:
            marks = self._marks.get(kbid) or {}
            self._marks[kbid] = {**marks, state: (*marks.get(state, ()), event)}
        if event.docid:
            self._mark_document(event.docid, "forgotten", event)
        for key in event.text_keys:
            self._tombstones[key] = (*(self._tombstones.get(key) or ()), event)
            self._salts |= {key.partition("$")[0]}
        if event.successor:
            # Going back to an older text ends that text's own supersession; it also keeps chains free of circles.
            self._unmark(event.successor, State.SUPERSEDED)

    def _mark_document(self, docid: str, state: DocumentState, event: Event) -> None:
        marks = self._documents.get(docid) or {}
        self._documents[docid] = {**marks, state: (*marks.get(state, ()), event)}

    def _unmark(self, kbid: str, state: State) -> None:
        marks = self._marks.get(kbid)
        if marks and state in marks:
            self._marks[kbid] = {other: events for other, events in marks.items() if other is not state}

    def _restore(self, event: Event) -> None:
        for kbid in event.kbids:
            marks = self._marks.get(kbid) or {}
            undone = next((state for state in _UNDONE_FIRST if marks.get(state)), None)
            if undone is None or marks.get(State.ERASED):
                self._marks[kbid] = marks
            else:
                self._unmark(kbid, undone)
        if event.docid:
            self._documents[event.docid] = {}
        if not event.kbids or any(not self._marks.get(kbid) for kbid in event.kbids):
            for key in event.text_keys:
                self._tombstones[key] = ()

    def _stands(self, event: Event) -> bool:
        """Whether a withdrawal still holds for anything that it named."""
        state = _MARK_OF_KIND[event.kind]
        marked = any(event in (self._marks.get(kbid) or {}).get(state, ()) for kbid in event.kbids)
        return marked or event in (self._documents.get(event.docid) or {}).get("forgotten", ())

    def _successor(self, kbid: str) -> str:
        superseded = (self._marks.get(kbid) or {}).get(State.SUPERSEDED)
        return superseded[-1].successor if superseded else ""


def _belief(state: State, event: Event) -> Belief:
    return Belief(state, event.time, event.reason, event.successor, event.id)
