"""What is a message, what is wrong with a line that is none, and what is written is always one line of ASCII."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.mcp.codes import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from kbdb.mcp.messages import BadMessageError, Notification, Request, Response, decode, encode

BAD = {
    "nothing but a word": (b"hello", PARSE_ERROR, None),
    "half an object": (b'{"jsonrpc":"2.0"', PARSE_ERROR, None),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE_ERROR, None),
    "half a pair in bytes": (b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', PARSE_ERROR, None),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', PARSE_ERROR, None),
    "no number": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', PARSE_ERROR, None),
    "infinity": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', PARSE_ERROR, None),
    "an integer of many digits": (b'{"id":' + b"9" * 5000 + b"}", PARSE_ERROR, None),
    "lists in lists": (b"[" * 100_000, PARSE_ERROR, None),
    "objects in objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, PARSE_ERROR, None),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', INVALID_REQUEST, None),
    "an empty batch": (b"[]", INVALID_REQUEST, None),
    "a number": (b"7", INVALID_REQUEST, None),
    "null": (b"null", INVALID_REQUEST, None),
    "no version": (b'{"id":1,"method":"ping"}', INVALID_REQUEST, 1),
    "another version": (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', INVALID_REQUEST, "a"),
    "an id that is null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
    "an id that is true": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID_REQUEST, None),
    "an id with a fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, None),
    "an id that is a float": (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', INVALID_REQUEST, None),
    "an id that is an object": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID_REQUEST, None),
    "no method": (b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, 1),
    "a method that is a number": (b'{"jsonrpc":"2.0","id":1,"method":5}', INVALID_REQUEST, 1),
    "a list of parameters": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', INVALID_PARAMS, 1),
    "text as parameters": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', INVALID_PARAMS, 1),
    "half a pair": (b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"\\ud83d"}}', INVALID_PARAMS, 2),
    "half a pair in a name": (b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"\\uDC00":1}}', INVALID_PARAMS, 2),
}


@pytest.mark.parametrize(("line", "code", "id"), BAD.values(), ids=BAD)
def test_a_line_that_is_no_message_is_refused_with_its_id_where_that_can_be_read(
    line: bytes, code: int, id: int | str | None
) -> None:
    with pytest.raises(BadMessageError) as caught:
        decode(line)
    assert (code, id) == (caught.value.code, caught.value.id)
    assert str(caught.value)


@pytest.mark.parametrize("id", [0, -1, 2**70, "", "0", "\U0001f600", "a\nb"])
def test_any_string_and_any_integer_is_an_id(id: int | str) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}).encode()
    assert decode(line) == Request(id, "ping", {})


def test_a_pair_in_escapes_is_text() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"\\ud83d\\ude00"}}'
    assert decode(line) == Request(1, "m", {"x": "\U0001f600"})


def test_parameters_may_be_null() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}') == Request(1, "ping", {})


def test_a_message_without_an_id_is_a_notification_whatever_its_parameters_are() -> None:
    assert decode(b'{"jsonrpc":"2.0","method":"x","params":[]}') == Notification("x", {})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', Response(1, {}, None)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}', Response(1, None, "no")),
        (b'{"jsonrpc":"2.0","id":1,"error":7}', Response(1, None, "no reason given")),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}', None),
        (b'{"jsonrpc":"2.0","result":{}}', None),
    ],
)
def test_an_answer_is_taken_or_passed_over_and_never_refused(line: bytes, message: Response | None) -> None:
    assert decode(line) == message


VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_what_is_written_is_one_line_of_ascii_that_reads_the_same(params: dict[str, Any]) -> None:
    line = encode({"id": 1, "method": "m", "params": params})
    assert line.isascii()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}


def test_half_a_pair_can_be_written() -> None:
    assert json.loads(encode({"id": "\ud83d", "result": {}}))["id"] == "\ud83d"
