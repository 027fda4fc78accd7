"""kbdb.setup.options: what an entry tells ``kbdb mcp`` is kept, and the database that is told is the one it uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.mcp.command import parsed
from kbdb.setup.clients import client
from kbdb.setup.options import merged
from kbdb.setup.server import Server

PLAIN = Server("/opt/bin/kbdb", ("mcp",), "the nearest", Path("/here/.kbdb"))
PINNED = Server("/opt/bin/kbdb", ("mcp", "--db", "/here"), "/here/.kbdb", Path("/here/.kbdb"))
NAMED = PINNED._replace(named=True)


def entry(*words: str, **more: Any) -> dict[str, Any]:
    return {"command": words[0], "args": list(words[1:]), **more}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (("/old/kbdb", "mcp", "--tools", "all", "--read-only"), ("mcp", "--tools", "all", "--read-only")),
        (("/old/kbdb", "mcp", "--tools=all"), ("mcp", "--tools=all")),
        (("/old/kbdb", "--db", "/x", "mcp", "--read-only"), ("mcp", "--db", "/x", "--read-only")),
        (("/opt/bin/kbdb", "--db=/x", "mcp", "--read-only"), ("--db=/x", "mcp", "--read-only")),
        (("python3", "-m", "kbdb", "mcp", "--read-only"), ("mcp", "--read-only")),
        (("uv", "--directory", "/src/kbdb", "run", "kbdb", "mcp", "--read-only"), ("mcp", "--read-only")),
        (("uvx", "kbdb@latest", "mcp", "--read-only"), ("mcp", "--read-only")),
        (("C:\\bin\\KBDB.exe", "mcp", "--db", "mcp", "--read-only"), ("mcp", "--db", "mcp", "--read-only")),
        (("docker", "run", "image", "mcp", "--read-only"), ("mcp", "--read-only")),
        (("notes", "run", "--db", "/x", "mcp", "--read-only"), ("mcp", "--db", "/x", "--read-only")),
        (("sh", "-c", "cd /x && exec kbdb mcp --read-only"), ("mcp", "--read-only")),
        (("sh", "-c", "exec kbdb mcp --db '/my notes' --tools all"), ("mcp", "--db", "/my notes", "--tools", "all")),
        (("sh", "-c", "kbdb mcp --read-only --tools 'all"), ("mcp", "--read-only")),
        (("kbdb mcp --read-only",), ("mcp", "--read-only")),
        (("kbdb", "mcp --read-only"), ("mcp", "--read-only")),
        (("kbdb", "mcp", "--read-only=true"), ("mcp", "--read-only")),
        (("notes.sh", "--read-only"), ("mcp", "--read-only")),
        (("/opt/bin/kbdb",), ("mcp",)),
        (("/opt/bin/kbdb", "serve"), ("mcp",)),
    ],
)
def test_options_are_found_wherever_they_stand(words: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    assert merged(client("claude-code"), entry(*words), PLAIN).server.arguments == arguments


@pytest.mark.parametrize(
    ("server", "arguments", "kept", "root"),
    [
        (PLAIN, ("mcp", "--read-only", "--db", "/x"), ("--read-only", "--db /x"), "/x/.kbdb"),
        (PINNED, ("mcp", "--read-only", "--db", "/x"), ("--read-only", "--db /x"), "/x/.kbdb"),
        (NAMED, ("mcp", "--db", "/here", "--read-only"), ("--read-only",), "/here/.kbdb"),
    ],
)
def test_a_database_stays_unless_another_is_named_now(
    server: Server, arguments: tuple[str, ...], kept: tuple[str, ...], root: str
) -> None:
    found = merged(client("claude-code"), entry("/old/kbdb", "mcp", "--read-only", "--db", "/x"), server)
    assert (found.server.arguments, found.kept) == (arguments, kept)
    assert (found.server.database, found.server.root) == (root, Path(root))


def test_a_database_that_the_server_names_anyway_is_not_told_as_kept() -> None:
    for server in (PINNED, NAMED):
        found = merged(client("cursor"), entry("/opt/bin/kbdb", "mcp", "--db", "/here"), server)
        assert (found.server, found.kept) == (server, ())


def test_every_option_of_mcp_stays() -> None:
    words = ("mcp", "--json", "--read-only", "--tools", "core", "--db=/x")
    assert merged(client("cursor"), entry("/old/kbdb", *words), PINNED).server.arguments == words


def test_words_that_mcp_does_not_take_are_told_and_go() -> None:
    found = merged(client("cursor"), entry("kbdb", "mcp", "--fast", "--tools", "none", "--db", "/x", "--db"), PINNED)
    assert found.server.arguments == ("mcp", "--db", "/x")
    assert found.left_out == ("--fast", "--tools", "none", "--db")


def test_arguments_in_one_word_are_read_too() -> None:
    there = {"command": "kbdb", "args": "mcp --tools all"}
    assert merged(client("cursor"), there, PLAIN).server.arguments == ("mcp", "--tools", "all")


@pytest.mark.parametrize("table", ["env", "environment"])
@pytest.mark.parametrize("server", [PLAIN, PINNED])
def test_the_variable_of_an_entry_says_the_database_and_no_option_overrules_it(table: str, server: Server) -> None:
    there = entry("/opt/bin/kbdb", "mcp", **{table: {"KBDB_DB": "/x"}})
    found = merged(client("cursor"), there, server).server
    assert found.arguments == ("mcp",)
    assert (found.database, found.root) == ("/x/.kbdb, by KBDB_DB in the entry", Path("/x/.kbdb"))
    assert merged(client("cursor"), there, NAMED).server == NAMED
    there["args"] += ["--db", "/y"]
    assert merged(client("cursor"), there, server).server.root == Path("/y/.kbdb")


@pytest.mark.parametrize("table", [None, [], {}, {"KBDB_DB": ""}, {"KBDB_DB": 1}])
def test_a_variable_that_says_nothing_changes_nothing(table: Any) -> None:
    assert merged(client("cursor"), entry("/opt/bin/kbdb", "mcp", env=table), PINNED).server == PINNED


def test_a_path_that_the_program_makes_out_is_told_as_it_is_written() -> None:
    for path in ("${workspaceFolder}", "notes"):
        found = merged(client("vscode"), entry("kbdb", "mcp", "--db", path), PINNED)
        assert found.server.arguments == ("mcp", "--db", path)
        assert found.server.database.startswith(f"{path}, ")
        assert found.server.root is None


def test_the_folder_of_an_entry_says_which_database_is_the_nearest(tmp_path: Path) -> None:
    (tmp_path / ".kbdb").mkdir()
    (tmp_path / "sub").mkdir()
    there = entry("/opt/bin/kbdb", "mcp", cwd=str(tmp_path / "sub"))
    found = merged(client("gemini"), there, PLAIN).server
    assert found.root == tmp_path.resolve() / ".kbdb"
    assert str(tmp_path / "sub") in found.database
    assert merged(client("gemini"), there, PINNED).server == PINNED
    assert merged(client("gemini"), there | {"cwd": "sub"}, PLAIN).server.root is None


ANY_WORD = st.sampled_from(["kbdb", "mcp", "--db", "--db=", "--db=/x", "/x", "--tools", "all", "core", "--tools=all"])
ANY_WORDS = st.lists(st.one_of(ANY_WORD, st.sampled_from(["--read-only", "-x", ""]), st.text(max_size=5)))


@given(ANY_WORDS, st.sampled_from([PLAIN, PINNED, NAMED]))
def test_what_comes_out_of_any_line_can_be_served_and_nothing_read_only_comes_to_write(
    words: list[str], server: Server
) -> None:
    found = merged(client("codex"), {"command": "/old/kbdb", "args": words}, server).server
    options = parsed(found.arguments[found.arguments.index("mcp") + 1 :])
    assert options is not None
    assert merged(client("codex"), entry(found.command, *found.arguments), server).server == found
    if words[:1] == ["mcp"] and (before := parsed(words[1:])) is not None:
        wanted = before._replace(db=options.db if server.named or before.db is None else before.db)
        assert options == wanted


@given(st.one_of(st.none(), st.integers(), st.text(), st.lists(st.one_of(st.text(), st.integers(), st.none()))))
def test_a_line_of_any_shape_is_taken(arguments: Any) -> None:
    commands: list[Any] = ["kbdb", None, 1, {}, [], ["kbdb", 1]]
    for command in commands:
        assert "mcp" in merged(client("opencode"), {"command": command, "args": arguments}, PLAIN).server.arguments
