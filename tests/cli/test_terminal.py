"""What is different on a terminal: colour, width, standard input, progress; and a reader that goes away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def terminal(folder: Path, environment: dict[str, str]) -> Terminal:
    """Runs ``kbdb WORDS…`` on a terminal of so many columns; gives the exit code and what the screen got."""

    def run(*words: str, columns: int = 60, **env: str) -> tuple[int, str]:
        import fcntl
        import struct
        import termios

        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-m", "kbdb", *words],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            cwd=folder,
            env=environment | {"TERM": "xterm-256color"} | env,
        )
        os.close(follower)
        seen = b""
        while chunk := _read(leader):
            seen += chunk
        os.close(leader)
        return process.wait(), seen.decode("utf-8").replace("\r\n", "\n")

    return run


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # Linux's way to say that the other side is closed
        return b""


@pytest.fixture
def learned(kb: Any, folder: Path) -> Any:
    """``run`` where one document with a long title and wide text is learned."""
    text = f"# {'Long title ' * 12}\n\n{'水と火' * 40} apple \x1b[31mred\n"
    (folder / "a.md").write_text(text, encoding="utf-8")
    assert kb("learn", "a.md").code == 0
    return kb


def cells(line: str) -> int:
    from rich.cells import cell_len

    return cell_len(line)


def test_colour_is_for_terminals_and_yields_to_no_color(learned: Any, terminal: Terminal) -> None:
    assert "\x1b[" in terminal("search", "apple")[1]
    assert "\x1b" not in terminal("search", "apple", NO_COLOR="1")[1]
    assert "\x1b" not in terminal("search", "apple", TERM="dumb")[1]
    assert b"\x1b" not in learned("search", "apple").out


@pytest.mark.parametrize("columns", [40, 60, 132])
@pytest.mark.usefixtures("learned")
def test_lines_fit_the_terminal(terminal: Terminal, columns: int) -> None:
    for words in (["search", "apple"], ["list"], ["list", "--sections"], ["search", "apple", "--explain"]):
        _, screen = terminal(*words, columns=columns, NO_COLOR="1")
        assert [line for line in screen.splitlines() if cells(line) > columns] == []


def test_control_characters_of_documents_never_reach_the_terminal(learned: Any, terminal: Terminal) -> None:
    for words in (
        ["search", "apple"],
        ["search", "apple", "--content"],
        ["recall", learned("search", "apple", "--json").json["hits"][0]["kbid"]],
    ):
        screen = terminal(*words, NO_COLOR="1")[1]
        assert "\x1b" not in screen
        assert "\\x1b[31mred" in screen


@pytest.mark.usefixtures("kb")
def test_standard_input_from_a_terminal_is_refused_with_a_hint(terminal: Terminal) -> None:
    code, screen = terminal("learn", "-", NO_COLOR="1")
    assert code == 2
    assert "terminal" in screen
    assert "kbdb learn - <" in screen


@pytest.mark.usefixtures("kb")
def test_json_on_a_terminal_is_indented_and_has_no_colour(terminal: Terminal) -> None:
    screen = terminal("where", "--json")[1]
    assert screen.startswith("{\n  ")
    assert "\x1b" not in screen


def test_a_reader_that_goes_away_ends_the_output_quietly(kb: Any, folder: Path, environment: dict[str, str]) -> None:
    (folder / "big.txt").write_bytes(b"line of text\n" * 100_000)
    assert kb("learn", "big.txt").code == 0
    docid = kb("list", "--json").json["items"][0]["docid"]
    with subprocess.Popen(
        [sys.executable, "-m", "kbdb", "retrieve", docid],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.usefixtures("kb")
def test_output_that_cannot_be_written_is_a_failure(folder: Path, environment: dict[str, str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kbdb", "status"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: cannot write to standard output")


@pytest.mark.usefixtures("kb")
def test_closed_streams_stop_no_command_and_harm_no_file(folder: Path, environment: dict[str, str], run: Any) -> None:
    (folder / "a.md").write_text("# A\n\napple\n", encoding="utf-8")
    command = f'"{sys.executable}" -m kbdb learn a.md <&- >&- 2>&-'
    assert subprocess.run(command, shell=True, cwd=folder, env=environment, check=False).returncode == 0
    assert run("search", "apple").code == 0
    assert run("check").code == 0


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_ctrl_c_keeps_what_was_done_and_tells_it(kb: Any, folder: Path, environment: dict[str, str]) -> None:
    (folder / "many").mkdir()
    for number in range(3000):
        (folder / "many" / f"{number}.md").write_text(f"# Fruit {number}\n\napple {number}\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "kbdb", "learn", "many", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
    )
    documents = folder / ".kbdb" / "documents"
    while process.poll() is None and not any(documents.glob("*.toml")):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    import json

    answer = json.loads(out)
    assert process.returncode == 130, err
    assert answer["interrupted"] is True
    assert 0 < len(answer["documents"]) < 3000
    assert kb("list", "--json").json["total"] == len(answer["documents"])
    assert kb("check").code == 0


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_ctrl_c_while_a_long_answer_waits_for_its_reader_neither_cuts_it_nor_adds_an_error(
    kb: Any, folder: Path, environment: dict[str, str]
) -> None:
    (folder / "many").mkdir()
    for number in range(600):
        (folder / "many" / f"{number}.md").write_text(f"# Fruit {number}\n\napple {number}\n", encoding="utf-8")
    assert kb("learn", "many").code == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "kbdb", "list", "--limit", "600", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
    )
    assert process.stdout is not None
    first = os.read(process.stdout.fileno(), 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    import json

    assert len(first + out) > 1 << 16, "the pipe holds it all: the command was not held up"
    assert len(json.loads(first + out)["items"]) == 600
    assert (process.returncode, err) == (130, b"")
