"""Which entries are live, kept over commits, is what it would be if it were found anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kbdb
from kbdb.index import bitmaps
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge import core as knowledge_core
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import StoredSection
from kbdb.knowledge.liveness import Liveness
from kbdb.model.truth import State
from kbdb.store.beliefs import replay
from kbdb.store.ids import kbid_encode
from kbdb.store.store import Change

EARLY = "2026-01-01T00:00:00.000000Z"

STEPS = (
    *("learn", "learn", "learn folder", "learn folder", "drop file", "replace", "forget section", "forget document"),
    *("restore section", "restore document", "expire", "flush", "older event", "interrupt"),
)
steps = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 1000)), max_size=14)


def live_by_definition(core: Core) -> list[list[int]]:
    """The live entries of each segment, from what README of the folder says and nothing else."""
    beliefs, now = replay(core.events.values()), knowledge_core.utc_now()
    found = []
    for slot in core.indexer.segments.slots:
        segment, live = slot.segment, []
        for entry in bitmaps.entries(slot.current):
            active = beliefs.section(kbid_encode(segment.kbid(entry)), now).state is State.ACTIVE
            places = StoredSection.decode(segment.stored(entry)).places
            if active and any(beliefs.document(place.docid).state == "live" for place in places):
                live.append(entry)
        found.append(live)
    return found


def take(kb: KnowledgeBase, home: Path, step: str, number: int) -> None:
    core = kb._core
    kbids, docids = core.store.section_ids(), core.store.manifest_ids()
    kbid = kbids[number % len(kbids)] if kbids else ""
    docid = docids[number % len(docids)] if docids else ""
    if step == "learn":
        kb.learn(content=f"Fact {number % 7}.", title=f"Title {number % 5}")
    elif step == "learn folder":
        path = home / f"{number % 3}.md"
        path.write_text("".join(f"# Part {part}\n\ntext {part}\n\n" for part in range(number % 5)))
        kb.learn([home], prune=number % 2 == 0)
    elif step == "drop file":
        (home / f"{number % 3}.md").unlink(missing_ok=True)
        kb.learn([home], prune=True)
    elif step == "replace":
        kb.learn(content=f"Newer {number}.", title=f"Title {number % 5}", docid="news", replace=True)
    elif step == "flush":
        core.checkpoint()
    elif step == "forget section" and kbid:
        kb.unlearn(kbid)
    elif step == "forget document" and docid:
        kb.unlearn(docid=docid)
    elif step == "restore section" and kbid:
        kb.restore(kbid)
    elif step == "restore document" and docid:
        kb.restore(docid=docid)
    elif step == "expire" and kbid:
        until = ("", EARLY, "2999-01-01T00:00:00.000000Z", knowledge_core.utc_now())[number % 4]
        core.commit([Change(events=(core.event("valid-until", "user", kbids=(kbid,), until=until),))])
    elif step == "older event" and kbid:
        event = core.event("forget", "import", kbids=(kbid,))
        object.__setattr__(event, "time", EARLY)
        core.commit([Change(events=(event,))])
    elif step == "interrupt":
        core._forget()


@given(steps, st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_live_entries_are_those_of_the_definition_after_any_history(
    history: list[tuple[str, int]], looks_between: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, kbdb.init(Path(folder) / "home") as kb:
        home = Path(folder) / "home"
        for step, number in history:
            take(kb, home, step, number)
            if looks_between:
                kb._core.snapshot()
        shown = kb._core.snapshot()
        assert [list(bitmaps.entries(bits)) for bits in shown.live] == live_by_definition(kb._core)
        fresh = Liveness(replay(kb._core.events.values()), knowledge_core.utc_now())
        assert fresh.live(shown.slots) == shown.live


@pytest.mark.parametrize("back", [False, True])
def test_a_section_goes_at_its_instant_and_is_back_when_the_clock_goes_back(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    (kbid,) = kb.learn(content="Valid for a while.", title="Trial").kbids
    core, end = kb._core, "2900-01-01T00:00:00.000000Z"
    core.commit([Change(events=(core.event("valid-until", "user", kbids=(kbid,), until=end),))])

    def clock(now: str) -> None:
        monkeypatch.setattr(knowledge_core, "utc_now", lambda: now)

    clock("2899-12-31T23:59:59.999999Z")
    assert kb.search("valid").total == 1
    clock(end)
    assert (kb.search("valid").total, kb.search("valid").hidden) == (0, 1)
    if back:
        clock(EARLY)
        kb.learn(content="Another commit.", title="Other")
        assert kb.search("valid").total == 1


def test_a_commit_keeps_the_bits_of_segments_that_it_does_not_speak_of(kb: KnowledgeBase) -> None:
    kb.learn(content="First of all.", title="First")
    kb._core.checkpoint()
    before = kb._core.snapshot().live[0]
    kb.learn(content="Second to it.", title="Second")
    kb.unlearn(kb.search("second").hits[0].kbid)
    assert kb._core.snapshot().live[0] is before
