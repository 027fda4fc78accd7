"""Who writes next."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.daemon.queue import MAX_WAITING, FairQueue, Job
from kbdb.errors import BusyError, DatabaseClosedError


def job(owner: str, name: str, *, short: bool = False) -> Job:
    return Job(owner, name, owner, lambda *_: None, short, lambda _: None)


def taken(queue: FairQueue) -> list[list[str]]:
    queue.end()
    turns = []
    while (first := queue.take()) is not None:
        turn = [first.what]
        while first.is_short and (another := queue.take_short()) is not None:
            turn.append(another.what)
        turns.append(turn)
    return turns


def test_connections_take_turns_however_many_requests_one_of_them_sends() -> None:
    queue = FairQueue()
    for name in ("a1", "a2", "a3"):
        queue.put(job("a", name))
    queue.put(job("b", "b1"))
    assert taken(queue) == [["a1"], ["b1"], ["a2"], ["a3"]]


def test_short_writes_that_wait_together_share_a_turn_and_long_ones_have_their_own() -> None:
    queue = FairQueue()
    queue.put(job("a", "short 1", short=True))
    queue.put(job("b", "long"))
    queue.put(job("c", "short 2", short=True))
    queue.put(job("a", "short 3", short=True))
    assert taken(queue) == [["short 1", "short 2", "short 3"], ["long"]]


def test_requests_of_one_connection_keep_their_order_across_a_long_one() -> None:
    queue = FairQueue()
    queue.put(job("a", "long"))
    queue.put(job("a", "short", short=True))
    queue.put(job("b", "other", short=True))
    order = [name for turn in taken(queue) for name in turn]
    assert order.index("long") < order.index("short")


def test_a_withdrawn_job_never_has_its_turn_and_one_that_had_it_cannot_be_withdrawn() -> None:
    queue = FairQueue()
    first, second = job("a", "first"), job("a", "second")
    queue.put(first)
    queue.put(second)
    assert queue.withdraw(first)
    assert not queue.withdraw(first)
    assert taken(queue) == [["second"]]
    assert not queue.withdraw(second)


def test_a_full_queue_refuses_at_once() -> None:
    queue = FairQueue()
    for number in range(MAX_WAITING):
        queue.put(job("a", str(number)))
    with pytest.raises(BusyError, match="1,024 writes wait already"):
        queue.put(job("b", "one more"))


def test_an_ended_queue_lets_those_in_finish_and_nobody_else_in() -> None:
    queue = FairQueue()
    queue.put(job("a", "in time"))
    queue.end()
    with pytest.raises(DatabaseClosedError):
        queue.put(job("a", "too late"))
    assert taken(queue) == [["in time"]]


def test_a_taker_with_little_patience_goes_without_a_job() -> None:
    queue = FairQueue()
    assert queue.take(0.001) is None
    assert not queue.is_over
    queue.put(job("a", "last"))
    queue.end()
    assert not queue.is_over
    assert queue.take() is not None
    assert queue.is_over
    assert queue.take() is None


def test_the_taker_waits_for_a_job() -> None:
    queue = FairQueue()
    got: list[Job | None] = []
    taker = threading.Thread(target=lambda: got.append(queue.take()))
    taker.start()
    only = job("a", "only")
    queue.put(only)
    taker.join()
    assert got == [only]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_every_job_has_exactly_one_turn_in_the_order_of_its_connection(asked: list[tuple[str, bool]]) -> None:
    queue = FairQueue()
    for number, (owner, short) in enumerate(asked):
        queue.put(job(owner, f"{owner}{number:02}", short=short))
    assert len(queue) == len(asked)
    order = [name for turn in taken(queue) for name in turn]
    assert Counter(order) == Counter(f"{owner}{number:02}" for number, (owner, _) in enumerate(asked))
    for owner in "abc":
        assert [name for name in order if name[0] == owner] == sorted(name for name in order if name[0] == owner)


def test_what_goes_last_lets_all_others_go_first_whenever_they_came() -> None:
    queue = FairQueue()
    last = job("the daemon", "last", short=True)
    last.goes_last = True
    queue.put(last)
    queue.put(job("a", "long"))
    queue.put(job("b", "short", short=True))
    assert len(queue) == 2
    assert [name for turn in taken(queue) for name in turn] == ["long", "short", "last"]
    assert queue.is_over


def test_what_goes_last_has_its_turn_although_the_queue_was_ended_meanwhile() -> None:
    queue = FairQueue()
    last = job("the daemon", "last")
    last.goes_last = True
    queue.put(last)
    queue.end()
    assert not queue.is_over
    assert queue.take_short() is None
    assert queue.take() is last
    assert queue.is_over
