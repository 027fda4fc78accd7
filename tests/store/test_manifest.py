"""Manifests: one canonical file for each, and none that contradicts itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import CorruptError, InvalidArgumentError, TomlError, UnsupportedFormatError
from kbdb.model.truth import Manifest, Origin, Placement
from kbdb.store.ids import kbid_encode
from kbdb.store.manifest import decode_manifest, encode_manifest

PATH = "documents/guide-0123456789.toml"
FIRST, SECOND = kbid_encode(bytes(16)), kbid_encode(b"\xff" * 16)

MANIFEST = Manifest(
    docid="guide-0123456789",
    type="text/markdown",
    title="Guide",
    description="How to",
    tags=("a", "b"),
    subject="",
    origin=Origin("user", "docs/guide.md", "ab" * 32),
    created="2026-01-31T12:00:00Z",
    updated="2026-02-28T00:00:00Z",
    head="\ufeff---\r\ntags: a\r\n---\r\n",
    sections=(
        Placement(FIRST, 1, "", (), 4, 6, "\r\n"),
        Placement(SECOND, 2, FIRST, ("Guide",), 8, 8, ""),
    ),
)

GOLDEN = f"""\
format = 1
docid = "guide-0123456789"
type = "text/markdown"
title = "Guide"
description = "How to"
tags = ["a", "b"]
subject = ""
who = "user"
source = "docs/guide.md"
sha256 = "{"ab" * 32}"
created = "2026-01-31T12:00:00Z"
updated = "2026-02-28T00:00:00Z"
head = "\ufeff---\\r\\ntags: a\\r\\n---\\r\\n"

[[sections]]
kbid = "{FIRST}"
level = 1
parent = ""
heading_path = []
line = 4
line_end = 6
gap = "\\r\\n"

