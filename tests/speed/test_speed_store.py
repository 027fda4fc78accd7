"""What the benchmark does to kbdb's databases: clones are worked in, originals stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import kbdb
from bench.speed import store
from bench.speed.corpus import sections, write_lines
from bench.speed.engines.api import TITLE_WEIGHT
from bench.speed.engines.kbdb import BareIndex, Kbdb, Settings
from kbdb.plan import FIELDS

SIZE = 40


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A settled database of the first sections."""
    folder = tmp_path / "original"
    Kbdb().build(folder, sections(SIZE))
    store.settle(folder)
    return folder


def test_a_clone_answers_as_its_original_without_a_rebuild(database: Path, tmp_path: Path) -> None:
    store.clone(database, tmp_path / "clone")
    with kbdb.open(database) as original, kbdb.open(tmp_path / "clone") as clone:
        assert clone.rank("the") == original.rank("the")
        assert clone.search("the").warnings == ()


def test_superseding_in_a_clone_leaves_the_original_as_it_was(database: Path, tmp_path: Path) -> None:
    before = contents(database)
    write_lines(tmp_path / "corpus.jsonl", sections(SIZE))
    store.clone(database, tmp_path / "clone")
    found = store.supersede_and_collect(tmp_path / "clone", tmp_path / "corpus.jsonl")
    assert (found["removed"], found["check_ok"]) == (SIZE // 10, True)
    assert contents(database) == before


def test_each_section_learned_one_by_one_is_found_at_once(database: Path, tmp_path: Path) -> None:
    store.clone(database, tmp_path / "clone")
    learning = store.Learning(tmp_path / "clone")
    times = [learning.learn(number) for number in range(3)]
    learning.close()
    assert all(0 < one["learned"] < one["found"] for one in times)
    with kbdb.open(tmp_path / "clone") as clone:
        assert clone.list("sections").total == SIZE + 3


def test_the_bare_index_ranks_as_the_database_does(database: Path) -> None:
    bare = BareIndex(database, Settings.read(database))
    with kbdb.open(database) as base:
        for query in ("the", "of and", '"of the"', "nothing-like-it"):
            assert bare.rank(query) == base.rank(query)


def test_the_other_engines_weigh_titles_as_kbdb_does(database: Path) -> None:
    assert Settings.read(database).params.weights[FIELDS.index("title")] == TITLE_WEIGHT


def test_a_bare_index_of_several_segments_is_refused(database: Path) -> None:
    with kbdb.open(database) as base:
        base.learn(content="Something new.", title="New")
    with pytest.raises(ValueError, match="rebuild"):
        BareIndex(database, Settings.read(database))
    store.rebuild(database)
    assert BareIndex(database, Settings.read(database)).searcher.sections == SIZE + 1
