"""recall: whole sections, what they link to, what links to them, and how much of it fits a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from knowledge_base import GUIDE, docid, kbid, write

from kbdb.errors import CorruptError, InvalidArgumentError, InvalidIdError, KbdbError
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge import recall as recalling
from kbdb.knowledge.around import MOST_AROUND
from kbdb.knowledge.recall import cut_text
from kbdb.model.read import RecallResult
from kbdb.model.truth import Manifest, Section
from kbdb.store.ids import is_kbid
from kbdb.store.store import Store


def one(kb: KnowledgeBase, title: str, **options: object) -> RecallResult:
    """The recall of the section of this title."""
    return kb.recall(kbid(kb, title), **options).results[0]


@pytest.fixture
def linked(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """A -> B -> C -> D -> A by links of each kind, and a page of two equal headings."""
    write(home / "d.md", "# D\n\n$(link:docs-a)\n")
    write(home / "docs" / "b.md", "# B\n\n[c](c.md#see-c) [gone](nowhere.md)\n")
    write(home / "docs" / "c.md", "# Top\n\n## See C\n\ntext\n\n# Same\n\nfirst\n\n# Same\n\nsecond, [self](#same-1)\n")
    kb.learn([home])
    kb.learn([write(home / "a.md", "# A\n\n[b](docs/b.md)\n")], docid="docs-a")
    write(
        home / "docs" / "c.md",
        f"# Top\n\n## See C\n\ntext $(link:{kbid(kb, 'D')})\n\n# Same\n\nfirst\n\n# Same\n\nsecond\n",
    )
    kb.learn([home / "docs" / "c.md"])
    return kb


def test_a_section_comes_whole_with_what_is_known_of_it(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)])
    found = one(kb, "Pressing")
    assert found.content == "## Pressing\n\nPress the apples within a day, then boil the juice."
    assert (found.level, found.parent, found.documents) == (2, kbid(kb, "Apples"), (docid(learned),))
    assert (found.metadata.state, found.metadata.tags, found.metadata.type) == ("active", ("fruit",), "text/markdown")
    assert found.metadata.created <= found.metadata.updated
    assert one(kb, "Apples").metadata.description == "How to keep fruit."
    assert [sibling.title for sibling in one(kb, "Apples").siblings] == ["Pears"]
    assert found.siblings == ()
    assert not found.truncated


def test_links_of_every_kind_are_references(linked: KnowledgeBase) -> None:
    assert [(ref.title, ref.docid) for ref in one(linked, "D").references] == [("A", "docs-a")]
    assert [ref.title for ref in one(linked, "A").references] == ["B"]
    assert [ref.title for ref in one(linked, "See C").references] == ["D"]
    by_title = {ref.title: ref for ref in one(linked, "B").references}
    assert sorted(by_title) == ["", "See C"]
    assert by_title["See C"].kbid == kbid(linked, "See C")
    assert (by_title[""].kbid, by_title[""].target.partition(":")[0]) == ("", "doc")


def test_back_references_name_what_links_here(linked: KnowledgeBase) -> None:
    for title, expected in {"A": ["D"], "B": ["A"], "See C": ["B"], "D": ["See C"], "Top": []}.items():
        assert [ref.title for ref in one(linked, title).back_references] == expected


def test_links_to_one_of_equal_headings_go_both_ways(kb: KnowledgeBase, home: Path) -> None:
    write(home / "same.md", "# Same\n\nfirst\n\n# Same\n\nsecond\n")
    write(home / "from.md", "# From\n\n[x](same.md#same-1)\n")
    kb.learn([home])
    (hit,) = kb.search("second").hits
    assert [ref.kbid for ref in one(kb, "From").references] == [hit.kbid]
    assert [ref.title for ref in kb.recall(hit.kbid).results[0].back_references] == ["From"]
    (first,) = kb.search("first").hits
    assert kb.recall(first.kbid).results[0].back_references == ()


@pytest.mark.parametrize(("depth", "expected"), [(0, "A"), (1, "AB"), (2, "ABC"), (3, "ABCD")])
def test_depth_follows_links_nearest_first(linked: KnowledgeBase, depth: int, expected: str) -> None:
    found = linked.recall(kbid(linked, "A"), depth=depth)
    assert "".join(result.title[-1] for result in found.results) == expected
    assert (found.omitted, found.missing) == (0, ())


def test_several_come_in_the_order_asked_for_and_unknown_ones_are_named(linked: KnowledgeBase) -> None:
    wanted = [kbid(linked, "D"), "0" * 26, kbid(linked, "A"), kbid(linked, "D")]
    found = linked.recall(kbids=wanted)
    assert ([result.title for result in found.results], found.missing) == (["D", "A"], ("0" * 26,))
    assert linked.recall("0" * 26).results == ()


def test_the_compact_form_leaves_out_what_stands_around(linked: KnowledgeBase) -> None:
    found = one(linked, "B", format="compact")
    assert (found.references, found.back_references, found.documents, found.siblings) == ((), (), (), ())
    assert found.content.startswith("# B")


def test_what_was_withdrawn_is_not_followed_or_shown_around(linked: KnowledgeBase) -> None:
    gone = kbid(linked, "B")
    linked.unlearn(gone)
    found = linked.recall(kbid(linked, "A"), depth=3)
    assert [result.title for result in found.results] == ["A"]
    assert [(ref.kbid, ref.title) for ref in found.results[0].references] == [("", "")]
    assert one(linked, "See C").back_references == ()
    same = [item.kbid for item in linked.list("sections").items if item.title == "Same"]
    linked.unlearn(same[0])
    assert same[0] not in [ref.kbid for ref in linked.recall(kbid(linked, "Top")).results[0].siblings]
    (explicit,) = linked.recall(gone).results
    assert (explicit.metadata.state, explicit.content[:3]) == ("forgotten", "# B")
    linked.unlearn(docid="docs-a")
    assert [ref.kbid for ref in one(linked, "D").references] == [""]


def test_a_link_to_what_was_corrected_leads_to_what_took_its_place(kb: KnowledgeBase) -> None:
    old = kb.learn(content="Blue.", title="Colour").kbids[0]
    kb.learn(content=f"See $(link:{old}).", title="Pointer")
    new = kb.learn(content="Red.", title="Colour", replace=True).kbids[0]
    (ref,) = one(kb, "Pointer").references
    assert (ref.target, ref.kbid, ref.title) == (f"kbid:{old}", new, "Colour")
    kb.unlearn(new)
    assert one(kb, "Pointer").references[0].kbid == ""


def test_links_that_are_no_ids_lead_nowhere(kb: KnowledgeBase) -> None:
    kb.learn(content=f"$(link:{'z' * 26}) $(link:NO/PE) $(link:con) $(link:a#b)", title="Odd")
    assert [ref.kbid for ref in one(kb, "Odd").references] == [""] * 4


def test_a_budget_takes_whole_sections_and_counts_those_left_out(linked: KnowledgeBase) -> None:
    whole = linked.recall(kbid(linked, "A"), depth=3).results
    sizes = [len(result.content.encode()) for result in whole]
    found = linked.recall(kbid(linked, "A"), max_tokens=(sum(sizes) + 3) // 4)
    assert (found.results, found.omitted) == (whole, 0)
    found = linked.recall(kbid(linked, "A"), max_tokens=-(-sizes[0] // 4))
    assert [result.title for result in found.results] == ["A"]
    assert found.omitted == len(whole) - 1


def test_the_first_section_is_cut_where_the_budget_ends(kb: KnowledgeBase) -> None:
    kb.learn(content="word " * 1000, title="Long")
    (found,) = kb.recall(kbid(kb, "Long"), max_tokens=25).results
    assert found.truncated
    assert len(found.content.encode()) <= 100
    assert found.content.endswith("word")


@given(st.text(st.sampled_from("ab \n\r\u0301é日👨\u200d👩🇩🇪क\u094dष한ᄒ"), max_size=30), st.integers(0, 60))
def test_a_cut_is_a_beginning_that_fits_and_splits_no_character(text: str, size: int) -> None:
    part = cut_text(text, size)
    assert text.startswith(part)
    assert len(part.encode()) <= size
    clusters = regex.findall(r"\X", text)
    borders = {sum(map(len, clusters[:count])) for count in range(len(clusters) + 1)}
    assert len(part) in borders
    if len(text.encode()) <= size:
        assert part == text


@pytest.mark.parametrize("options", [{"depth": 4}, {"depth": -1}, {"max_tokens": 0}, {"format": "long"}])
def test_impossible_options_are_refused(kb: KnowledgeBase, options: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        kb.recall("0" * 26, **options)


def test_ids_are_checked(kb: KnowledgeBase) -> None:
    for wrong in ({}, {"kbid": "0" * 26, "kbids": []}, {"kbids": "0" * 26}):
        with pytest.raises(InvalidArgumentError):
            kb.recall(**wrong)
    with pytest.raises(InvalidIdError):
        kb.recall(kbids=["0" * 26, "x"])
    assert kb.recall(kbids=[]).results == ()


def test_a_damaged_section_is_an_error_that_names_its_file(linked: KnowledgeBase) -> None:
    damaged = kbid(linked, "B")
    path = linked.root / "sections" / damaged[:2] / f"{damaged}.sec"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(CorruptError, match=damaged):
        linked.recall(damaged)


def test_what_links_here_comes_by_kbid_whatever_segments_it_stands_in(kb: KnowledgeBase) -> None:
    (target,) = kb.learn(content="The cellar is cool.", title="Cellar").kbids
    linking = [kb.learn(content=f"See $(link:{target}) {n}.", title=f"From {n}").kbids[0] for n in range(9)]
    assert len(kb._core.snapshot().slots) > 1
    (result,) = kb.recall(target).results
    assert [ref.kbid for ref in result.back_references] == sorted(linking)


def test_a_depth_holds_with_a_budget_too(linked: KnowledgeBase) -> None:
    found = linked.recall(kbid(linked, "A"), depth=1, max_tokens=1000)
    assert [result.title for result in found.results] == ["A", "B"]
    assert [result.title for result in linked.recall(kbid(linked, "A"), depth=0, max_tokens=1000).results] == ["A"]


def _table_of_contents(kb: KnowledgeBase, home: Path, sections: int) -> str:
    """A document, and a page with a link to each section of it; the page's kbid."""
    write(home / "book.md", "".join(f"# Chapter {n}\n\ntext {n}\n\n" for n in range(sections)))
    links = "".join(f"- [{n}](book.md#chapter-{n})\n" for n in range(sections))
    kb.learn([home])
    kb.learn([write(home / "toc.md", f"# Contents\n\n{links}")])
    return kbid(kb, "Contents")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read of the store from now on: the path of each section and each manifest, as often as it is read."""
    read: list[str] = []
    one, many, manifest = Store.read_section, Store.read_sections, Store.read_manifest

    def read_section(store: Store, kbid: str) -> Section:
        read.append(kbid)
        return one(store, kbid)

    def read_sections(store: Store, kbids: Iterable[str]) -> Iterator[Section | KbdbError]:
        for wanted, section in zip(every := list(kbids), many(store, every), strict=True):
            read.append(wanted)
            yield section

    def read_manifest(store: Store, docid: str) -> Manifest:
        read.append(docid)
        return manifest(store, docid)

    monkeypatch.setattr(Store, "read_section", read_section)
    monkeypatch.setattr(Store, "read_sections", read_sections)
    monkeypatch.setattr(Store, "read_manifest", read_manifest)
    return read


@pytest.mark.parametrize("depth", [0, 1])
def test_a_table_of_contents_reads_its_document_once(
    kb: KnowledgeBase, home: Path, reads: list[str], depth: int
) -> None:
    contents = _table_of_contents(kb, home, 150)
    del reads[:]
    found = kb.recall(contents, depth=depth)
    assert [ref.title for ref in found.results[0].references[:2]] == ["Chapter 0", "Chapter 1"]
    assert len(found.results[0].references) == 150
    assert len(found.results) == 1 + 150 * depth
    times = Counter(reads)
    assert max(times.values()) <= 4
    assert max(times[docid] for docid in times if not is_kbid(docid)) == 1


def test_links_and_siblings_beyond_the_most_are_counted(kb: KnowledgeBase, home: Path) -> None:
    contents = _table_of_contents(kb, home, MOST_AROUND + 30)
    (page,) = kb.recall(contents).results
    assert (len(page.references), page.left_off) == (MOST_AROUND, {"references": 30})
    (chapter,) = kb.recall(page.references[-1].kbid).results
    assert (len(chapter.siblings), chapter.left_off) == (MOST_AROUND, {"siblings": 29})
    assert chapter.kbid not in [sibling.kbid for sibling in chapter.siblings]
    assert kb.recall(contents, format="compact").results[0].left_off is None


def test_more_sections_than_one_answer_gives_are_named(
    kb: KnowledgeBase, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recalling, "MOST_RECALLED", 5)
    contents = _table_of_contents(kb, home, 12)
    found = kb.recall(contents, depth=3, format="compact")
    assert (len(found.results), found.omitted, len(found.omitted_kbids)) == (5, 8, 8)
    rest = kb.recall(kbids=found.omitted_kbids, format="compact")
    assert {result.title for result in (*found.results, *rest.results)} >= {f"Chapter {n}" for n in range(12)}
    assert len(rest.results) == 8


def test_what_a_budget_leaves_out_is_named(linked: KnowledgeBase) -> None:
    whole = linked.recall(kbid(linked, "A"), depth=3).results
    found = linked.recall(kbid(linked, "A"), depth=3, max_tokens=-(-len(whole[0].content.encode()) // 4))
    assert found.omitted_kbids == tuple(result.kbid for result in whole[1:])


def test_a_superseded_section_names_what_stands_in_its_place_now(kb: KnowledgeBase) -> None:
    first = kb.learn(content="Blue.", title="Colour").kbids[0]
    second = kb.learn(content="Green.", title="Colour", replace=True).kbids[0]
    third = kb.learn(content="Red.", title="Colour", replace=True).kbids[0]
    for old in (first, second):
        (recalled,) = kb.recall(old, format="compact").results
        assert (recalled.metadata.state, recalled.successor) == ("superseded", third)
        assert kb.retrieve(old).successor == third
    assert kb.recall(third).results[0].successor == kb.retrieve(third).successor == ""
    kb.unlearn(third)
    assert kb.recall(first).results[0].successor == kb.retrieve(first).successor == ""
