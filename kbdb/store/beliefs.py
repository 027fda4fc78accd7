"""What is believed now: the state of sections, documents and texts, derived by replaying events (rules in README.md).

Nothing here is stored. The order is (time, id), so clones that hold the same events believe the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kbdb.errors import CorruptError
from kbdb.model import Event, State

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
    beliefs._link()
    return beliefs


class Beliefs:
    """The outcome of a replay. Only ``replay`` changes it; afterwards it is read-only and may be shared by threads.

    A section carries a mark for each way in which it was withdrawn, with the events that set it. Its state is its
    strongest mark: erased, forgotten, invalidated, superseded.
    """

    def __init__(self) -> None:
        self._marks: dict[str, dict[State, list[Event]]] = {}
        self._until: dict[str, Event] = {}
        self._documents: dict[str, dict[DocumentState, list[Event]]] = {}
        self._tombstones: dict[str, list[Event]] = {}
        self._salts: set[str] = set()
        self._predecessors: dict[str, list[str]] = {}

    def section(self, kbid: str, now: str) -> Belief:
        """What is believed of a section at an instant.

        Args:
            kbid: any kbid, known or not.
            now: an instant spelled as in events; only expiry depends on it.
        """
        marks = self._marks.get(kbid, {})
        for state in _STRONGEST_FIRST:
            if marks.get(state):
                return _belief(state, marks[state][-1])
        until = self._until.get(kbid)
        if until is not None and until.until and until.until <= now:
            return Belief(State.EXPIRED, until.until, until.reason, "", until.id)
        return Belief(State.ACTIVE)

    def document(self, docid: str) -> DocumentBelief:
        """Whether a document counts."""
        marks = self._documents.get(docid, {})
        states: tuple[DocumentState, ...] = ("forgotten", "retired")
        for state in states:
            if marks.get(state):
                event = marks[state][-1]
                return DocumentBelief(state, event.time, event.reason, event.id)
        return DocumentBelief("live")

    def text(self, text_key: str) -> Belief | None:
        """What was decided about a text, in whatever section it stood; None when nothing stands against it."""
        inforce = [event for event in self._tombstones.get(text_key, ()) if self._stands(event)]
        for state in _STRONGEST_FIRST:
            found = [event for event in inforce if _MARK_OF_KIND[event.kind] is state]
            if found:
                return _belief(state, found[-1])
        return None

    def text_keys(self) -> list[str]:
        """The keys of all texts that something stands against, sorted."""
        return sorted(key for key in self._tombstones if self.text(key) is not None)

    def salts(self) -> list[str]:
        """The salts of the keys of all texts that were ever withdrawn, sorted."""
        return sorted(self._salts)

    def kbids(self) -> list[str]:
        """The sections that any event spoke of, sorted."""
        return sorted(self._marks.keys() | self._until.keys())

    def documents(self) -> list[str]:
        """The documents that any event spoke of as a whole, sorted."""
        return sorted(self._documents)

    def head_of(self, kbid: str) -> str:
        """The end of a section's chain of successors, whatever its state; itself when nothing succeeded it."""
        while successor := self._successor(kbid):
            kbid = successor
        return kbid

    def predecessors(self, kbid: str) -> list[str]:
        """All sections whose chain of successors leads here, nearest first, then by kbid."""
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
        marks = self._marks.get(kbid, {})
        if marks.get(State.ERASED):
            return ()
        restores = ("restore",) * sum(1 for state in _UNDONE_FIRST if marks.get(state))
        until = self._until.get(kbid)
        expired = until is not None and until.until != "" and until.until <= now
        return (*restores, "valid-until") if expired else restores

    def next_expiry(self, now: str) -> str:
        """The first instant after ``now`` at which some section expires, or ``""``."""
        return min((event.until for event in self._until.values() if event.until > now), default="")

    def _apply(self, event: Event) -> None:
        if event.kind == "restore":
            self._restore(event)
        elif event.kind == "valid-until":
            self._until |= dict.fromkeys(event.kbids, event)
        elif event.kind == "retire":
            if not event.kbids:
                self._documents.setdefault(event.docid, {}).setdefault("retired", []).append(event)
        else:
            self._withdraw(event)

    def _link(self) -> None:
        for old in self._marks:
            if successor := self._successor(old):
                self._predecessors.setdefault(successor, []).append(old)

    def _withdraw(self, event: Event) -> None:
        state = _MARK_OF_KIND[event.kind]
        for kbid in event.kbids:
            self._marks.setdefault(kbid, {}).setdefault(state, []).append(event)
        if event.docid:
            self._documents.setdefault(event.docid, {}).setdefault("forgotten", []).append(event)
        for key in event.text_keys:
            self._tombstones.setdefault(key, []).append(event)
            self._salts.add(key.partition("$")[0])
        if event.successor:
            # Going back to an older text ends that text's own supersession; it also keeps chains free of circles.
            self._marks.get(event.successor, {}).pop(State.SUPERSEDED, None)

    def _restore(self, event: Event) -> None:
        for kbid in event.kbids:
            marks = self._marks.setdefault(kbid, {})
            undone = next((state for state in _UNDONE_FIRST if marks.get(state)), None)
            if undone is not None and not marks.get(State.ERASED):
                del marks[undone]
        if event.docid:
            self._documents[event.docid] = {}
        if not event.kbids or any(not self._marks[kbid] for kbid in event.kbids):
            for key in event.text_keys:
                self._tombstones.pop(key, None)

    def _stands(self, event: Event) -> bool:
        """Whether a withdrawal still holds for anything that it named."""
        state = _MARK_OF_KIND[event.kind]
        marked = any(event in self._marks.get(kbid, {}).get(state, ()) for kbid in event.kbids)
        return marked or event in self._documents.get(event.docid, {}).get("forgotten", ())

    def _successor(self, kbid: str) -> str:
        superseded = self._marks.get(kbid, {}).get(State.SUPERSEDED)
        return superseded[-1].successor if superseded else ""


def _belief(state: State, event: Event) -> Belief:
    return Belief(state, event.time, event.reason, event.successor, event.id)
