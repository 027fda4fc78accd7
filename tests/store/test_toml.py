"""The TOML subset: what is accepted is canonical and means what tomllib says; everything else names its line."""

from __future__ import annotations

import tomllib
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import TomlError
from kbdb.store.toml import dumps, loads

ENGINES = ["kbdb.reference.toml"] + (["kbdb._engine"] if find_spec("kbdb._engine") else [])

GOLDEN = b"""\
format = 1
title = "a \\"quoted\\" \\\\ title\\n\\u0000\\u007F caf\xc3\xa9"
negative = -9223372036854775808
yes = true
no = false
tags = ["a", "b"]
lines = [1, -2]
none = []

[origin]
who = "user"

[empty]

[[sections]]
kbid = "x"

[[sections]]
"""

VALUES = {
    "format": 1,
    "title": 'a "quoted" \\ title\n\x00\x7f café',
    "negative": -(2**63),
    "yes": True,
    "no": False,
    "tags": ["a", "b"],
    "lines": [1, -2],
    "none": [],
    "origin": {"who": "user"},
    "empty": {},
    "sections": [{"kbid": "x"}, {}],
}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
integers = st.integers(-(2**63), 2**63 - 1)
values = texts | integers | st.booleans() | st.lists(texts, max_size=3) | st.lists(integers, max_size=3)
keys = st.text("abcXYZ019_-", min_size=1, max_size=6)
tables = st.dictionaries(keys, values, max_size=4)
documents = st.dictionaries(keys, values | tables | st.lists(tables, min_size=1, max_size=3), max_size=6)

# fmt: off
PIECES = [
    b'"', b"\\", b"\n", b"\n\n", b"[a]", b"[[a]]", b"]", b", ", b" = ", b"a", b"b = 1\n", b"0", b"-", b"9" * 19,
    b"\xc3", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\u001F", b"\\u001f", b"\\u0041", b"\\n",
    b"true", b"\r", b"\t", b" ", b"\x7f", b"\x00", b'c = "', b"d = [", b"#",
]
# fmt: on


@pytest.fixture(params=ENGINES, scope="module")
def scan(request: pytest.FixtureRequest) -> Any:
    return import_module(request.param).scan_toml


def test_writes_each_kind_of_value_in_its_one_way() -> None:
    assert dumps(VALUES) == GOLDEN


def test_reads_what_it_writes(scan: Any) -> None:
    assert scan(GOLDEN) == VALUES


def test_keys_keep_the_order_of_the_text(scan: Any) -> None:
    assert list(scan(b"b = 1\na = 2\n\n[c]\n\n[b2]\n")) == ["b", "a", "c", "b2"]


def test_nothing_is_a_text_without_values(scan: Any) -> None:
    assert (scan(b""), dumps({})) == ({}, b"")


@given(documents)
def test_every_writable_value_reads_back(document: dict[str, object]) -> None:
    text = dumps(document)
    for name in ENGINES:
        assert import_module(name).scan_toml(text) == document
    assert tomllib.loads(text.decode()) == document


@given(documents, st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=3), st.integers(0, 3)), max_size=3))
def test_a_mutated_text_is_refused_or_canonical(
    document: dict[str, object], edits: list[tuple[int, bytes, int]]
) -> None:
    text = bytearray(dumps(document))
    for place, inserted, removed in edits:
        at = place % (len(text) + 1)
        text[at : at + removed] = inserted
    _check(bytes(text))


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
def test_a_text_of_hostile_pieces_is_refused_or_canonical(text: bytes) -> None:
    _check(text)


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_canonical(text: bytes) -> None:
    _check(text)


def _check(text: bytes) -> None:
    """Both engines agree; what they accept is canonical, and tomllib reads the same."""
    outcomes = [_outcome(name, text) for name in ENGINES]
    assert outcomes == [outcomes[0]] * len(ENGINES)
    if isinstance(outcomes[0], dict):
        assert dumps(outcomes[0]) == text
        assert tomllib.loads(text.decode()) == outcomes[0]


def _outcome(name: str, text: bytes) -> object:
    try:
        return import_module(name).scan_toml(text)
    except TomlError as error:
        return error.message


