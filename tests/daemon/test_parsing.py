"""kbdb.daemon.parsing: large texts are parsed in a process of their own, whatever becomes of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbdb.daemon import parsing
from kbdb.daemon.parsing import Parser
from kbdb.errors import NotUtf8Error
from kbdb.ingest.parse import parse

TEXT = b"# Land\n\n" + b"Hills and harbours, and what lies between them.\n\n" * 20_000


@pytest.fixture
def parser() -> Iterator[Parser]:
    with Parser() as made:
        yield made


def pid_of(parser: Parser) -> int:
    assert parser._child
    return parser._child._process.pid


def test_a_large_text_is_parsed_elsewhere_as_here(parser: Parser) -> None:
    assert parser.parse(TEXT, "land.md") == parse(TEXT, "land.md")
    first = pid_of(parser)
    assert parser.parse(TEXT, "land.txt", title="Land") == parse(TEXT, "land.txt", title="Land")
    assert pid_of(parser) == first


def test_what_it_refuses_is_refused(parser: Parser) -> None:
    with pytest.raises(NotUtf8Error):
        parser.parse(TEXT + b"\xff", "land.md")


def test_it_imports_nothing_from_the_current_folder(
    parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pickle", "struct", "contextlib"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\nraise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    assert parser.parse(TEXT, "land.md") == parse(TEXT, "land.md")
    assert pid_of(parser)
    assert not (tmp_path / "imported").exists()


def test_a_relative_path_to_kbdb_is_found_from_its_folder(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(parsing.__file__).parents[2]
    monkeypatch.chdir(package.parent)
    monkeypatch.setenv("PYTHONPATH", package.name)
    assert parser.parse(TEXT, "land.md") == parse(TEXT, "land.md")
    assert pid_of(parser)


def test_one_that_was_killed_is_replaced(parser: Parser) -> None:
    parser.parse(TEXT, "land.md")
    os.kill(pid_of(parser), signal.SIGKILL)
    assert parser.parse(TEXT, "land.md") == parse(TEXT, "land.md")
    parser.parse(TEXT, "land.md")
    assert pid_of(parser)


@pytest.mark.parametrize("length", [5_000, len(TEXT)], ids=["before its answer", "before it has read all"])
def test_one_that_is_stuck_is_ended_and_the_text_parsed_here(
    length: int, parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "LIMIT_S", 10.0)
    parser.parse(TEXT, "land.md")
    stuck = pid_of(parser)
    os.kill(stuck, signal.SIGSTOP)
    monkeypatch.setattr(parsing, "LIMIT_S", 0.2)
    began = time.monotonic()
    assert parser.parse(TEXT[:length], "land.md") == parse(TEXT[:length], "land.md")
    assert time.monotonic() - began < 10
    with pytest.raises(ProcessLookupError):
        os.kill(stuck, 0)
