"""The process dies at the fault points of every verb of a KnowledgeBase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbdb.knowledge.transfer import read_package
from tests.crash import harness
from tests.crash.commands import SCENARIOS, open_or_make, states
from tests.crash.left_over import check_left_over
from tests.crash.quick import without_syncs

CASES = [
    *(pytest.param(name, harness.one_of_each, id=f"{name}-one-of-each") for name in SCENARIOS),
    *(pytest.param(name, harness.everything, id=f"{name}-everything", marks=pytest.mark.long) for name in SCENARIOS),
]


@pytest.fixture(scope="module")
def command() -> Iterator[harness.Command]:
    with harness.forked("tests.crash.commands:main") as command:
        yield command


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with without_syncs():
        yield


@pytest.mark.parametrize(("name", "sample"), CASES)
def test_killed_anywhere_what_was_acknowledged_is_there_and_all_is_whole(
    name: str, sample: Callable[[list[str]], list[str]], command: harness.Command, tmp_path: Path
) -> None:
    scenario = SCENARIOS[name]
    runs = tmp_path / "runs"
    known = {}

    def prepare(start: Path) -> None:
        (start / "scenario").write_text(name)
        scenario.prepare(start)
        known.update(states(scenario, start, tmp_path / "known"))

    def check(folder: Path, run: harness.Run) -> None:
        if name.startswith("export"):
            check_export(folder, len(run.acknowledged) > 1)
        check_left_over(folder, known, int(run.acknowledged[-1]) if run.acknowledged else None)

    assert harness.crash_everywhere(command, check, runs, prepare=prepare, sample=sample) > 5


def check_export(folder: Path, acknowledged: bool) -> None:
    """Asserts that an export stands whole in its place, or beside it, and that exporting again makes it current."""
    place, old = folder / "export", folder / ".export.kbdb-old"
    found = read_package(place if place.exists() else old)
    if acknowledged:
        assert place.exists()
    with open_or_make(folder) as kb:
        sections = len(kb.list("sections", limit=1000).items)
        assert len(found.sections) == sections or not acknowledged
        kb.export(place)
    assert len(read_package(place).sections) == sections
    assert sorted(path.name for path in folder.glob("*export*")) == ["export"]
