"""Ids: one spelling for each kbid, docids that every file system can hold, event ids that sort by time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import InvalidIdError
from kbdb.store.ids import (
    ALPHABET,
    check_docid,
    docid_for,
    is_docid,
    is_id,
    is_kbid,
    is_kbid_of,
    kbid_decode,
    kbid_encode,
    new_random_id,
    new_time_id,
    slug,
)


@pytest.mark.parametrize(
    ("raw", "kbid"),
    [
        (bytes(16), "0" * 26),
        (b"\xff" * 16, "z" * 25 + "w"),
        (bytes(range(16)), "000g40r40m30e209185gr38e1w"),
    ],
)
def test_kbid_is_crockford_base32_with_two_zero_bits_at_the_end(raw: bytes, kbid: str) -> None:
    assert kbid_encode(raw) == kbid
    assert kbid_decode(kbid) == raw


@given(st.binary(min_size=16, max_size=16))
def test_kbid_is_the_number_in_base_32(raw: bytes) -> None:
    number, digits = int.from_bytes(raw, "big") << 2, ""
    while len(digits) < 26:
        number, digit = divmod(number, 32)
        digits = ALPHABET[digit] + digits
    assert kbid_encode(raw) == digits
    assert kbid_decode(digits) == raw


@given(st.binary(min_size=16, max_size=16), st.integers(0, 127), st.text(ALPHABET, min_size=26, max_size=26))
def test_a_written_kbid_is_that_of_its_bytes_and_of_no_others(raw: bytes, bit: int, other: str) -> None:
    written = kbid_encode(raw)
    assert is_kbid_of(written.encode(), raw)
    assert not is_kbid_of(written.encode(), (int.from_bytes(raw) ^ 1 << bit).to_bytes(16))
    assert is_kbid_of(other.encode(), raw) == (other == written)


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_kbids_sort_like_their_bytes(a: bytes, b: bytes) -> None:
    assert (kbid_encode(a) < kbid_encode(b)) == (a < b)


@pytest.mark.parametrize(
    "text",
    ["", "0" * 25, "0" * 27, "0" * 25 + "1", "A" * 26, "i" + "0" * 25, "0" * 25 + "\n", "0" * 26 + "\n", "é" * 26],
)
def test_anything_but_the_one_spelling_is_no_kbid(text: str) -> None:
    assert not is_kbid(text)
    with pytest.raises(InvalidIdError, match="not a kbid"):
        kbid_decode(text)


def test_a_kbid_of_other_than_16_bytes_is_refused() -> None:
    with pytest.raises(InvalidIdError, match="a kbid is 16 bytes, not 15"):
        kbid_encode(bytes(15))


@pytest.mark.parametrize(
    ("readable", "expected"),
    [
        ("Getting Started.md", "getting-started-md"),
        ("Über die Größe", "uber-die-grosse"),
        ("  --Hello,   World!--  ", "hello-world"),
        ("ﬁle №5", "file-no5"),
        ("日本語", "doc"),
        ("日本語 guide", "guide"),
        ("x日y", "x-y"),
        ("", "doc"),
        ("../../etc/passwd", "etc-passwd"),
        ("a" * 39 + " b", "a" * 39),
        ("CON", "con"),
    ],
)
def test_slug_recalls_the_text_in_ascii(readable: str, expected: str) -> None:
    assert slug(readable) == expected


def test_docid_is_slug_and_hash_of_the_source() -> None:
    assert docid_for("docs/guide.md", "Guide") == "guide-f1grtgtxr9"


def test_same_name_of_another_source_is_another_document() -> None:
    assert docid_for("a/readme.md", "readme.md") != docid_for("b/readme.md", "readme.md")


@given(st.text(), st.text())
def test_every_source_gets_a_docid(source: str, readable: str) -> None:
    assert is_docid(docid_for(source, readable))
    assert len(docid_for(source, readable)) <= 51


@pytest.mark.parametrize("text", ["a", "0", "guide", "a-b-c", "a-", "con-1", "a" * 80])
def test_a_users_docid_may_be_any_that_fits_the_pattern(text: str) -> None:
    assert check_docid(text) == text


@pytest.mark.parametrize(
    "text", ["", "-a", "A", "a.b", "a b", "a/b", "..", "é", "a\n", "a" * 81, "con", "nul", "com1", "lpt9"]
)
def test_a_docid_that_some_file_system_could_not_hold_is_refused(text: str) -> None:
    with pytest.raises(InvalidIdError) as caught:
        check_docid(text)
    assert caught.value.message == f"not a docid: {text!r}"
    assert "lower-case letters, digits and hyphens, at most 80" in caught.value.hint


def test_time_ids_sort_by_time_and_differ() -> None:
    assert new_time_id(1) < new_time_id(2) < new_time_id(1 << 47)
    assert new_time_id(5) != new_time_id(5)
    assert is_id(new_time_id(5), 26)


def test_random_ids_have_the_length_asked_for() -> None:
    assert is_id(new_random_id(10), 10)
    assert new_random_id(26) != new_random_id(26)