BLANK = "a blank line stands only before a table header, and only one"
KEY = "expected a key of letters, digits, _ or -, or a table header"
TABLE = "expected a table header: [name] or [[name]]"
EQUALS = "expected ' = ' after the key"
VALUE = "expected a value: a string, an integer, true, false or an array"
LINE_END = "expected the end of the line"
ZERO = "expected an integer without leading zeros, and 0 without a sign"
RANGE = "expected an integer of at most 64 bits"
OPEN = "expected the string's closing quote on the same line"
CONTROL = "expected an escape in place of the control character"
UTF8 = "expected UTF-8 in the string"
ESCAPE = (
    'expected one of the escapes \\" \\\\ \\b \\t \\n \\f \\r, '
    "or \\u00XX with upper-case digits for another control character"
)
KEY_TWICE = "expected another name: this key is there already"
TABLE_TWICE = "expected another name: this table is there already, or its [[items]] do not stand together"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\na = 1\n", f"line 1: {BLANK}"),
        (b"a = 1\n\nb = 1\n", f"line 2: {BLANK}"),
        (b"a = 1\n\n\n[t]\n", f"line 2: {BLANK}"),
        (b"a = 1\n\n", f"line 2: {BLANK}"),
        (b"a = 1\n[t]\n", "line 2: expected a blank line before the table header"),
        (b"# comment\n", f"line 1: {KEY}"),
        (b" a = 1\n", f"line 1: {KEY}"),
        (b'"a" = 1\n', f"line 1: {KEY}"),
        (b"\xef\xbb\xbfa = 1\n", f"line 1: {KEY}"),
        (b"[]\n", f"line 1: {TABLE}"),
        (b"[a.b]\n", f"line 1: {TABLE}"),
        (b"[[a]\n", f"line 1: {TABLE}"),
        (b"[a]\r\n", f"line 1: {LINE_END}"),
        (b"a=1\n", f"line 1: {EQUALS}"),
        (b"a.b = 1\n", f"line 1: {EQUALS}"),
        (b"a =  1\n", f"line 1: {VALUE}"),
        (b"a = 'x'\n", f"line 1: {VALUE}"),
        (b"a = tru\n", f"line 1: {VALUE}"),
        (b"a = ", f"line 1: {VALUE}"),
        (b"a = 1", f"line 1: {LINE_END}"),
        (b"a = 1 \n", f"line 1: {LINE_END}"),
        (b"a = 1\r\n", f"line 1: {LINE_END}"),
        (b"a = 1.5\n", f"line 1: {LINE_END}"),
        (b"a = 1_0\n", f"line 1: {LINE_END}"),
        (b"a = truely\n", f"line 1: {LINE_END}"),
        (b'a = """x"""\n', f"line 1: {LINE_END}"),
        (b"a = 01\n", f"line 1: {ZERO}"),
        (b"a = -0\n", f"line 1: {ZERO}"),
        (b"a = -\n", "line 1: expected a digit after the minus sign"),
        (b"a = 9223372036854775808\n", f"line 1: {RANGE}"),
        (b"a = -9223372036854775809\n", f"line 1: {RANGE}"),
        (b"a = " + b"9" * 5000 + b"\n", f"line 1: {RANGE}"),
        (b'a = "x\n', f"line 1: {OPEN}"),
        (b'a = "x', f"line 1: {OPEN}"),
        (b'a = "\t"\n', f"line 1: {CONTROL}"),
        (b'a = "\x7f"\n', f"line 1: {CONTROL}"),
        (b'a = "\r"\n', f"line 1: {CONTROL}"),
        (b'a = "\\u0009"\n', f"line 1: {ESCAPE}"),
        (b'a = "\\u0041"\n', f"line 1: {ESCAPE}"),
        (b'a = "\\u001f"\n', f"line 1: {ESCAPE}"),
        (b'a = "\\U0000001F"\n', f"line 1: {ESCAPE}"),
        (b'a = "\\e"\n', f"line 1: {ESCAPE}"),
        (b'a = "\\', f"line 1: {ESCAPE}"),
        (b'a = "\\u00', f"line 1: {ESCAPE}"),
        (b'a = "\xff"\n', f"line 1: {UTF8}"),
        (b'a = "\xc0\x80"\n', f"line 1: {UTF8}"),
        (b'a = "\xed\xa0\x80"\n', f"line 1: {UTF8}"),
        (b'a = "\xf4\x90\x80\x80"\n', f"line 1: {UTF8}"),
        (b'a = "\xe4\xb8', f"line 1: {UTF8}"),
        (b"a = [1,2]\n", "line 1: expected ', ' or ']' in the array"),
        (b"a = [ 1]\n", "line 1: expected a string or an integer in the array"),
        (b"a = [1, ]\n", "line 1: expected a string or an integer in the array"),
        (b"a = [[]]\n", "line 1: expected a string or an integer in the array"),
        (b"a = [true]\n", "line 1: expected a string or an integer in the array"),
        (b'a = [1, "x"]\n', "line 1: expected an array of strings only or of integers only"),
        (b"a = [1", "line 1: expected ', ' or ']' in the array"),
        (b"a = []]\n", f"line 1: {LINE_END}"),
        (b"b = 1\na = 1\na = 2\n", f"line 3: {KEY_TWICE}"),
        (b"[t]\na = 1\na = 2\n", f"line 3: {KEY_TWICE}"),
        (b"a = 1\n\n[a]\n", f"line 3: {TABLE_TWICE}"),
        (b"[a]\n\n[a]\n", f"line 3: {TABLE_TWICE}"),
        (b"[a]\n\n[[a]]\n", f"line 3: {TABLE_TWICE}"),
        (b"[[a]]\n\n[a]\n", f"line 3: {TABLE_TWICE}"),
        (b"[[a]]\n\n[b]\n\n[[a]]\n", f"line 5: {TABLE_TWICE}"),
        (b"".join(b"k%d = 1\n" % i for i in range(65)), "line 65: expected at most 64 keys in one table"),
        (b"[t]\n" + b"".join(b"k%d = 1\n" % i for i in range(65)), "line 66: expected at most 64 keys in one table"),
        (
            b"[t0]\n" + b"".join(b"\n[t%d]\n" % i for i in range(1, 65)),
            "line 129: expected at most 64 keys in one table",
        ),
    ],
)
def test_says_the_line_and_what_was_expected(scan: Any, text: bytes, message: str) -> None:
    with pytest.raises(TomlError) as caught:
        scan(text)
    assert caught.value.message == message