[[sections]]
kbid = "{SECOND}"
level = 2
parent = "{FIRST}"
heading_path = ["Guide"]
line = 8
line_end = 8
gap = ""
""".encode()


def test_the_file_is_canonical_toml_in_a_fixed_order() -> None:
    assert encode_manifest(MANIFEST) == GOLDEN


def test_a_manifest_reads_back() -> None:
    assert decode_manifest(GOLDEN, PATH) == MANIFEST


def test_a_document_may_hold_no_section() -> None:
    empty = replace(MANIFEST, sections=())
    assert encode_manifest(empty).endswith(b"\nsections = []\n")
    assert decode_manifest(encode_manifest(empty), PATH) == empty


def test_a_section_may_stand_twice_in_a_document() -> None:
    twice = replace(MANIFEST, sections=(*MANIFEST.sections, Placement(FIRST, 1, "", (), 9, 11, "\n")))
    assert decode_manifest(encode_manifest(twice), PATH) == twice


def test_sections_may_share_a_line() -> None:
    split = replace(MANIFEST, sections=(Placement(FIRST, 0, "", (), 1, 1, ""), Placement(SECOND, 0, "", (), 1, 3, "")))
    assert decode_manifest(encode_manifest(split), PATH) == split


def test_thousands_of_sections_fit() -> None:
    kbids = [kbid_encode(number.to_bytes(16, "big")) for number in range(2000)]
    sections = tuple(Placement(kbid, 1, "", ("Ünï",), 2 * i + 1, 2 * i + 2, "\n\n") for i, kbid in enumerate(kbids))
    large = replace(MANIFEST, sections=sections)
    assert decode_manifest(encode_manifest(large), PATH) == large


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(texts, texts, st.lists(texts, max_size=3), texts, texts, texts)
def test_any_text_reads_back(title: str, description: str, tags: list[str], head: str, gap: str, source: str) -> None:
    manifest = replace(
        MANIFEST,
        title=title,
        description=description,
        tags=tuple(tags),
        origin=replace(MANIFEST.origin, source=source),
        head=head,
        sections=(Placement(FIRST, 6, "", tuple(tags), 1, 1, gap),),
    )
    assert decode_manifest(encode_manifest(manifest), PATH) == manifest


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format = 1\n", "", "format is missing"),
        ("format = 1", "format = 0", "format is 0, expected 1"),
        ('title = "Guide"\n', "", "keys are format, docid, type, description,"),
        ('head = "', 'extra = 1\nhead = "', "keys are format, docid, type, title,"),
        ('title = "Guide"', "title = 1", "title is not a string"),
        ('tags = ["a", "b"]', "tags = [1]", "tags holds something else than strings"),
        ('tags = ["a", "b"]', 'tags = "a"', "tags is not a list"),
        ('docid = "guide', 'docid = "Guide', "docid is 'Guide-0123456789', expected [a-z0-9][a-z0-9-]{0,79}"),
        ('who = "user"', 'who = "me"', "who is 'me', expected one of user, agent, import, auto-capture"),
        ('sha256 = "ab', 'sha256 = "xy', "expected 64 hex digits"),
        ('type = "text/markdown"', 'type = "x"', "type is 'x', expected a media type"),
        ("2026-02-28T", "2026-02-30T", "updated is '2026-02-30T00:00:00Z', expected a UTC time"),
        ("12:00:00Z", "12:00:00+00:00", "created is '2026-01-31T12:00:00+00:00', expected a UTC time"),
        ("line = 4\n", "", "sections 1: keys are kbid, level, parent, heading_path, line_end, gap"),
        ("line = 4", 'line = "4"', "sections 1: line is not an integer"),
        ("line = 4", "line = 0", "sections 1: line is 0, expected 1 or more"),
        ("line_end = 6", "line_end = 3", "sections 1: line_end is 3, before line 4"),
        ("line = 8", "line = 5", "sections 2: line is 5, expected 6 or more"),
        ("level = 2", "level = 7", "sections 2: level is 7, expected 0 to 6"),
        ("level = 2", "level = -1", "sections 2: level is -1, expected 0 to 6"),
        (f'kbid = "{FIRST}"', 'kbid = "x"', "sections 1: kbid is 'x', expected a kbid"),
        (f'parent = "{FIRST}"', f'parent = "{SECOND}"', f"sections 2: parent '{SECOND}' is not listed before it"),
        ("[[sections]]\nkbid", "[sections]\nkbid", "line 24: expected another name"),
        ("line = 4", "line  = 4", "line 20: expected ' = ' after the key"),
    ],
)
def test_a_damaged_file_says_what_is_wrong_and_where(old: str, new: str, message: str) -> None:
    damaged = GOLDEN.replace(old.encode(), new.encode(), 1)
    assert damaged != GOLDEN
    with pytest.raises(CorruptError) as caught:
        decode_manifest(damaged, PATH)
    assert caught.value.message.startswith(f"{PATH}: ")
    assert message in caught.value.message


def test_a_list_of_sections_must_hold_tables() -> None:
    with pytest.raises(CorruptError, match="sections holds something else than tables"):
        decode_manifest(GOLDEN.partition(b"\n[[")[0] + b'sections = ["x"]\n', PATH)


def test_a_newer_format_is_refused_as_such() -> None:
    with pytest.raises(UnsupportedFormatError, match="format 2, this kbdb reads up to 1"):
        decode_manifest(GOLDEN.replace(b"format = 1", b"format = 2"), PATH)


@pytest.mark.parametrize(
    "broken",
    [
        replace(MANIFEST, docid="con"),
        replace(MANIFEST, updated="yesterday"),
        replace(MANIFEST, sections=(replace(MANIFEST.sections[0], parent=SECOND),)),
        replace(MANIFEST, sections=MANIFEST.sections[::-1]),
    ],
)
def test_what_could_not_be_read_again_is_not_written(broken: Manifest) -> None:
    with pytest.raises(InvalidArgumentError):
        encode_manifest(broken)


def test_half_a_character_pair_is_not_written() -> None:
    with pytest.raises(TomlError, match="which UTF-8 cannot"):
        encode_manifest(replace(MANIFEST, title="\ud800"))


@given(st.integers(0), st.binary(min_size=1, max_size=2))
def test_a_mutated_file_is_refused_or_another_valid_manifest(place: int, inserted: bytes) -> None:
    at = place % len(GOLDEN)
    text = GOLDEN[:at] + inserted + GOLDEN[at + 1 :]
    try:
        manifest = decode_manifest(text, PATH)
    except (CorruptError, UnsupportedFormatError):
        return
    assert encode_manifest(manifest) == text
