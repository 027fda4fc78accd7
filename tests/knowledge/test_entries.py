"""What the index keeps of a section comes back as it was, in few bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.knowledge import entries
from kbdb.knowledge.entries import MARK_BYTES, Listing, StoredPlace, StoredSection, entry_of, mark_of
from kbdb.knowledge.sources import docid_of_source
from kbdb.model.truth import Manifest, Origin, Placement
from kbdb.store.section import make_section

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=6) | st.sampled_from(["", "\x1e", "\x1f", "[", ","])
lines = st.integers(0, 10**6)
sources = st.sampled_from(["", "notes/a.md", "https://example.org/b.html"]) | texts


@st.composite
def places(draw: st.DrawFn) -> StoredPlace:
    source, line = draw(sources), draw(lines)
    docid = draw(st.sampled_from([docid_of_source(source), "given", "a-2k654vp5y3"]))
    path = tuple(draw(st.lists(texts, max_size=3)))
    return StoredPlace(docid, source, mark_of(draw(texts)), path, draw(st.integers(0, 6)), line, line + draw(lines))


stored_sections = st.builds(
    StoredSection,
    st.sampled_from(["default", "skill"]),
    st.sampled_from(["text/markdown", "text/plain", "image/png"]),
    st.lists(texts, max_size=3).map(tuple),
    texts,
    st.lists(places(), max_size=3).map(tuple),
)


@given(stored_sections)
def test_what_is_stored_comes_back(stored: StoredSection) -> None:
    assert StoredSection.decode(stored.encode()) == stored


@given(stored_sections, stored_sections)
def test_different_sections_are_stored_as_different_bytes(one: StoredSection, other: StoredSection) -> None:
    assert (one.encode() == other.encode()) is (one == other)


def test_an_ordinary_section_takes_few_bytes() -> None:
    source = "notes/harvest.md"
    place = StoredPlace(docid_of_source(source), source, mark_of("Harvest"), (), 1, 12, 40)
    stored = StoredSection("default", "text/markdown", ("apples", "pears"), "", (place,))
    assert len(stored.encode()) <= len(source) + len("applespears") + 4 * MARK_BYTES


@pytest.mark.parametrize("title", ["", "Harvest", "Ernte \N{SNOWMAN}"])
def test_a_title_has_one_mark(title: str) -> None:
    assert mark_of(title) == mark_of(title)
    assert mark_of(title) != mark_of(title + " ")


manifests = st.builds(
    lambda tags, title, source, description, placements: Manifest(
        docid="guide",
        type="text/markdown",
        title=title,
        description=description,
        tags=tuple(tags),
        subject="",
        origin=Origin("user", source, "0" * 64),
        created="2026-01-31T12:00:00Z",
        updated="2026-01-31T12:00:00Z",
        head="",
        sections=tuple(placements),
    ),
    st.lists(texts, max_size=2),
    texts,
    sources,
    st.sampled_from(["", "what it is about"]),
    st.lists(
        st.builds(
            lambda number, path, line: Placement(SECTIONS[number].kbid, 1, "", path, line, line + 2, "\n"),
            st.integers(0, 2),
            st.sampled_from([(), (), ("Above",)]),
            lines,
        ),
        max_size=4,
    ),
)
SECTIONS = [
    make_section("default", "text/markdown", "One", b"# One\n\nplain text\n"),
    make_section("skill", "text/markdown", "Two", b"# Two\n\nsee [one](guide.md#one)\n"),
    make_section("default", "text/plain", "Three", b"three"),
]


@given(manifests)
def test_the_simple_way_to_an_entry_gives_what_the_general_way_gives(manifest: Manifest) -> None:
    listing = Listing(manifest)
    for section in (section for section in SECTIONS if section.kbid in listing.kbids):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(entries, "_simple_entry", lambda *_: None)
            expected = entry_of(section, [listing])
        assert entry_of(section, [listing]) == expected
        assert StoredSection.decode(expected.stored).places == tuple(listing.places(section.kbid))
