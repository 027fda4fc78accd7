"""Sections: the same knowledge has the same kbid, and a file that reads is the file that was written."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbdb.errors import CorruptError, InvalidArgumentError, NotUtf8Error, UnsupportedFormatError
from kbdb.model.truth import Section
from kbdb.store.section import decode_section, encode_section, kbid_of, make_section

PATH = "sections/ab/x.sec"
SECTION = make_section("default", "text/markdown", 'Say "hello"', b'# Say "hello"\r\n\r\n+++\nbody\xc3\xa9')

GOLDEN = (
    b"+++\n"
    b"format = 1\n"
    b'kbid = "n1rfby1ks93akc50ydws21cbmr"\n'
    b'section_type = "default"\n'
    b'type = "text/markdown"\n'
    b'title = "Say \\"hello\\""\n'
    b'sha256 = "1c0f8619fba9eefb0173dad7326ddda24901cc71a95071a2695fb471dc3d513d"\n'
    b"+++\n"
    b'# Say "hello"\r\n\r\n+++\nbody\xc3\xa9'
)

sections = st.builds(
    make_section,
    st.sampled_from(["default", "skill", "agent"]),
    st.sampled_from(["text/markdown", "image/png", "application/vnd.x+json"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(str.encode),
)


def test_the_file_is_a_header_and_the_content_untouched() -> None:
    assert encode_section(SECTION) == GOLDEN


def test_the_kbid_hashes_the_parts_after_their_lengths() -> None:
    parts = [b"default", b"text/plain", "Café".encode(), b"body"]
    encoding = b"kbdb section 1\n" + b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    number = int.from_bytes(sha256(encoding).digest()[:16], "big") << 2
    digits = "".join("0123456789abcdefghjkmnpqrstvwxyz"[number >> shift & 31] for shift in range(125, -1, -5))
    assert kbid_of("default", "text/plain", "Café", b"body") == digits


@given(sections)
def test_a_section_reads_back(section: Section) -> None:
    assert decode_section(encode_section(section), PATH) == section


@given(sections, sections)
def test_different_sections_have_different_kbids(a: Section, b: Section) -> None:
    assume(a != b)
    assert a.kbid != b.kbid


def test_text_may_not_move_between_title_and_content() -> None:
    assert kbid_of("default", "text/plain", "ab", b"c") != kbid_of("default", "text/plain", "a", b"bc")


@pytest.mark.parametrize("content", [b"", b"+++\n", b"\n+++\n", b"\xef\xbb\xbfx"])
def test_content_may_look_like_a_header(content: bytes) -> None:
    section = make_section("default", "text/plain", "", content)
    assert decode_section(encode_section(section), PATH) == section


def test_other_media_types_may_hold_any_bytes() -> None:
    section = make_section("default", "image/png", "logo", b"\x89PNG\xff\x00")
    assert decode_section(encode_section(section), PATH) == section


def test_text_must_be_utf8_and_the_error_says_where() -> None:
    with pytest.raises(NotUtf8Error) as caught:
        make_section("default", "text/plain", "t", b"ab\xff")
    assert caught.value.message == "not UTF-8 at byte 2"


@pytest.mark.parametrize(
    ("section_type", "type", "title", "message"),
    [
        ("note", "text/plain", "t", "section type 'note'"),
        ("default", "Text/Plain", "t", "type 'Text/Plain' is no media type"),
        ("default", "text", "t", "type 'text' is no media type"),
        ("default", "text/plain; charset=utf-8", "t", "type 'text/plain; charset=utf-8' is no media type"),
        ("default", "text/plain", "\ud800", "title '\\ud800' holds half a character pair"),
    ],
)
def test_what_could_not_be_read_again_is_not_made(section_type: str, type: str, title: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        make_section(section_type, type, title, b"")
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"+++\nformat", b"---\nformat", "no header between +++ lines at offset 0"),
        (b"\n+++\n#", b"\n++\n#", "header, line 7: expected"),
        (b"format = 1", b"format=1", "header, line 1: expected ' = ' after the key"),
        (b"format = 1", b"format = 0", "header: format is 0, expected 1"),
        (b"format = 1\n", b"", "header: format is missing"),
        (b"format = 1", b"format = true", "header: format is not an integer"),
        (b"default", b"other", "header: section_type is 'other', expected one of default, skill, agent"),
        (b"text/markdown", b"text", "header: type is 'text', expected a media type"),
        (b'title = "Say \\"hello\\""', b"title = 5", "header: title is not a string"),
        (b'kbid = "', b'kbid = "z', "expected a kbid"),
        (b'sha256 = "', b'sha256 = "G', "expected 64 hex digits"),
        (
            b'type = "text/markdown"\n',
            b"",
            "header: keys are format, kbid, section_type, title, sha256; expected format",
        ),
        (b"format = 1\n", b"format = 1\nextra = 1\n", "header: keys are format, extra, kbid"),
        (b"body", b"bodY", "content from offset"),
        (b"body", b"body!", "content from offset"),
        (b"Say \\", b"say \\", "header says kbid"),
    ],
)
def test_a_damaged_file_says_what_is_wrong_and_where(old: bytes, new: bytes, message: str) -> None:
    damaged = GOLDEN.replace(old, new, 1)
    assert damaged != GOLDEN
    with pytest.raises(CorruptError) as caught:
        decode_section(damaged, PATH)
    assert caught.value.message.startswith(f"{PATH}: ")
    assert message in caught.value.message


def test_a_newer_format_is_refused_as_such() -> None:
    newer = GOLDEN.replace(b"format = 1\n", b"format = 2\nnew_key = 1\n")
    with pytest.raises(UnsupportedFormatError) as caught:
        decode_section(newer, PATH)
    assert caught.value.message == f"{PATH}: header: format 2, this kbdb reads up to 1"


def test_text_that_is_not_utf8_is_corrupt_even_under_the_right_hash() -> None:
    content = b"ab\xff"
    forged = Section(kbid_of("default", "text/plain", "t", content), "default", "text/plain", "t", content)
    with pytest.raises(CorruptError, match=r"content from offset \d+ is not UTF-8 at byte 2"):
        decode_section(encode_section(forged), PATH)


def test_a_section_under_another_kbid_is_corrupt() -> None:
    forged = replace(SECTION, kbid="0" * 26)
    with pytest.raises(CorruptError, match=r"header says kbid 0{26}, but these bytes have"):
        decode_section(encode_section(forged), PATH)


@given(sections, st.integers(0), st.integers(1, 255))
def test_every_flipped_byte_is_noticed(section: Section, place: int, flip: int) -> None:
    data = bytearray(encode_section(section))
    data[place % len(data)] ^= flip
    with pytest.raises((CorruptError, UnsupportedFormatError)):
        decode_section(bytes(data), PATH)


@given(sections, st.integers(0))
def test_every_cut_is_noticed(section: Section, length: int) -> None:
    data = encode_section(section)
    with pytest.raises(CorruptError):
        decode_section(data[: length % len(data)], PATH)


@given(st.binary(max_size=80))
def test_any_bytes_are_refused_as_corrupt(data: bytes) -> None:
    with pytest.raises((CorruptError, UnsupportedFormatError)):
        decode_section(b"+++\n" + data, PATH)
