"""``kbdb mcp``: its options, what is told when they are wrong, and how little is loaded before the first answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mcp_process import COMMAND, KBDB_MCP, server

from kbdb.mcp.command import Options, parsed

HEAVY = {
    "typer",
    "rich",
    "asyncio",
    "numpy",
    "httpx",
    "pydantic",
    "msgspec",
    "dataclasses",
    "logging",
    "pathlib",
}
HEAVY |= {"socket", "subprocess", "inspect", "tomllib", "hmac", "traceback"}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], Options()),
        (["--db", "x", "--read-only"], Options("x", True)),
        (["--db=x=y", "--tools=all"], Options("x=y", False, "all")),
        (["--tools", "core", "--tools", "all"], Options(tools="all")),
        (["--db"], None),
        (["--db", ""], None),
        (["--db="], None),
        (["--tools", "some"], None),
        (["--read-only=yes"], None),
        (["--help"], None),
        (["--json"], None),
        (["x"], None),
        (["--"], None),
    ],
)
def test_plain_options_are_read_and_all_else_is_left_to_the_command_line(
    words: list[str], options: Options | None
) -> None:
    assert parsed(words) == options


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["mcp", "--db", "a b", "--tools", "all"], "('a b', False, 'all')"),
        (["mcp", "--read-only"], "(None, True, 'core')"),
        (["--db", "x", "mcp"], "('x', False, 'core')"),
        (["mcp", "--json", "--db", "x"], "('x', False, 'core')"),
    ],
)
def test_the_server_gets_the_options_wherever_they_stand(words: list[str], given: str) -> None:
    with server([*KBDB_MCP[:-1], *words]) as found:
        answer = found.ask("initialize", protocolVersion="2025-11-25", capabilities={})
        assert answer["result"]["instructions"] == given
        assert found.end() == (0, b"", b"")


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_is_that_of_every_command(words: list[str]) -> None:
    ran = subprocess.run([*KBDB_MCP, *words], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"--read-only" in ran.stdout


@pytest.mark.parametrize("words", [["--tools", "some"], ["--db="], ["--no-such"], ["word"]])
def test_a_wrong_command_line_is_told_as_everywhere(words: list[str]) -> None:
    ran = subprocess.run([*KBDB_MCP, *words], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"error: ")
    assert b"\nhint: " in ran.stderr


def test_until_the_first_answer_nothing_heavy_is_loaded() -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(COMMAND[1]).parent)!r}); before = set(sys.modules)\n"
    code += (
        "import kbdb.__main__, kbdb.mcp.command, kbdb.mcp.stdio\n"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stderr.split())
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()
    assert {name for name in loaded if name.startswith("kbdb.") and not name.startswith("kbdb.mcp")} <= {
        "kbdb.__main__"
    }
