"""The catalog says which database this is, the writer which copy of it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kbdb.errors import CorruptError, UnsupportedFormatError
from kbdb.store.catalog import (
    Catalog,
    Writer,
    decode_catalog,
    decode_writer,
    encode_catalog,
    encode_writer,
    new_catalog,
    new_writer,
    place_of,
)

CATALOG = Catalog(1, "0" * 26, "z" * 26, "2026-01-31T12:00:00Z")
GOLDEN = f'format = 1\nid = "{"0" * 26}"\nsalt = "{"z" * 26}"\ncreated = "2026-01-31T12:00:00Z"\n'.encode()


def test_the_catalog_is_four_lines() -> None:
    assert encode_catalog(CATALOG) == GOLDEN
    assert decode_catalog(GOLDEN, "catalog.toml") == CATALOG


def test_a_new_catalog_reads_back_and_is_like_no_other() -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    catalog, other = new_catalog(now), new_catalog(now)
    assert decode_catalog(encode_catalog(catalog), "catalog.toml") == catalog
    assert len({catalog.id, catalog.salt, other.id, other.salt}) == 4


def test_a_newer_format_is_refused_before_anything_else_is_read() -> None:
    with pytest.raises(UnsupportedFormatError) as caught:
        decode_catalog(b'format = 2\nshape = "other"\n', "catalog.toml")
    assert caught.value.message == "catalog.toml: format 2, this kbdb reads up to 1"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "catalog.toml: format is missing"),
        (b"\xff", "catalog.toml: line 1: expected a key"),
        (b"format = -1\n", "catalog.toml: format is -1, expected 1"),
        (b"format = 1\n", "catalog.toml: keys are format; expected format, id, salt, created"),
        (GOLDEN.replace(b"zz", b"z", 1), "catalog.toml: salt is 'zzzzzzzzzzzzzzzzzzzzzzzzz', expected 26 base32"),
        (GOLDEN.replace(b"2026", b"20x6"), "catalog.toml: created is '20x6-01-31T12:00:00Z', expected a UTC time"),
    ],
)
def test_a_damaged_catalog_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(CorruptError) as caught:
        decode_catalog(data, "catalog.toml")
    assert caught.value.message.startswith(message)


def test_the_writer_is_three_lines() -> None:
    golden = b'format = 1\nwriter = "w0w0w0w0w0"\nplace = "x"\n'
    assert encode_writer(Writer("w0w0w0w0w0", "x")) == golden
    assert decode_writer(golden, "writer.toml") == Writer("w0w0w0w0w0", "x")


def test_a_writer_that_could_not_name_a_file_is_corrupt() -> None:
    with pytest.raises(CorruptError, match=r"writer\.toml: writer is '\.\./x', expected 4 to 40 base32"):
        decode_writer(b'format = 1\nwriter = "../x"\nplace = "x"\n', "writer.toml")


def test_writers_are_drawn_at_random() -> None:
    assert new_writer("x").id != new_writer("x").id


def test_a_copied_folder_is_another_place_and_a_link_to_it_is_not(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    copy = Path(shutil.copytree(first, tmp_path / "copy"))
    link = tmp_path / "link"
    link.symlink_to(first)
    assert place_of(first) == place_of(link)
    assert place_of(first) != place_of(copy)
