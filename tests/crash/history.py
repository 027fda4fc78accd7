"""A short life of a store, the same each time, and the states it goes through.

``main`` lives that life in a folder, for the crash tests, which end it early.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kbdb.model.truth import Event, Manifest, Origin, Placement, Section
from kbdb.store.section import make_section
from kbdb.store.store import Change, Store

WRITER = "testwr1ter"
Step = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class State:
    """All that a store holds, by id, as bytes."""

    sections: dict[str, bytes]
    manifests: dict[str, bytes]
    events: dict[str, bytes]


NOTHING = State({}, {}, {})


def state_of(store: Store) -> State:
    """What reading the store gives."""
    return State(
        {kbid: store.section_bytes(kbid) for kbid in store.section_ids()},
        {docid: store.manifest_bytes(docid) for docid in store.manifest_ids()},
        {name: data for name in store.event_files() if (data := store.events_bytes(name))},
    )


def section(title: str) -> Section:
    """A section told apart by its title."""
    return make_section("default", "text/markdown", title, f"# {title}\n\nWhat {title} says.\n".encode() * 20)


def manifest(docid: str, *titles: str) -> Manifest:
    """A document of ``section`` sections."""
    places = tuple(
        Placement(section(title).kbid, 1, "", (), 1 + 60 * number, 60 + 60 * number, "")
        for number, title in enumerate(titles)
    )
    origin = Origin("user", f"{docid}.md", "0" * 64)
    time = "2026-01-31T12:00:00Z"
    return Manifest(docid, "text/markdown", docid, "", ("tag",), "", origin, time, time, "", places)


def event(number: int, title: str, month: int = 1) -> Event:
    """An event that forgets a ``section``."""
    time = f"2026-{month:02}-15T10:00:{number:02}.000000Z"
    return Event(f"{number:026}", time, WRITER, "user", "forget", (section(title).kbid,), reason="élan")


def _group(store: Store) -> None:
    store.append(Change(sections=(section("c"),)))
    store.append(Change(sections=(section("d"),), manifests=(manifest("two", "c", "d"),), events=(event(2, "d"),)))
    store.append(Change(events=(event(3, "c"),)))
    store.sync()


def _commit(change: Change) -> Step:
    return lambda store: store.commit(change)


STEPS: tuple[Step, ...] = (
    _commit(Change(sections=(section("a"), section("b")), manifests=(manifest("one", "a", "b"),))),
    _commit(Change(events=(event(1, "a"),))),
    _group,
    Store.checkpoint,
    _commit(Change((section("e"),), (manifest("one", "e", "b"),), (event(4, "a"), event(5, "e", month=2)))),
    _commit(Change(events=(event(6, "b"),))),
    _commit(Change(removed_sections=(section("b").kbid, section("c").kbid), removed_documents=("two",))),
    _commit(Change(sections=(section("b"),), removed_sections=(section("d").kbid,))),
    Store.checkpoint,
    _commit(Change(removed_sections=(section("e").kbid,))),
)
"""Each is one call that is acknowledged when it returns. After the last, ``live`` opens the store again."""


def live(root: Path, acknowledge: Callable[[Store], None]) -> None:
    """Makes a store, takes it through ``STEPS``, opens it again and adds to it; tells of each step done."""
    store = Store.create(root)
    acknowledge(store)
    for step in STEPS:
        step(store)
        acknowledge(store)
    store.close()
    store = Store.open(root)
    acknowledge(store)
    store.commit(Change(sections=(section("f"),), events=(event(7, "f"),)))
    acknowledge(store)
    store.checkpoint()
    acknowledge(store)
    store.close()


def states(folder: Path) -> list[State]:
    """The state after each acknowledgement; item 0 is before the first."""
    found = [NOTHING]
    live(folder / ".kbdb", lambda store: found.append(state_of(store)))
    return found


def warm_up() -> None:
    """Does once what would else be done in each forked process: imports made when first needed."""
    with tempfile.TemporaryDirectory() as folder:
        states(Path(folder))


def open_or_make(root: Path) -> Store:
    """Opens what a crash left, or makes it where the crash came before there was a database."""
    return Store.open(root) if (root / "catalog.toml").exists() else Store.create(root)


def check_left_over(root: Path, known: list[State], acknowledged: int) -> None:
    """Asserts what must hold after a crash, and that the store goes on working.

    Args:
        root: the ``.kbdb`` folder that the crash left.
        known: from ``states``.
        acknowledged: how many acknowledgements were given before the crash.
    """
    if acknowledged:
        assert (root / "catalog.toml").exists()
    store = open_or_make(root)
    found = state_of(store)
    assert found in known[acknowledged : acknowledged + 2]
    store.commit(Change(sections=(section("after"),), events=(event(9, "after", month=3),)))
    store.checkpoint()
    after = state_of(store)
    store.close()
    assert _without_after(after) == found
    assert not list(root.rglob("*.tmp"))
    files = [path for path in (root / "sections").rglob("*") if path.is_file()]
    assert sorted(path.stem for path in files) == sorted(after.sections)
    assert sorted(path.stem for path in (root / "documents").iterdir()) == sorted(after.manifests)
    again = Store.open(root)
    assert again.recovered == ()
    assert state_of(again) == after
    again.close()


def _without_after(state: State) -> State:
    sections = {kbid: data for kbid, data in state.sections.items() if kbid != section("after").kbid}
    events = {name: data for name, data in state.events.items() if "2026-03" not in name}
    return State(sections, state.manifests, events)


def main(folder: str) -> None:
    """Lives in a folder and prints the number of each acknowledgement."""
    numbers = itertools.count(1)
    live(Path(folder) / ".kbdb", lambda _: print(next(numbers), flush=True))
