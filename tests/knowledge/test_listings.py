"""What a rebuild keeps of manifests gives the entries that the manifests themselves give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbdb.knowledge import listings
from kbdb.knowledge.entries import Listing, entry_of
from kbdb.knowledge.listings import Listings
from kbdb.model.truth import Manifest, Origin, Placement, Section
from kbdb.store.section import make_section

SECTIONS = sorted(
    (
        make_section("default", "text/markdown", "One", b"# One\n\nplain text\n"),
        make_section("skill", "text/markdown", "Two", b"# Two\n\nsee [one](guide.md#one)\n"),
        make_section("default", "text/plain", "Three", b"three"),
        make_section("default", "text/markdown", "Vier \N{SNOWMAN}", b"vier"),
    ),
    key=lambda section: section.kbid,
)

texts = st.sampled_from(["", "a", "Ernte \N{SNOWMAN}", "\x1e"])
placements = st.builds(
    lambda number, level, path, line: Placement(SECTIONS[number].kbid, level, "", path, line, line + 2, "\n"),
    st.integers(0, len(SECTIONS) - 1),
    st.integers(0, 6),
    st.lists(texts, max_size=2).map(tuple),
    st.integers(1, 10**9),
)


def manifest(number: int, title: str, description: str, tags: list[str], listed: list[Placement]) -> Manifest:
    origin = Origin("user", f"notes/{number}.md" if number % 2 else "", "0" * 64)
    at = "2026-01-31T12:00:00Z"
    return Manifest(
        f"doc-{number}", "text/markdown", title, description, tuple(tags), "", origin, at, at, "", tuple(listed)
    )


manifests = st.lists(
    st.tuples(texts, texts, st.lists(texts, max_size=2), st.lists(placements, max_size=4)), max_size=4
).map(lambda values: [manifest(number, *value) for number, value in enumerate(values)])


def expected(section: Section, manifests: list[Manifest]) -> object:
    return entry_of(section, [found for found in map(Listing, manifests) if section.kbid in found.kbids])


@given(manifests, st.sets(st.integers(0, len(SECTIONS) - 1)))
def test_packed_listings_give_the_same_entries(manifests: list[Manifest], stored: set[int]) -> None:
    packed = Listings(manifests)
    for number in sorted(stored):
        section = SECTIONS[number]
        assert entry_of(section, packed.take(section.kbid)) == expected(section, manifests)


def test_documents_that_are_not_at_hand_are_unpacked_again() -> None:
    listed = [Placement(section.kbid, 1, "", (), 1, 2, "") for section in SECTIONS]
    many = [manifest(number, "a", "", [], listed) for number in (1, 2)]
    packed = Listings(many)
    for section in SECTIONS:
        packed._document.cache_clear()
        assert entry_of(section, packed.take(section.kbid)) == expected(section, many)
    assert listings.DOCUMENTS_KEPT > 2
