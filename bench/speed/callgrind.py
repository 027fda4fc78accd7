"""Instructions by function, as valgrind's callgrind counts them: runs a program under it and reads what it wrote."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Counts = Counter[tuple[str, str]]
"""Instructions by object file and function, without those of what the function calls."""

_NAME = re.compile(r"\((\d+)\)(?: (.*))?")


def is_available() -> bool:
    return shutil.which("valgrind") is not None


def count(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Counts:
    """What a program executes, children left out.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "callgrind.out"
        tool = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"]
        subprocess.run([*tool, *command], env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with out.open(encoding="utf-8", errors="replace") as lines:
            return parse(lines)


def parse(lines: Iterable[str]) -> Counts:
    """Reads callgrind's output: ``ob=`` and ``fn=`` say where the costs that follow belong, ``calls=`` skips one."""
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    found: Counts = Counter()
    here = {"ob": "", "fn": ""}
    callee = False
    for line in lines:
        key, equals, value = line.rstrip("\n").partition("=")
        if equals and key in ("ob", "fn"):
            here[key] = _name(value, names[key])
        elif equals and key in ("cob", "cfn"):
            _name(value, names[key[1:]])
        elif key == "calls":
            callee = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            if not callee:
                found[here["ob"], here["fn"]] += int(line.split()[1])
            callee = False
    return found


def less(counts: Counts, setup: Counts) -> Counts:
    """What a program executes beyond its setup."""
    found = Counter(counts)
    found.subtract(setup)
    return Counter({place: number for place, number in found.items() if number > 0})


def by_object(counts: Counts) -> Counter[str]:
    """Sums by the name of the object file."""
    found: Counter[str] = Counter()
    for (path, _), number in counts.items():
        found[Path(path).name] += number
    return found


def _name(value: str, known: dict[str, str]) -> str:
    """A name, which stands in full only where it is first used."""
    match = _NAME.fullmatch(value)
    if match is None:
        return value
    if match[2] is not None:
        known[match[1]] = match[2]
    return known.get(match[1], "")
