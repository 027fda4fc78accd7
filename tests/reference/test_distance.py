"""Edit distances known from the literature."""

import pytest

from kbdb.reference.distance import distance_to


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("kitten", "sitting", 3),
        ("ca", "ac", 1),
        ("ca", "abc", 3),
        ("databse", "database", 1),
        ("teh", "the", 1),
        ("日本語", "日語", 1),
        ("straße", "strasse", 2),
    ],
)
def test_distance(left: str, right: str, distance: int) -> None:
    assert distance == distance_to(left, right) == distance_to(right, left)
