"""What the command imports before it knows what is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numpy", "asyncio", "httpx", "typer", "rich", "tomllib", "multiprocessing"}


def imported_by(code: str, environment: dict[str, str]) -> set[str]:
    """The top-level modules loaded after running ``code``."""
    script = f"import sys\n{code}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    return set(done.stderr.split())


def test_importing_the_entry_point_loads_nothing_heavy(environment: dict[str, str]) -> None:
    assert imported_by("import kbdb.__main__", environment) & HEAVY == set()


def test_the_version_is_told_without_a_command_line(environment: dict[str, str]) -> None:
    loaded = imported_by("from kbdb.__main__ import main; assert main(['--version']) == 0", environment)
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("words", [["--help"], ["search", "--help"], ["where"]])
def test_no_command_draws_in_numpy_or_asyncio(words: list[str], environment: dict[str, str]) -> None:
    code = f"from kbdb.__main__ import main; main({words})"
    assert imported_by(code, environment) & {"numpy", "asyncio", "httpx", "multiprocessing"} == set()


def test_json_answers_load_no_drawing(environment: dict[str, str]) -> None:
    code = "from kbdb.__main__ import main; main(['where', '--json'])"
    assert "rich" not in imported_by(code, environment)
