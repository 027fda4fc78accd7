"""Beliefs: what was corrected stays corrected, what was forgotten stays forgotten, and every step can be taken back."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import CorruptError
from kbdb.model.truth import Event, State
from kbdb.store import layered
from kbdb.store.beliefs import Belief, Beliefs, replay
from kbdb.store.ids import kbid_encode

A, B, C, D = (kbid_encode(bytes([n]) * 16) for n in range(4))
KEY_A, KEY_B = (f"salt${digit * 64}" for digit in "ab")
NOW = "2026-06-01T00:00:00.000000Z"


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000000Z"


def event(second: int, kind: str, *kbids: str, **fields: Any) -> Event:
    """An event of that second; its id says the same."""
    return Event(f"{second:026}", at(second), "w0w0", "user", kind, kbids=kbids, **fields)


def revise(second: int, *old: str, to: str, **fields: Any) -> Event:
    return event(second, "revise", *old, successor=to, **fields)


def state(beliefs: Beliefs, kbid: str, now: str = NOW) -> State:
    return beliefs.section(kbid, now).state


def test_what_no_event_speaks_of_is_active() -> None:
    assert replay([]).section(A, NOW) == Belief(State.ACTIVE)
    assert replay([]).document("guide").state == "live"
    assert replay([]).text(KEY_A) is None


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("invalidate", State.INVALIDATED), ("forget", State.FORGOTTEN), ("erase", State.ERASED)],
)
def test_a_withdrawal_says_since_when_and_why(kind: str, expected: State) -> None:
    beliefs = replay([event(1, kind, A, reason="because")])
    assert beliefs.section(A, NOW) == Belief(expected, at(1), "because", "", f"{1:026}")


def test_revise_marks_the_old_section_and_names_its_successor() -> None:
    beliefs = replay([revise(1, A, to=B)])
    assert beliefs.section(A, NOW) == Belief(State.SUPERSEDED, at(1), "", B, f"{1:026}")
    assert state(beliefs, B) is State.ACTIVE


def test_forgetting_the_new_does_not_bring_the_old_back() -> None:
    """Acceptance F1: a corrected fact, then the correction forgotten."""
    beliefs = replay([revise(1, A, to=B), event(2, "forget", B)])
    assert (state(beliefs, A), state(beliefs, B)) == (State.SUPERSEDED, State.FORGOTTEN)
    assert [B, *beliefs.predecessors(B)] == [B, A]


def test_restoring_the_new_leaves_the_old_retired() -> None:
    """Acceptance F5."""
    beliefs = replay([revise(1, A, to=B), event(2, "forget", B), event(3, "restore", B)])
    assert (state(beliefs, A), state(beliefs, B)) == (State.SUPERSEDED, State.ACTIVE)


def test_an_old_section_leads_to_the_head_of_its_chain_even_when_that_is_forgotten() -> None:
    """Acceptance F9."""
    beliefs = replay([revise(1, A, to=B), revise(2, B, to=C), event(3, "forget", C)])
    assert [beliefs.head_of(kbid) for kbid in (A, B, C, D)] == [C, C, C, D]
    assert state(beliefs, beliefs.head_of(A)) is State.FORGOTTEN


def test_predecessors_come_nearest_first() -> None:
    beliefs = replay([revise(1, A, B, to=C), revise(2, C, to=D)])
    assert beliefs.predecessors(D) == [C, A, B]
    assert beliefs.predecessors(A) == []


def test_restoring_an_old_section_takes_it_out_of_the_chain() -> None:
    beliefs = replay([revise(1, A, to=B), event(2, "restore", A)])
    assert (state(beliefs, A), beliefs.head_of(A), beliefs.predecessors(B)) == (State.ACTIVE, A, [])


def test_going_back_to_an_older_text_makes_it_current() -> None:
    beliefs = replay([revise(1, A, to=B, text_keys=(KEY_A,)), revise(2, B, to=A, text_keys=(KEY_B,))])
    assert (state(beliefs, A), state(beliefs, B)) == (State.ACTIVE, State.SUPERSEDED)
    assert beliefs.head_of(B) == A
    assert beliefs.text(KEY_A) is None
    assert beliefs.text_keys() == [KEY_B]


def test_becoming_a_successor_does_not_undo_a_forgetting() -> None:
    assert state(replay([event(1, "forget", B), revise(2, A, to=B)]), B) is State.FORGOTTEN


def test_restore_takes_back_one_withdrawal_the_strongest_first() -> None:
    steps = [revise(1, A, to=B), event(2, "invalidate", A), event(3, "forget", A), event(4, "forget", A)]
    restores = [event(second, "restore", A) for second in (5, 6, 7, 8)]
    states = [state(replay(steps + restores[:count]), A) for count in range(5)]
    assert states == [State.FORGOTTEN, State.INVALIDATED, State.SUPERSEDED, State.ACTIVE, State.ACTIVE]


def test_a_forgotten_section_stays_forgotten_when_it_is_revised() -> None:
    assert state(replay([event(1, "forget", A), revise(2, A, to=B)]), A) is State.FORGOTTEN


def test_erased_is_for_ever() -> None:
    beliefs = replay([event(1, "erase", A, text_keys=(KEY_A,)), event(2, "restore", A, text_keys=(KEY_A,))])
    assert state(beliefs, A) is State.ERASED
    assert beliefs.revival(A, NOW) == ()
    assert beliefs.text(KEY_A) == Belief(State.ERASED, at(1), "", "", f"{1:026}")


def test_a_section_expires_at_its_instant_and_can_be_renewed() -> None:
    limited = [event(1, "valid-until", A, until=at(9), reason="trial")]
    assert state(replay(limited), A, at(8)) is State.ACTIVE
    assert replay(limited).section(A, at(9)) == Belief(State.EXPIRED, at(9), "trial", "", f"{1:026}")
    assert state(replay([*limited, event(2, "valid-until", A, until=at(20))]), A, at(9)) is State.ACTIVE
    assert state(replay([*limited, event(2, "valid-until", A)]), A, NOW) is State.ACTIVE


def test_the_next_expiry_is_the_first_after_the_instant() -> None:
    beliefs = replay([event(1, "valid-until", A, until=at(9)), event(2, "valid-until", B, until=at(12))])
    assert [beliefs.next_expiry(at(second)) for second in (8, 9, 12)] == [at(9), at(12), ""]


def test_revival_names_what_makes_a_section_active() -> None:
    history = [revise(1, A, to=B), event(2, "forget", A), event(3, "valid-until", A, until=at(9))]
    kinds = replay(history).revival(A, NOW)
    assert kinds == ("restore", "restore", "valid-until")
    revived = replay([*history, *(event(10 + n, kind, A) for n, kind in enumerate(kinds))])
    assert (state(revived, A), revived.revival(A, NOW)) == (State.ACTIVE, ())


def test_a_document_is_retired_when_its_source_is_gone_and_restored_when_it_is_back() -> None:
    gone = [event(1, "retire", docid="guide", reason="gone")]
    belief = replay(gone).document("guide")
    assert (belief.state, belief.since, belief.reason, belief.event) == ("retired", at(1), "gone", f"{1:026}")
    assert replay([*gone, event(2, "restore", docid="guide")]).document("guide").state == "live"


def test_a_document_that_is_forgotten_says_so_before_retired() -> None:
    events = [event(1, "forget", docid="guide"), event(2, "retire", docid="guide")]
    assert replay(events).document("guide").state == "forgotten"
    assert replay([*events, event(3, "restore", docid="guide")]).document("guide").state == "live"


def test_forgetting_a_document_does_not_forget_its_sections_unless_named() -> None:
    assert state(replay([event(1, "forget", docid="guide")]), A) is State.ACTIVE
    beliefs = replay([event(1, "forget", A, docid="guide")])
    assert (state(beliefs, A), beliefs.document("guide").state) == (State.FORGOTTEN, "forgotten")


def test_sections_that_left_a_document_are_believed_as_before() -> None:
    beliefs = replay([event(1, "retire", A, docid="guide")])
    assert (state(beliefs, A), beliefs.document("guide").state) == (State.ACTIVE, "live")
    assert (beliefs.kbids(), beliefs.documents()) == ([], [])


def test_lists_what_events_spoke_of() -> None:
    beliefs = replay([event(1, "forget", B), event(2, "valid-until", A, until=at(9)), event(3, "retire", docid="x")])
    assert (beliefs.kbids(), beliefs.documents()) == ([A, B], ["x"])


def test_a_text_is_held_back_while_a_section_it_stood_in_is_withdrawn() -> None:
    forget = event(1, "forget", A, B, text_keys=(KEY_A, KEY_B), reason="private")
    assert replay([forget]).text(KEY_A) == Belief(State.FORGOTTEN, at(1), "private", "", f"{1:026}")
    assert replay([forget, event(2, "restore", A)]).text_keys() == [KEY_A, KEY_B]
    assert replay([forget, event(2, "restore", A), event(3, "restore", B)]).text_keys() == []


def test_a_restore_that_names_the_text_ends_its_holding_back() -> None:
    forget = event(1, "forget", A, B, text_keys=(KEY_A, KEY_B))
    assert replay([forget, event(2, "restore", A, text_keys=(KEY_A,))]).text_keys() == [KEY_B]
    assert replay([forget, event(2, "restore", C, text_keys=(KEY_A,))]).text_keys() == [KEY_B]
    assert replay([forget, event(2, "restore", text_keys=(KEY_A,))]).text_keys() == [KEY_B]


def test_a_text_stays_held_back_when_its_section_is_still_superseded() -> None:
    beliefs = replay(
        [
            revise(1, A, to=B, text_keys=(KEY_A,)),
            event(2, "forget", A, text_keys=(KEY_A,)),
            event(3, "restore", A, text_keys=(KEY_A,)),
        ]
    )
    assert beliefs.text(KEY_A) == Belief(State.SUPERSEDED, at(1), "", B, f"{1:026}")


def test_a_text_forgotten_again_is_held_back_again() -> None:
    steps = [event(1, "forget", A, text_keys=(KEY_A,)), event(2, "restore", A, text_keys=(KEY_A,))]
    assert replay([*steps, event(3, "forget", A, text_keys=(KEY_A,))]).text_keys() == [KEY_A]


def test_a_text_forgotten_with_a_document_is_free_when_that_is_restored() -> None:
    forget = event(1, "forget", docid="guide", text_keys=(KEY_A,))
    assert replay([forget]).text_keys() == [KEY_A]
    assert replay([forget, event(2, "restore", docid="guide")]).text_keys() == []


def test_as_of_leaves_out_what_came_later() -> None:
    events = [revise(1, A, to=B), event(5, "forget", B)]
    assert state(replay(events, as_of=at(0)), A) is State.ACTIVE
    assert state(replay(events, as_of=at(4)), B) is State.ACTIVE
    assert state(replay(events, as_of=at(5)), B) is State.FORGOTTEN


def test_the_same_event_in_two_files_counts_once() -> None:
    forget, restore = event(1, "forget", A), event(2, "restore", A)
    twice = [forget, restore, replace(forget), replace(restore), forget]
    assert state(replay(twice), A) is State.ACTIVE


@pytest.mark.parametrize("other", [event(1, "forget", B), replace(event(1, "forget", A), time=at(9))])
def test_two_events_under_one_id_are_corrupt(other: Event) -> None:
    with pytest.raises(CorruptError, match=f"event {1:026} exists twice and differs"):
        replay([event(1, "forget", A), other])


KBIDS = [A, B, C, D]
kinds = st.sampled_from(["revise", "revise", "forget", "invalidate", "restore", "erase"])
histories = st.lists(st.tuples(kinds, st.sets(st.sampled_from(KBIDS), min_size=1, max_size=2)), max_size=12)


def history_of(steps: list[tuple[str, set[str]]]) -> list[Event]:
    events = []
    for second, (kind, kbids) in enumerate(steps, 1):
        if kind == "revise":
            successor = next(kbid for kbid in KBIDS[second % 2 :] + KBIDS if kbid not in kbids)
            events.append(revise(second, *sorted(kbids), to=successor))
        else:
            events.append(event(second, kind, *sorted(kbids)))
    return events


@given(histories, st.randoms(use_true_random=False))
def test_beliefs_depend_on_the_events_not_on_their_order_in_files(
    steps: list[tuple[str, set[str]]], source: random.Random
) -> None:
    events = history_of(steps)
    shuffled = events + events[:3]
    source.shuffle(shuffled)
    assert _summary(replay(shuffled)) == _summary(replay(events))


@given(histories)
def test_chains_never_run_in_a_circle(steps: list[tuple[str, set[str]]]) -> None:
    beliefs = replay(history_of(steps))
    for kbid in KBIDS:
        assert kbid not in beliefs.predecessors(kbid)
        assert all(beliefs.head_of(old) == beliefs.head_of(kbid) for old in beliefs.predecessors(kbid))
        assert beliefs.head_of(kbid) == kbid or kbid in beliefs.predecessors(beliefs.head_of(kbid))


@given(histories)
def test_revival_always_makes_active_what_is_not_erased(steps: list[tuple[str, set[str]]]) -> None:
    events = history_of(steps)
    for kbid in KBIDS:
        kinds = replay(events).revival(kbid, NOW)
        after = replay([*events, *(event(30 + n, kind, kbid) for n, kind in enumerate(kinds))])
        assert state(after, kbid) in (State.ACTIVE, State.ERASED)


@given(histories, st.lists(st.integers(0, 30), max_size=4), st.sampled_from([0, 2, 256]))
def test_beliefs_continued_step_by_step_are_those_of_one_replay(
    steps: list[tuple[str, set[str]]], cuts: list[int], kept: int
) -> None:
    events = [replace(e, text_keys=(KEY_A,)) if e.kind != "valid-until" else e for e in history_of(steps)]
    borders = sorted({0, *(cut for cut in cuts if cut < len(events)), len(events)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layered, "NEW_KEYS", kept)
        seen = [replay(events[:0])]
        for start, end in pairwise(borders):
            seen.append(seen[-1].continued(events[start:end]))
    for beliefs, end in zip(seen, borders, strict=True):
        expected = replay(events[:end])
        assert _summary(beliefs) == _summary(expected)
        assert set(beliefs.inactive(NOW)) == {k for k in KBIDS if state(expected, k) is not State.ACTIVE}
        assert beliefs.newest == expected.newest


def test_sections_expire_between_two_instants() -> None:
    beliefs = replay([event(1, "valid-until", A, until=at(9)), event(2, "valid-until", B, until=at(12))])
    assert list(beliefs.expiring(at(8), at(9))) == [A]
    assert list(beliefs.expiring(at(9), at(11))) == []
    assert list(beliefs.expiring(at(9), at(12))) == [B]
    assert list(beliefs.continued([event(3, "valid-until", B, until=at(20))]).expiring("", NOW)) == [A, B]


def _summary(beliefs: Beliefs) -> list[object]:
    kept = [beliefs.kbids(), beliefs.documents(), beliefs.text_keys(), beliefs.salts(), beliefs.next_expiry(at(1))]
    return [(beliefs.section(k, NOW), beliefs.head_of(k), beliefs.predecessors(k)) for k in KBIDS] + [kept]
