"""Cuts never fall inside what a reader sees as one character."""

from __future__ import annotations

from itertools import accumulate

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from kbdb.graphemes import boundaries_around

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FLAGS = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
SPECIALS = [
    FAMILY,
    FLAGS,
    "\U0001f44d\U0001f3fd",
    "e\u0301",
    "\u1100\u1161\u11a8",
    "\r\n",
    "क्षि",
    "กำ",
    "ກຳ",
    "각\u11a8",
    "❤\ufe0f",
]

hard_text = st.lists(
    st.sampled_from(
        [*SPECIALS, "a", " ", "\n", ".", "数", "か\u3099", "д", "\u200d", "\u0600", "\U0001f1e9", "ص", "\u0d4e"]
    )
    | st.characters(),
    max_size=12,
).map("".join)


def boundaries(text: str) -> set[int]:
    """All cuts, by segmenting the whole text."""
    return {0, *accumulate(len(cluster) for cluster in regex.findall(r"\X", text))}


@pytest.mark.parametrize("cluster", [FAMILY, *SPECIALS[2:]])
def test_inside_a_cluster_the_cuts_are_its_ends(cluster: str) -> None:
    text = f"one {cluster} two"
    for position in range(5, 4 + len(cluster)):
        assert boundaries_around(text, position) == (4, 4 + len(cluster))


def test_flags_are_cut_in_pairs() -> None:
    assert [boundaries_around(FLAGS, position) for position in range(5)] == [(0, 0), (0, 2), (2, 2), (2, 4), (4, 4)]


@given(hard_text)
def test_cuts_are_those_of_the_whole_text(text: str) -> None:
    cuts = boundaries(text)
    for position in range(len(text) + 1):
        before = max(cut for cut in cuts if cut <= position)
        after = min(cut for cut in cuts if cut >= position)
        assert (before, after) == boundaries_around(text, position)
