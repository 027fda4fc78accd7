"""Bold in the source is found, and what only looks like it is left alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.query.emphasis import emphasis_markers, without_emphasis


def plain(text: str) -> str:
    return without_emphasis(text, 0, len(text), emphasis_markers(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**bold**", "bold"),
        ("a **bold word**, and **another**.", "a bold word, and another."),
        ("***both***", "both"),
        ("**`code`**", "`code`"),
        ("**over\na line**", "over\na line"),
        ("这是**重要**的", "这是重要的"),
        ("**注意。**下一句", "注意。下一句"),
    ],
)
def test_bold_loses_its_markers(text: str, shown: str) -> None:
    assert shown == plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "**open",
        "a ** b ** c",
        "2**10 and 3**2",
        "src/**/*.py and docs/**/*.md",
        "f(**a), g(**b)",
        "def f(*args, **kwargs): g(*args, **kwargs)",
        "`**a**` and ``b ` **c**``",
        r"\**not bold\**",
        "**one\n\ntwo**",
        "**one\r\n\r\ntwo**",
        "__init__ and __main__",
        "****",
    ],
)
def test_what_may_be_code_stays(text: str) -> None:
    assert plain(text) == text


@given(st.text(alphabet="*` a/(\n\\漢", max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_only_stars_are_dropped_and_pieces_join(text: str, one: int, other: int) -> None:
    markers = emphasis_markers(text)
    assert all(set(text[start:end]) == {"*"} for start, end in markers)
    assert len(markers) % 2 == 0
    cuts = [0, *sorted(min(cut, len(text)) for cut in (one, other)), len(text)]
    joined = "".join(without_emphasis(text, start, end, markers) for start, end in pairwise(cuts))
    assert joined == plain(text)
