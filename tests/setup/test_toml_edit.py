"""kbdb.setup.toml_edit: one entry in, one entry out, and not a byte of the rest."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from settings_texts import ENTRIES, toml

from kbdb.setup.fault import TextFault
from kbdb.setup.toml_edit import put, read, snippet, take_out

PATH = ("mcp_servers", "kbdb")
ENTRY: dict[str, Any] = {"command": "/bin/kbdb", "args": ["mcp"]}
BLOCK = '[mcp_servers.kbdb]\ncommand = "/bin/kbdb"\nargs = ["mcp"]\n'


def with_entry(held: dict[str, Any], entry: Any) -> dict[str, Any]:
    return {**held, "mcp_servers": {**held.get("mcp_servers", {}), "kbdb": entry}}


@given(toml(), ENTRIES)
def test_put_adds_the_entry_and_leaves_the_rest(text: str, entry: dict[str, Any]) -> None:
    new = put(text, PATH, entry)
    assert tomllib.loads(new) == with_entry(tomllib.loads(text), entry)
    kept = iter(new)
    assert all(letter in kept for letter in text), "a letter of the old text is gone"


@given(toml(), ENTRIES)
def test_taking_out_what_was_put_in_gives_the_same_bytes(text: str, entry: dict[str, Any]) -> None:
    assert take_out(put(text, PATH, entry), PATH) == text


@given(toml(), ENTRIES, ENTRIES)
def test_values_are_replaced_where_they_stand(text: str, entry: dict[str, Any], other: dict[str, Any]) -> None:
    new = put(text, PATH, entry)
    for name, value in other.items():
        new = put(new, (*PATH, name), value)
    assert tomllib.loads(new) == with_entry(tomllib.loads(text), {**entry, **other})
    assert take_out(new, PATH) == text


@given(toml(), ENTRIES, ENTRIES)
def test_a_whole_entry_is_replaced(text: str, entry: dict[str, Any], other: dict[str, Any]) -> None:
    assert take_out(put(put(text, PATH, entry), PATH, other), PATH) == text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_are_those_of_the_file(newline: str) -> None:
    text = f'model = "x"{newline}'
    new = put(text, PATH, ENTRY)
    assert new == text + newline + BLOCK.replace("\n", newline)


def test_a_file_without_a_last_line_break_stays_without_one() -> None:
    new = put('model = "x"', PATH, ENTRY)
    assert new == f'model = "x"\n\n{BLOCK[:-1]}'


FORMS = {
    "a table": BLOCK,
    "a table with more in it": f'{BLOCK}startup_timeout_sec = 20\n\n[mcp_servers.kbdb.env]\nA = "b"\n',
    "only tables below": '[mcp_servers.kbdb.env]\nA = "b"\n',
    "in a table of servers": '[mcp_servers]\nkbdb = { command = "/bin/kbdb", args = ["mcp"] } # ours\n',
    "dotted": '[mcp_servers]\nkbdb.command = "/bin/kbdb"\nkbdb.args = ["mcp"]\n',
    "dotted from the root": 'mcp_servers.kbdb.command = "/bin/kbdb"\n',
    "inline, alone": 'mcp_servers = { kbdb = { command = "x" } }\n',
    "inline, first": 'mcp_servers = { kbdb = { command = "x" }, b = { command = "y" } }\n',
    "inline, last": 'mcp_servers = { b = { command = "y" }, \'kbdb\' = { command = "x", args = ["}"] } }\n',
    "quoted": '["mcp_servers" . "kbdb"]\n"command" = "x"\n',
}


@pytest.mark.parametrize("before", ["", "a = 1\n", "a = 1\n\n# about servers\n"])
@pytest.mark.parametrize("after", ["", "\n", "\n[other]\nb = 2\n", "# the end"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_an_entry_is_taken_out_and_changed(before: str, form: str, after: str) -> None:
    text = before + form + after
    held = tomllib.loads(text)
    left = take_out(text, PATH)
    servers = {name: value for name, value in held["mcp_servers"].items() if name != "kbdb"}
    rest = {name: value for name, value in held.items() if name != "mcp_servers"}
    assert {"mcp_servers": {}, **tomllib.loads(left)} == {**rest, "mcp_servers": servers}
    assert all(line in left for line in ["# about servers", "# the end", "b = 2"] if line in text)
    changed = put(put(text, (*PATH, "command"), "/new"), (*PATH, "args"), ["mcp", "--db", "/x y"])
    wanted = {**held["mcp_servers"]["kbdb"], "command": "/new", "args": ["mcp", "--db", "/x y"]}
    assert tomllib.loads(changed) == with_entry(held, wanted)


def test_a_blank_line_between_two_tables_stays_one() -> None:
    text = f"a = 1\n\n{BLOCK}\n[other]\nb = 2\n"
    assert take_out(text, PATH) == "a = 1\n\n[other]\nb = 2\n"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a = \n", 1, 5), ("a = 1\nb = [1\n", 3, 1), ("a = 1\r\nb == 2\r\n", 2, 4), ("[a]\n[a]\n", 2, 3), ("a", 1, 2)],
)
def test_a_fault_is_told_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(TextFault) as caught:
        read(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "(at" not in caught.value.what


@pytest.mark.parametrize("text", ["mcp_servers = 1\n", "x = 2\nmcp_servers = []\n", "[[mcp_servers]]\na = 1\n"])
def test_servers_that_are_no_table_are_told(text: str) -> None:
    with pytest.raises(TextFault, match="mcp_servers must be a table"):
        put(text, PATH, ENTRY)


@pytest.mark.parametrize("text", ["", "[mcp_servers]\n", "mcp_servers = {}\n"])
def test_what_is_not_there_cannot_be_taken_out(text: str) -> None:
    with pytest.raises(KeyError):
        take_out(text, PATH)


@given(ENTRIES)
def test_a_snippet_is_a_whole_file(entry: dict[str, Any]) -> None:
    assert tomllib.loads(snippet(PATH, entry)) == {"mcp_servers": {"kbdb": entry}}


@pytest.mark.parametrize("value", ["\x7f", "\x00\n\t", 'C:\\Users\\"x"', "ü\u2028😀"])
def test_any_text_can_be_a_value(value: str) -> None:
    assert tomllib.loads(put("", ("a",), {"b": value})) == {"a": {"b": value}}
