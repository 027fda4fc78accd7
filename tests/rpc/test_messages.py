"""kbdb.rpc.messages: what is said is read back, and nothing else is taken for a message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbdb.rpc.codes import INVALID_REQUEST, MAX_DEPTH, PARSE_ERROR
from kbdb.rpc.messages import BadMessageError, Failure, Message, Notification, Request, Result, decode, encode

TEXTS = st.text()
IDS = st.integers() | TEXTS
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
PARAMS = st.dictionaries(TEXTS, VALUES, max_size=4)
MESSAGES = (
    st.builds(Request, IDS, TEXTS, PARAMS)
    | st.builds(Notification, TEXTS, PARAMS)
    | st.builds(Result, IDS, VALUES)
    | st.builds(Failure, st.none() | IDS, st.integers(), TEXTS, st.none() | PARAMS)
)


def _fault_of(line: bytes) -> BadMessageError | None:
    try:
        decode(line)
    except BadMessageError as error:
        return error
    return None


@given(MESSAGES)
@example(Request(1, "learn", {"paths": ["/caf\udce9.md"]}))
@example(Result("a", "line\nbreak\u2028\x00"))
def test_a_message_is_read_as_it_was_said(message: Message) -> None:
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line[:-1]) == message


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_are_a_message_or_a_bad_one(data: bytes) -> None:
    error = _fault_of(data)
    if error:
        assert error.number in (PARSE_ERROR, INVALID_REQUEST)
        assert decode(encode(error.as_failure())[:-1]) == Failure(error.id, error.number, error.message)


@given(MESSAGES, st.data())
def test_a_damaged_message_is_a_message_or_a_bad_one(message: Message, data: st.DataObject) -> None:
    line = bytearray(encode(message)[:-1])
    for _ in range(data.draw(st.integers(1, 3))):
        line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.integers(0, 255))
    error = _fault_of(bytes(line))
    assert error is None or error.number in (PARSE_ERROR, INVALID_REQUEST)


@given(VALUES)
def test_any_json_is_a_message_or_a_bad_one(value: Any) -> None:
    with pytest.raises(BadMessageError):
        decode(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", "not JSON"),
        (b"hello", "not JSON"),
        (b'{"jsonrpc": "2.0"', "not JSON"),
        (b'{"jsonrpc": "2.0"} {}', "not JSON"),
        (b'{"id": 1, "x": NaN}', "NaN is no JSON number"),
        (b'{"id": 1, "x": -Infinity}', "Infinity is no JSON number"),
        (b'{"id": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"method": "\xff"}', "not UTF-8 at byte 12"),
        (b'{"method": "\xed\xa0\x80"}', "not UTF-8 at byte 12"),
        (b"\xef\xbb\xbf{}", "not JSON"),
    ],
)
def test_what_is_not_json_is_a_parse_error(line: bytes, says: str) -> None:
    with pytest.raises(BadMessageError, match=says) as caught:
        decode(line)
    assert caught.value.number == PARSE_ERROR
    assert caught.value.id is None


REQUEST = {"jsonrpc": "2.0", "id": 7, "method": "search", "params": {"query": "x"}}


@pytest.mark.parametrize(
    ("value", "says", "id"),
    [
        ([REQUEST], "batches", None),
        ("text", "JSON object", None),
        (None, "JSON object", None),
        ({}, "jsonrpc", None),
        (REQUEST | {"jsonrpc": "1.0"}, "jsonrpc", 7),
        (REQUEST | {"jsonrpc": 2.0}, "jsonrpc", 7),
        (REQUEST | {"id": None}, '"id"', None),
        (REQUEST | {"id": True}, '"id"', None),
        (REQUEST | {"id": 1.0}, '"id"', None),
        (REQUEST | {"id": [1]}, '"id"', None),
        (REQUEST | {"method": 1}, '"method"', 7),
        (REQUEST | {"params": ["x"]}, '"params"', 7),
        (REQUEST | {"params": None}, '"params"', 7),
        (REQUEST | {"result": 1}, "not both", 7),
        ({"jsonrpc": "2.0", "id": 7}, "a message has", 7),
        ({"jsonrpc": "2.0", "result": 1}, "a message has", None),
        ({"jsonrpc": "2.0", "id": 7, "result": 1, "error": {"code": 1, "message": ""}}, "a message has", 7),
        ({"jsonrpc": "2.0", "id": 7, "error": "no"}, '"error"', 7),
        ({"jsonrpc": "2.0", "id": 7, "error": {"code": True, "message": ""}}, "an error has", 7),
        ({"jsonrpc": "2.0", "id": 7, "error": {"code": 1}}, "an error has", 7),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(value: Any, says: str, id: int | None) -> None:
    with pytest.raises(BadMessageError, match=says) as caught:
        decode(json.dumps(value).encode())
    assert caught.value.number == INVALID_REQUEST
    assert caught.value.id == id


def test_params_may_be_left_out_and_unknown_names_are_passed_over() -> None:
    assert decode(b'{"jsonrpc": "2.0", "id": "a", "method": "ping", "trace": 1}') == Request("a", "ping", {})
    assert decode(b' {"jsonrpc": "2.0", "method": "cancel"}\r') == Notification("cancel", {})


def test_of_a_name_given_twice_the_last_holds() -> None:
    assert decode(b'{"jsonrpc": "2.0", "id": 1, "id": 2, "result": 0}') == Result(2, 0)


def test_half_a_surrogate_pair_from_a_file_name_survives() -> None:
    assert b"\\udcff" in encode(Notification("learn", {"paths": ["/\udcff é"]}))
    assert "é".encode() in encode(Notification("learn", {"paths": ["/é"]}))


def _nested(levels: int, opening: str, closing: str) -> bytes:
    return f'{{"jsonrpc":"2.0","id":1,"result":{opening * levels}{closing * levels}}}'.encode()


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":[', "]}")])
def test_nesting_ends_at_the_limit(opening: str, closing: str) -> None:
    per = opening.count("[") + opening.count("{")
    fits = (MAX_DEPTH - 1) // per
    assert isinstance(decode(_nested(fits, opening, closing)), Result)
    with pytest.raises(BadMessageError, match="nested deeper than 100 levels") as caught:
        decode(_nested(fits + 1, opening, closing))
    assert caught.value.number == PARSE_ERROR


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, _nested(100_000, "[", "]")])
def test_a_hundred_thousand_levels_are_refused_without_a_crash(line: bytes) -> None:
    with pytest.raises(BadMessageError):
        decode(line)


def test_many_brackets_side_by_side_are_not_deep() -> None:
    value = [[{"tags": ["[[[[", "{{{{"]}] for _ in range(1000)]
    assert decode(encode(Result(1, value))[:-1]) == Result(1, value)


def test_numbers_that_json_has_not_are_never_said() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(Result(1, float("nan")))
