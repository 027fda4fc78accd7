"""kbdb.setup.jsonc_edit: one member in, one member out, and not a byte of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from settings_texts import ENTRIES, JSON_VALUES, NAMES, jsonc

from kbdb.setup.fault import TextFault
from kbdb.setup.jsonc import COMMENT, parse
from kbdb.setup.jsonc_edit import put, read, snippet, take_out

PATH = ("mcpServers", "kbdb")
ENTRY: dict[str, Any] = {"command": "/bin/kbdb", "args": ["mcp"]}


@st.composite
def documents(draw: st.DrawFn, ours: Any = None) -> tuple[str, dict[str, Any]]:
    """A text and what it holds: other settings, and servers, ours among them where an entry is given."""
    held = draw(st.dictionaries(NAMES, JSON_VALUES, max_size=3))
    if ours is not None or draw(st.booleans()):
        servers = draw(st.dictionaries(NAMES, JSON_VALUES, max_size=2))
        if ours is not None:
            at = draw(st.integers(0, len(servers)))
            names = [*list(servers)[:at], "kbdb", *list(servers)[at:]]
            servers = {name: ours if name == "kbdb" else servers[name] for name in names}
        held["mcpServers"] = servers
        held = {name: held[name] for name in draw(st.permutations(list(held)))}
    return draw(jsonc(held)), held


def comments(text: str) -> list[str]:
    """The comments of a text; those in strings count as well, on both sides of a comparison."""
    return sorted(found[0].rstrip() for found in COMMENT.finditer(text))


@given(documents(), ENTRIES)
def test_put_adds_the_entry_and_leaves_the_rest(document: tuple[str, dict[str, Any]], entry: dict[str, Any]) -> None:
    text, held = document
    new = put(text, PATH, entry)
    assert read(new) == {**held, "mcpServers": {**held.get("mcpServers", {}), "kbdb": entry}}
    if held != {} and held.get("mcpServers") != {}:
        kept = iter(new)
        assert all(letter in kept for letter in text), "a letter of the old text is gone"


@given(documents(), ENTRIES)
def test_taking_out_what_was_put_in_gives_the_same_bytes(
    document: tuple[str, dict[str, Any]], entry: dict[str, Any]
) -> None:
    text, held = document
    back = take_out(put(text, PATH, entry), PATH)
    if held == {} or held.get("mcpServers") == {}:
        assert {**read(back), "mcpServers": {}} == {**held, "mcpServers": {}}
    else:
        assert back == text


@given(st.data(), ENTRIES)
def test_take_out_takes_only_the_entry(data: st.DataObject, entry: dict[str, Any]) -> None:
    text, held = data.draw(documents(ours=entry))
    new = take_out(text, PATH)
    others = {name: value for name, value in held["mcpServers"].items() if name != "kbdb"}
    rest = {name: value for name, value in held.items() if name != "mcpServers"}
    assert {"mcpServers": {}, **read(new)} == {**rest, "mcpServers": others}


@given(st.data(), ENTRIES, JSON_VALUES)
def test_a_value_is_replaced_where_it_stands(data: st.DataObject, entry: dict[str, Any], value: object) -> None:
    text, held = data.draw(documents(ours=entry))
    new = put(text, (*PATH, "command"), value)
    servers = held["mcpServers"]
    assert read(new) == {**held, "mcpServers": {**servers, "kbdb": {**entry, "command": value}}}
    assert list(read(new)["mcpServers"]) == list(servers)


@given(documents(), ENTRIES)
def test_putting_twice_changes_nothing_the_second_time(
    document: tuple[str, dict[str, Any]], entry: dict[str, Any]
) -> None:
    new = put(document[0], PATH, entry)
    assert read(put(new, PATH, entry)) == read(new)


@given(documents())
def test_no_comment_is_lost(document: tuple[str, dict[str, Any]]) -> None:
    text, held = document
    assume("/" not in json.dumps(held))
    new = put(text, PATH, ENTRY | {"command": "kbdb"})
    assert comments(new) == comments(text)
    assert comments(take_out(new, PATH)) == comments(text)


@pytest.mark.parametrize("text", ["", "\n", "// only this\n", "// only this"])
def test_a_text_without_an_object_gets_one(text: str) -> None:
    new = put(text, PATH, ENTRY)
    assert new.startswith(text)
    assert read(new) == {"mcpServers": {"kbdb": ENTRY}}
    assert new.endswith("}\n")


EXAMPLES = {
    "indented by four": (
        """{
    "a": 1,
    "mcpServers": {
        "x": {}
    }
}
""",
        """{
    "a": 1,
    "mcpServers": {
        "x": {},
        "kbdb": {
            "command": "/bin/kbdb",
            "args": ["mcp"]
        }
    }
}
""",
    ),
    "tabs": (
        """{
\t"a": 1
}""",
        """{
\t"a": 1,
\t"mcpServers": {
\t\t"kbdb": {
\t\t\t"command": "/bin/kbdb",
\t\t\t"args": ["mcp"]
\t\t}
\t}
}""",
    ),
    "one line": ('{"a":1}', '{"a":1, "mcpServers":{"kbdb":{"command":"/bin/kbdb","args":["mcp"]}}}'),
    "one line, more on it": (
        '{"a":1,"b":2}',
        '{"a":1,"b":2,"mcpServers":{"kbdb":{"command":"/bin/kbdb","args":["mcp"]}}}',
    ),
    "a comment behind the last": (
        """{
  "mcpServers": { // here
    "x": 1 // one
  }
}""",
        """{
  "mcpServers": { // here
    "x": 1, // one
    "kbdb": {
      "command": "/bin/kbdb",
      "args": ["mcp"]
    }
  }
}""",
    ),
    "a trailing comma": (
        """{
  "mcpServers": {
    "x": 1, // one
    // two
  },
}""",
        """{
  "mcpServers": {
    "x": 1, // one
    "kbdb": {
      "command": "/bin/kbdb",
      "args": ["mcp"]
    },
    // two
  },
}""",
    ),
    "Windows line ends": (
        '{\r\n  "a": 1\r\n}\r\n',
        """{
  "a": 1,
  "mcpServers": {
    "kbdb": {
      "command": "/bin/kbdb",
      "args": ["mcp"]
    }
  }
}
""".replace("\n", "\r\n"),
    ),
    "nothing in it": (
        "{}",
        """{
  "mcpServers": {
    "kbdb": {
      "command": "/bin/kbdb",
      "args": ["mcp"]
    }
  }
}""",
    ),
    "a comment alone in it": (
        """{
  // servers go here
}
""",
        """{
  // servers go here
  "mcpServers": {
    "kbdb": {
      "command": "/bin/kbdb",
      "args": ["mcp"]
    }
  }
}
""",
    ),
}


@pytest.mark.parametrize(("text", "wanted"), EXAMPLES.values(), ids=EXAMPLES)
def test_an_entry_looks_like_the_file_around_it(text: str, wanted: str) -> None:
    assert put(text, PATH, ENTRY) == wanted
    assert take_out(wanted, PATH) == text


def test_a_comment_on_the_line_of_the_entry_stays_on_it() -> None:
    text = '{\n  "kbdb": {}, // ours\n  "b": 1 // theirs\n}'
    assert take_out(text, ("kbdb",)) == '{\n   // ours\n  "b": 1 // theirs\n}'


def test_what_follows_on_the_line_of_an_entry_does_not_get_into_a_comment() -> None:
    assert take_out('{// c\n"kbdb": {}}', ("kbdb",)) == "{// c\n}"
    assert take_out('{"a": 1, // c\r\n"kbdb": {}, "b": 2}', ("kbdb",)) == '{"a": 1, // c\r\n "b": 2}'


def test_an_entry_that_stands_twice_is_not_guessed_at() -> None:
    text = '{\n  "mcpServers": {},\n  "mcpServers": {}\n}'
    with pytest.raises(TextFault, match=r"line 3, column 3: 'mcpServers' stands here a second time"):
        put(text, PATH, ENTRY)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[]", "line 1, column 1: the file must hold an object"),
        ('{"mcpServers": []}', "line 1, column 16: mcpServers must be an object"),
        ('{"mcpServers": null}', "line 1, column 16: mcpServers must be an object"),
    ],
)
def test_what_is_no_object_is_told(text: str, what: str) -> None:
    with pytest.raises(TextFault, match=what):
        put(text, PATH, ENTRY)


@pytest.mark.parametrize("text", ["", "{}", '{"mcpServers": {}}'])
def test_what_is_not_there_cannot_be_taken_out(text: str) -> None:
    with pytest.raises(KeyError):
        take_out(text, PATH)


@given(ENTRIES)
def test_a_snippet_is_strict_json(entry: dict[str, Any]) -> None:
    assert json.loads(snippet(PATH, entry)) == {"mcpServers": {"kbdb": entry}}
    assert parse(snippet(PATH, entry)) is not None
