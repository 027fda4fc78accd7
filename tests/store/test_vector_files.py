"""kbdb.store.vector_files: vectors and what made them, side by side and durable; anything else is refused."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from kbdb.errors import CorruptError
from kbdb.index.engine import engine
from kbdb.model.embedding import Fingerprint
from kbdb.paths import Layout
from kbdb.store import vector_files

MADE_BY = Fingerprint("modèle «x»", 2, "mean", "unit", "ab" * 32)
FOLDER = 7


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "a store" / ".kbdb")
    made.indexes.mkdir(parents=True)
    return made


def write(layout: Layout) -> None:
    kbids = [bytes([number]) * 16 for number in (3, 1)]
    rows = b"\0\0\x80\x3f" * 4
    vector_files.write_vectors(layout, FOLDER, MADE_BY, 2, lambda into: engine().write_vectors(2, kbids, rows, into))


def test_what_is_written_is_read_back(layout: Layout) -> None:
    write(layout)
    meta = vector_files.read_meta(layout, FOLDER)
    assert (meta.made_by, meta.section_count) == (MADE_BY, 2)
    assert meta.sha256 == vector_files.digest_of(layout, FOLDER)
    vectors = engine().Vectors(vector_files.map_vectors(layout, FOLDER))
    assert (vectors.dimensions, vectors.records) == (2, 2)
    assert vector_files.size(layout, FOLDER) == 11 + 2 * (16 + 8)
    assert vector_files.size(layout, FOLDER + 1) == 0


def test_the_meta_file_is_toml_with_the_keys_that_are_described(layout: Layout) -> None:
    write(layout)
    text = (layout.indexes / str(FOLDER) / "vectors-meta.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)["vectors"]
    assert list(table)[:5] == ["model_name", "dimensions", "version", "last_built", "section_count"]
    assert table["model_name"] == MADE_BY.model


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version = 1", "version = 2"),
        ("dimensions = 2", 'dimensions = "2"'),
        ('pooling = "mean"', "pooling = 1"),
        ("section_count = 2\n", ""),
        ("[vectors]", "[others]"),
        ("[vectors]\n", ""),
        ("version = 1", "version = true"),
    ],
)
def test_a_meta_file_that_says_something_else_is_corrupt(layout: Layout, old: str, new: str) -> None:
    write(layout)
    path = layout.indexes / str(FOLDER) / "vectors-meta.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(CorruptError, match=r"vectors-meta\.toml"):
        vector_files.read_meta(layout, FOLDER)


def test_missing_files_are_named(layout: Layout) -> None:
    with pytest.raises(CorruptError, match=r"vectors-meta\.toml is missing"):
        vector_files.read_meta(layout, FOLDER)
    with pytest.raises(CorruptError, match=r"vectors\.idx is missing"):
        vector_files.map_vectors(layout, FOLDER)


def test_fingerprints_differ_where_anything_does() -> None:
    others = [
        replace(MADE_BY, model="y"),
        replace(MADE_BY, dimensions=3),
        replace(MADE_BY, pooling="service"),
        replace(MADE_BY, normalisation="service"),
        replace(MADE_BY, tokenizer=""),
    ]
    assert len({one.digest() for one in (MADE_BY, *others)}) == 6
