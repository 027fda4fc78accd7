"""Events: one line in one spelling for each, and files whose faults are told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import CorruptError, InvalidArgumentError
from kbdb.model.truth import Event
from kbdb.store.events import (
    decode_events,
    encode_event,
    event_file,
    is_event_file,
    new_event_id,
)
from kbdb.store.ids import kbid_encode

PATH = "events/w0w0w0w0w0-2026-01.jsonl"
TIME = "2026-01-31T12:00:00.000001Z"
OLD, NEW = kbid_encode(bytes(16)), kbid_encode(b"\xff" * 16)
KEY = "salt$" + "0f" * 32

FORGET = Event("0" * 26, TIME, "w0w0w0w0w0", "user", "forget", kbids=(OLD,), reason="wrong\n“x”", text_keys=(KEY,))
REVISE = Event("1" * 26, TIME, "w0w0w0w0w0", "agent", "revise", kbids=(OLD,), successor=NEW)

GOLDEN = (
    f'{{"id":"{"0" * 26}","time":"{TIME}","writer":"w0w0w0w0w0","actor":"user","kind":"forget",'
    f'"kbids":["{OLD}"],"reason":"wrong\\n“x”","text_keys":["{KEY}"]}}\n'
).encode()


def test_an_event_is_one_compact_line_without_empty_values() -> None:
    assert encode_event(FORGET) == GOLDEN


def test_a_file_reads_back_in_its_order() -> None:
    assert decode_events(encode_event(REVISE) + GOLDEN, PATH) == [REVISE, FORGET]


def test_an_empty_file_holds_no_events() -> None:
    assert decode_events(b"", PATH) == []


@pytest.mark.parametrize(
    "event",
    [
        REVISE,
        replace(FORGET, kind="invalidate"),
        replace(FORGET, kind="erase"),
        replace(FORGET, docid="guide"),
        replace(FORGET, docid="guide", kbids=(), text_keys=()),
        replace(FORGET, kind="restore"),
        replace(FORGET, kind="restore", kbids=(), docid="guide"),
        replace(FORGET, kind="restore", kbids=()),
        replace(FORGET, kind="retire", docid="guide", text_keys=()),
        replace(FORGET, kind="retire", docid="guide", kbids=(), text_keys=()),
        replace(FORGET, kind="valid-until", until=TIME, text_keys=()),
        replace(FORGET, kind="valid-until", text_keys=()),
    ],
)
def test_each_kind_reads_back(event: Event) -> None:
    assert decode_events(encode_event(event), PATH) == [event]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_reason_reads_back_on_one_line(reason: str) -> None:
    line = encode_event(replace(FORGET, reason=reason))
    assert line.count(b"\n") == 1
    assert decode_events(line, PATH) == [replace(FORGET, reason=reason)]


INVALID = [
    (replace(FORGET, id="x"), "id is 'x', expected 26 base32 characters"),
    (replace(FORGET, time="2026-01-31T12:00:00Z"), "time is '2026-01-31T12:00:00Z', expected a UTC time"),
    (replace(FORGET, time="2026-02-31T12:00:00.000000Z"), "time is '2026-02-31T12:00:00.000000Z', expected a UTC time"),
    (replace(FORGET, writer="../x"), "writer is '../x', expected 4 to 40 base32 characters"),
    (replace(FORGET, actor="me"), "actor is 'me', expected one of user, agent, import, auto-capture, kbdb"),
    (replace(FORGET, kind="forgive"), "kind is 'forgive', expected one of revise, invalidate, forget,"),
    (replace(FORGET, kbids=("x",)), "kbids holds 'x', which is no kbid"),
    (replace(FORGET, kbids=(OLD, OLD)), "kbids names a section twice"),
    (replace(FORGET, kbids=()), "forget names no section"),
    (replace(REVISE, kbids=()), "revise names no section"),
    (replace(FORGET, docid="A"), "docid is 'A', which is no docid"),
    (replace(FORGET, text_keys=("x",)), "text_keys holds 'x', expected a salt, $ and 64 hex digits"),
    (replace(REVISE, docid="guide"), "revise has no docid"),
    (replace(FORGET, kind="retire", text_keys=()), "retire names no document"),
    (replace(FORGET, kind="retire", docid="guide"), "retire has no text_keys"),
    (replace(FORGET, successor=NEW), "a successor belongs to revise, and to nothing else"),
    (replace(REVISE, successor=""), "a successor belongs to revise, and to nothing else"),
    (replace(REVISE, successor="x"), "successor is 'x', which is no kbid"),
    (replace(REVISE, successor=OLD), "a section cannot succeed itself"),
    (replace(FORGET, until=TIME), f"until is '{TIME}', expected an instant, and only for valid-until"),
    (replace(FORGET, kind="valid-until", until="soon", text_keys=()), "until is 'soon', expected an instant"),
]


@pytest.mark.parametrize(("event", "message"), INVALID)
def test_what_could_not_be_read_again_is_not_written(event: Event, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        encode_event(event)
    assert caught.value.message.startswith(f"event {event.id!r}: {message}")


def test_half_a_character_pair_is_not_written() -> None:
    with pytest.raises(InvalidArgumentError, match="reason holds half a character pair"):
        encode_event(replace(FORGET, reason="\ud800"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"actor":"user",', "", "actor is missing"),
        ('"kind":"forget"', '"kind":"x-note"', "kind is 'x-note', expected one of"),
        ('"kind":"forget"', '"kind":"forget","note":"x"', "unknown key 'note'"),
        ('"kind":"forget"', '"kind":1', "kind is not a string"),
        (f'"kbids":["{OLD}"]', '"kbids":"x"', "kbids is not a list"),
        (f'"kbids":["{OLD}"]', '"kbids":[1]', "kbids holds something else than strings"),
        ('"reason"', '"docid":"","reason"', "not written as kbdb writes it"),
        ('"reason"', ' "reason"', "not written as kbdb writes it"),
        ("“", "\\u201c", "not written as kbdb writes it"),
        ('"kind":"forget"', '"kind":"forget","kind":"forget"', "not written as kbdb writes it"),
        ("“", "\\ud800", "reason holds half a character pair"),
        ("{", "", "not JSON"),
        ("{", "\ufeff{", "not JSON"),
    ],
)
def test_a_damaged_line_says_what_is_wrong_and_where(old: str, new: str, message: str) -> None:
    damaged = GOLDEN.replace(old.encode(), new.encode(), 1)
    assert damaged != GOLDEN
    with pytest.raises(CorruptError) as caught:
        decode_events(encode_event(REVISE) + damaged, PATH)
    assert caught.value.message.startswith(f"{PATH}: line 2: {message}")


@pytest.mark.parametrize(
    "line", [b"\n", b"[]\n", b"1\n", b"[" * 100_000 + b"\n", b"9" * 5000 + b"\n", b"\xff\n", GOLDEN[:-1] + b"\r\n"]
)
def test_a_line_that_is_no_event_is_corrupt(line: bytes) -> None:
    with pytest.raises(CorruptError, match="line 1: "):
        decode_events(line, PATH)


@given(st.integers(1, len(GOLDEN) - 1))
def test_an_append_that_was_cut_off_is_told_with_its_place(length: int) -> None:
    whole = encode_event(REVISE)
    with pytest.raises(CorruptError) as caught:
        decode_events(whole + GOLDEN[:length], PATH)
    assert caught.value.message == f"{PATH}: line 2, from offset {len(whole)}, does not end"


@given(st.integers(0), st.binary(min_size=1, max_size=2))
def test_a_mutated_line_is_refused_or_another_valid_event(place: int, inserted: bytes) -> None:
    at = place % len(GOLDEN)
    text = GOLDEN[:at] + inserted + GOLDEN[at + 1 :]
    try:
        events = decode_events(text, PATH)
    except CorruptError:
        return
    assert b"".join(encode_event(event) for event in events) == text


def test_event_ids_sort_by_time_and_differ() -> None:
    earlier, later = "2026-01-31T12:00:00.001000Z", "2026-01-31T12:00:00.002000Z"
    assert new_event_id(earlier) < new_event_id(later)
    assert new_event_id(later) != new_event_id(later)


def test_an_event_goes_to_its_writers_file_of_the_month() -> None:
    assert event_file("w0w0w0w0w0", TIME) == "w0w0w0w0w0-2026-01.jsonl"
    assert is_event_file("w0w0w0w0w0-2026-01.jsonl")


@pytest.mark.parametrize(
    "name",
    ["w0w0w0w0w0-2026-13.jsonl", "w0w0w0w0w0-2026-01.jsonl.tmp", "-2026-01.jsonl", "W0W0-2026-01.jsonl", ".DS_Store"],
)
def test_other_files_are_no_event_files(name: str) -> None:
    assert not is_event_file(name)
