"""The check of histories finds what it is for."""

from __future__ import annotations

from tests.concurrency.history import Call, faults

WRITE_1, WRITE_2 = Call(0, 1, 1, ("a", 1)), Call(2, 3, 2, ("a", 2))


def read(began: float, ended: float, generation: int, revision: int) -> Call:
    return Call(began, ended, generation, seen={"a": revision})


def test_a_read_may_show_what_was_there_at_any_moment_between_its_call_and_its_answer() -> None:
    writes = [WRITE_1, WRITE_2]
    assert not faults([writes, [read(1.5, 4, 1, 1)], [read(2.5, 4, 2, 2)], [read(-1, 0.5, 0, 0)]])


def test_a_write_that_a_later_read_does_not_see_is_a_fault() -> None:
    assert faults([[WRITE_1, WRITE_2], [read(4, 5, 1, 1)]])


def test_going_back_to_an_earlier_generation_is_a_fault_for_whoever_does_it() -> None:
    assert faults([[WRITE_1, WRITE_2], [read(2.1, 2.4, 2, 2)], [read(2.5, 2.6, 1, 1)]])


def test_a_view_that_its_generation_does_not_have_is_a_fault() -> None:
    assert faults([[WRITE_1, WRITE_2], [read(4, 5, 2, 1)]])
    assert faults([[WRITE_1, WRITE_2], [read(1.5, 1.6, 1, 2)]])
    assert faults([[WRITE_1, WRITE_2], [read(4, 5, 2, 0)]])


def test_a_write_without_an_answer_may_have_been_done_or_not_but_stays_so_once_the_next_is_answered() -> None:
    lost, after = Call(2, 3, None, ("a", 2)), Call(4, 5, 3, ("a", 3))
    assert not faults([[WRITE_1, lost, after], [read(3, 4, 1, 1)]])
    assert not faults([[WRITE_1, lost, after], [read(3, 4, 2, 2)]])
    assert faults([[WRITE_1, lost, after], [read(6, 7, 3, 2)]])
    assert faults([[WRITE_1, lost, after], [read(1.1, 1.2, 1, 2)]])