def test_a_key_may_occur_in_two_tables(scan: Any) -> None:
    assert scan(b"[[a]]\nx = 1\n\n[[a]]\nx = 2\n\n[x]\nx = 3\n") == {"a": [{"x": 1}, {"x": 2}], "x": {"x": 3}}


def test_exactly_64_keys_fit(scan: Any) -> None:
    full = {f"k{i}": i for i in range(64)}
    assert scan(dumps({**full, "k63": full})) == {**full, "k63": full}


def test_loads_names_the_file() -> None:
    with pytest.raises(TomlError) as caught:
        loads(b"a = 1\nb\n", "documents/x.toml")
    assert caught.value.message == f"documents/x.toml: line 2: {EQUALS}"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": 1.5}, "a: cannot write float here"),
        ({"a": None}, "a: cannot write NoneType here"),
        ({"a": b"x"}, "a: cannot write bytes here"),
        ({"a": [True]}, "a: cannot write bool here"),
        ({"a": [[1]]}, "a: cannot write list here"),
        ({"a": [1, "x"]}, "a: an array holds strings only or integers only"),
        ({"a": [{}, 1]}, "a: a list holds tables only, or none"),
        ({"a": {"b": {}}}, "b: cannot write dict here"),
        ({"a": 2**63}, "a: 9223372036854775808 is not within 64 bits"),
        ({"a b": 1}, "key 'a b': expected letters, digits, _ or -"),
        ({"t": {"": 1}}, "key '': expected letters, digits, _ or -"),
        ({"a": "\ud800"}, "a string holds '\\ud800', which UTF-8 cannot"),
        ({f"k{i}": i for i in range(65)}, "65 keys in one table; at most 64"),
    ],
)
def test_refuses_to_write_what_it_could_not_read(values: dict[str, object], message: str) -> None:
    with pytest.raises(TomlError) as caught:
        dumps(values)
    assert caught.value.message == message
