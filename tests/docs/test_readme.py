"""README.md tells the truth: its transcripts, its Python, its links."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOL = runpy.run_path(str(ROOT / "tools" / "run_transcripts.py"))
PAGES = [
    path
    for path in ROOT.rglob("*.md")
    if not {"build", "data"} & set(path.relative_to(ROOT).parts)
    and not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with TOOL["Sandbox"](tmp_path_factory.mktemp("readme")) as made:
        yield made


def test_transcripts_and_python_give_what_the_page_shows(sandbox: Any) -> None:
    for transcript in TOOL["transcripts"](README):
        for step in TOOL["steps"](transcript):
            found = sandbox.run(step.command)
            assert TOOL["settled"](found) == TOOL["settled"](step.expected), (
                f"$ {step.command}\n{found}\ntools/run_transcripts.py --write README.md renews the page"
            )
    sessions = re.findall(r"^```pycon\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert sessions
    (sandbox.folder / "session.txt").write_text("\n".join(sessions), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "doctest", str(sandbox.folder / "session.txt")],
        cwd=sandbox.work,
        env=sandbox.environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_readme_has_two_commands_that_set_everything_up() -> None:
    commands = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    assert "pip install . && kbdb init && kbdb learn " in commands[0]
    assert commands[1].rstrip().endswith("&& pytest")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s#:]+)(?:#[^)\s]*)?\)", text)
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_a_transcript_is_run_where_what_it_needs_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "```console\n$ echo one\n```\n\n```console minilm\n$ echo two\n```\n"
    monkeypatch.setitem(TOOL["EXTRAS"], "minilm", ("kbdb",))
    assert TOOL["transcripts"](page) == ["$ echo one\n", "$ echo two\n"]
    monkeypatch.setitem(TOOL["EXTRAS"], "minilm", ("kbdb", "no_such_package"))
    assert TOOL["transcripts"](page) == ["$ echo one\n"]


def test_a_transcript_that_went_stale_is_seen(sandbox: Any) -> None:
    page = "```console\n$ kbdb --version\nkbdb 0.0.0\n```\n"
    assert TOOL["renewed"](page, sandbox) != page
    assert (
        TOOL["renewed"]("```console\n$ echo one 5 ms\none 7 ms\n```\n", sandbox)
        == "```console\n$ echo one 5 ms\none 7 ms\n```\n"
    )
