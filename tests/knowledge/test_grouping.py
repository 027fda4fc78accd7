"""Groupings: documents that list stored sections, what they do to the rest, and what is left when they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import GUIDE, answers, docid, kbid, read_back, state, titles, without_index, write

import kbdb
from kbdb.errors import DocumentNotFoundError, InvalidArgumentError, InvalidIdError, SectionNotFoundError
from kbdb.knowledge import KnowledgeBase
from kbdb.model.change import GroupResult
from kbdb.model.read import DocumentView, SectionView
from kbdb.model.truth import Manifest

QUERIES = ("apples", "press juice", "pears", "cellar cool", "tag:fruit", "tag:later", "reading")


@pytest.fixture
def shelf(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """A guide of three sections and two facts."""
    kb.learn([write(home / "guide.md", GUIDE)])
    kb.learn(content="The cellar is cool.\n", title="Cellar", tags=["house"])
    kb.learn(content="The gate code is 4711.", title="Gate")
    return kb


def manifest(kb: KnowledgeBase, docid: str) -> Manifest:
    view = kb.retrieve(docid=docid)
    assert isinstance(view, DocumentView)
    return view.manifest


def listed(kb: KnowledgeBase, docid: str) -> list[str]:
    """The titles of a document's sections, in its order."""
    return [item.title for item in kb.list("sections", docid=docid).items]


def places(kb: KnowledgeBase, kbid: str) -> dict[str, str]:
    """The documents that list a section, with their states."""
    view = kb.retrieve(kbid)
    assert isinstance(view, SectionView)
    return {place.docid: place.document_state for place in view.places}


def grouped(kb: KnowledgeBase, *names: str, title: str = "Reading", **options: object) -> GroupResult:
    """Groups the live sections of these titles."""
    return kb.group([kbid(kb, name) for name in names], title, **options)  # type: ignore[arg-type]


def test_a_grouping_lists_sections_in_the_order_given_each_once(shelf: KnowledgeBase) -> None:
    names = ("Cellar", "Pressing", "Apples")
    result = grouped(shelf, *names, "Cellar", description="to read", tags=["later"])
    assert result.kbids == tuple(kbid(shelf, name) for name in names)
    assert (result.title, result.documents, result.generation) == ("Reading", (), shelf.generation)
    assert listed(shelf, result.docid) == list(names)
    found = manifest(shelf, result.docid)
    assert (found.title, found.description, found.tags) == ("Reading", "to read", ("later",))
    assert (found.type, found.origin.source, found.origin.who) == ("text/markdown", "", "user")


def test_it_reads_back_as_its_texts_with_a_blank_line_between_them(shelf: KnowledgeBase) -> None:
    result = grouped(shelf, "Cellar", "Pressing", "Gate")
    text = read_back(shelf, result.docid).decode()
    assert text == (
        "The cellar is cool.\n\n## Pressing\n\nPress the apples within a day, then boil the juice.\n\n"
        "The gate code is 4711.\n"
    )
    assert shelf.content(docid=result.docid) == text.encode()
    lines = text.splitlines()
    for place in manifest(shelf, result.docid).sections:
        whole = "\n".join(lines[place.line - 1 : place.line_end])
        assert whole.encode() == shelf.content(place.kbid)
    assert shelf.check().ok


def test_its_sections_stand_side_by_side_at_the_level_of_their_headings(shelf: KnowledgeBase) -> None:
    found = manifest(shelf, grouped(shelf, "Pressing", "Pears", "Gate").docid)
    assert [(p.level, p.parent, p.heading_path) for p in found.sections] == [(2, "", ()), (1, "", ()), (0, "", ())]


def test_sections_also_stay_where_they_were(shelf: KnowledgeBase) -> None:
    before = read_back(shelf, shelf.list(docid="guide.md").items[0].docid)
    result = grouped(shelf, "Pressing", "Cellar", docid="a")
    (hit,) = shelf.search("press juice").hits
    assert hit.docid == shelf.list(docid="guide.md").items[0].docid
    (recalled,) = shelf.recall(hit.kbid).results
    assert ([one.title for one in recalled.siblings], recalled.documents) == ([], (hit.docid, "a"))
    assert recalled.parent == kbid(shelf, "Apples")
    (item,) = (item for item in shelf.list("sections").items if item.kbid == hit.kbid)
    assert (item.docid, item.source) == (hit.docid, "guide.md")
    assert (hit.source, hit.heading_path) == ("guide.md", ("Apples",))
    assert len(places(shelf, hit.kbid)) == 2
    (there,) = shelf.search("doc:a apples").hits
    assert (there.kbid, there.docid, there.line, there.heading_path) == (hit.kbid, result.docid, 1, ())
    assert read_back(shelf, shelf.list(docid="guide.md").items[0].docid) == before == GUIDE.encode()


def test_its_title_and_tags_lead_to_its_sections(shelf: KnowledgeBase) -> None:
    assert titles(shelf, "orchardist") == []
    grouped(shelf, "Gate", "Pears", title="Orchardist", tags=["later"])
    assert set(titles(shelf, "orchardist")) == {"Gate", "Pears"} == set(titles(shelf, "tag:later"))


def test_pictures_and_texts_group_and_each_keeps_its_bytes(kb: KnowledgeBase, home: Path) -> None:
    picture = kb.learn([write(home / "p.png", b"\x89PNG\n\n")]).kbids[0]
    code = kb.learn([write(home / "a.py", "x = 1\n")]).kbids[0]
    fact = kb.learn(content="A fact.", title="Fact").kbids[0]
    result = kb.group([picture, fact, code], "Mixed")
    assert manifest(kb, result.docid).type == "application/octet-stream"
    assert read_back(kb, result.docid) == b"\x89PNG\n\nA fact.\n\nx = 1\n"
    assert manifest(kb, kb.group([fact, code], "Texts").docid).type == "text/plain"
    alone = kb.group([picture], "Alone")
    kb.unlearn(docid=kb.list(docid="p.png").items[0].docid)
    assert read_back(kb, alone.docid) == b"\x89PNG\n\n"
    assert kb.check().ok


def test_said_again_it_is_unchanged(shelf: KnowledgeBase) -> None:
    first = grouped(shelf, "Gate", "Pears", tags=["later"], description="d")
    again = grouped(shelf, "Gate", "Pears")
    assert again == first
    assert shelf.generation == first.generation


def test_the_same_title_gives_it_other_sections(shelf: KnowledgeBase) -> None:
    first = grouped(shelf, "Gate", "Pears", tags=["later"], description="d")
    created = manifest(shelf, first.docid).created
    second = grouped(shelf, "Pears", "Cellar", tags=["more"])
    assert (second.docid, second.documents) == (first.docid, ())
    assert listed(shelf, second.docid) == ["Pears", "Cellar"]
    found = manifest(shelf, second.docid)
    assert (found.tags, found.description, found.created) == (("later", "more"), "d", created)
    assert shelf.check().ok


def test_a_docid_names_it_whatever_its_title(shelf: KnowledgeBase) -> None:
    grouped(shelf, "Gate", docid="my-reading", title="One")
    result = grouped(shelf, "Pears", docid="my-reading", title="Two")
    assert (result.docid, manifest(shelf, "my-reading").title) == ("my-reading", "Two")
    assert listed(shelf, "my-reading") == ["Pears"]


def test_a_grouping_and_a_fact_of_one_title_are_two_documents(shelf: KnowledgeBase) -> None:
    result = grouped(shelf, "Pears", title="Gate")
    assert titles(shelf, "4711") == ["Gate"]
    assert len([item for item in shelf.list().items if item.title == "Gate"]) == 2
    assert listed(shelf, result.docid) == ["Pears"]


def test_what_a_changed_grouping_drops_has_a_document_of_its_own(shelf: KnowledgeBase) -> None:
    facts = shelf.learn(content="# One\n\nfirst\n\n# Two\n\nsecond\n", docid="facts", tags=["x"], description="d")
    one, two = facts.kbids
    result = shelf.group([two, kbid(shelf, "Pears")], "Facts", docid="facts")
    (own,) = result.documents
    assert places(shelf, one) == {own: "live"}
    found = manifest(shelf, own)
    assert (found.title, found.tags, found.description) == ("One", ("x",), "d")
    assert read_back(shelf, own) == b"# One\n\nfirst\n"
    assert titles(shelf, "first") == ["One"]
    assert shelf.check().ok


def test_what_mirrors_a_source_is_no_grouping(shelf: KnowledgeBase) -> None:
    guide = shelf.list(docid="guide.md").items[0].docid
    generation = shelf.generation
    for call in (lambda: grouped(shelf, "Gate", docid=guide), lambda: shelf.ungroup(guide)):
        with pytest.raises(InvalidArgumentError, match=r"mirrors guide\.md"):
            call()
    assert shelf.generation == generation


def test_unknown_sections_are_named(shelf: KnowledgeBase) -> None:
    with pytest.raises(SectionNotFoundError, match=f"{'0' * 26}, {'1' * 25}0"):
        shelf.group([kbid(shelf, "Gate"), "0" * 26, "1" * 25 + "0"], "Reading")
    with pytest.raises(InvalidIdError):
        shelf.group(["gate"], "Reading")
    with pytest.raises(DocumentNotFoundError):
        shelf.ungroup("nothing")


@pytest.mark.parametrize(("kbids", "title"), [([], "Reading"), (None, ""), (None, " \n"), ("abc", "Reading")])
def test_it_needs_sections_and_a_title(shelf: KnowledgeBase, kbids: list[str] | None, title: str) -> None:
    with pytest.raises(InvalidArgumentError):
        shelf.group([kbid(shelf, "Gate")] if kbids is None else kbids, title)


def test_a_forgotten_section_is_refused_with_its_state_and_the_way_back(shelf: KnowledgeBase) -> None:
    pears = kbid(shelf, "Pears")
    shelf.unlearn(pears)
    with pytest.raises(InvalidArgumentError, match=f"{pears} is forgotten") as raised:
        shelf.group([kbid(shelf, "Gate"), pears], "Reading")
    assert raised.value.hint == f"kbdb restore {pears} brings it back first"
    shelf.restore(pears)
    assert listed(shelf, shelf.group([pears], "Reading").docid) == ["Pears"]


def test_a_superseded_section_is_refused_and_its_successor_named(shelf: KnowledgeBase) -> None:
    old = kbid(shelf, "Gate")
    shelf.learn(content="The gate code is 5000.", title="Gate", replace=True)
    with pytest.raises(InvalidArgumentError, match=f"{old} is superseded") as raised:
        shelf.group([old], "Reading")
    assert raised.value.hint == f"use {kbid(shelf, 'Gate')}, which took its place"


def test_a_section_that_its_file_dropped_can_be_grouped_and_is_found_again(shelf: KnowledgeBase, home: Path) -> None:
    pears = kbid(shelf, "Pears")
    shelf.learn([write(home / "guide.md", GUIDE.partition("# Pears")[0])])
    assert titles(shelf, "pears") == []
    shelf.group([pears], "Kept")
    assert titles(shelf, "pears") == ["Pears"]


def test_a_dropped_section_whose_text_was_forgotten_meanwhile_stays_away(kb: KnowledgeBase, home: Path) -> None:
    kb.learn([write(home / "a.md", "# Secret\n\nthe cake recipe\n")])
    dropped = kbid(kb, "Secret")
    kb.learn([write(home / "a.md", "# Other\n\ntext\n")])
    kb.learn([write(home / "b.md", "# Top\n\n## Secret\n\nthe cake recipe\n")])
    kb.unlearn(kbid(kb, "Secret"))
    with pytest.raises(InvalidArgumentError, match=f"{dropped} is forgotten") as raised:
        kb.group([dropped], "Reading")
    assert "learn it again" in raised.value.hint
    assert titles(kb, "cake") == []


def test_a_grouped_section_that_its_file_drops_stays_and_learning_says_so(shelf: KnowledgeBase, home: Path) -> None:
    result = grouped(shelf, "Pears", "Gate")
    pears = kbid(shelf, "Pears")
    learned = shelf.learn([write(home / "guide.md", GUIDE.replace("off the tree", "on the tree"))])
    assert learned.sections_retired == 1
    (warning,) = learned.warnings
    assert f"{pears} left {docid(learned)}, but {result.docid} lists it" in warning
    assert titles(shelf, "pears ripen tree") == ["Pears", "Pears"]
    assert places(shelf, pears) == {result.docid: "live"}
    assert shelf.learn([home / "guide.md"]).warnings == ()
    before = answers(shelf, QUERIES)
    shelf.rebuild()
    assert answers(shelf, QUERIES) == before


def test_a_grouped_section_that_is_replaced_is_superseded_there_too(shelf: KnowledgeBase, home: Path) -> None:
    result = grouped(shelf, "Pears", "Gate")
    pears = kbid(shelf, "Pears")
    shelf.learn([write(home / "guide.md", GUIDE.replace("off the tree", "on the tree"))], replace=True)
    assert (state(shelf, pears), places(shelf, pears)) == ("superseded", {result.docid: "live"})
    assert [hit.content for hit in shelf.search("pears ripen", content=True).hits] == [
        "# Pears\n\nPears ripen on the tree."
    ]
    assert shelf.check().ok


def test_forgetting_a_grouping_leaves_what_stands_elsewhere(shelf: KnowledgeBase) -> None:
    result = grouped(shelf, "Pears", "Gate")
    shelf.unlearn(docid=result.docid)
    assert titles(shelf, "pears") == ["Pears"]
    with pytest.raises(InvalidArgumentError, match="is forgotten"):
        shelf.ungroup(result.docid)
    again = grouped(shelf, "Cellar")
    assert (again.docid, listed(shelf, again.docid)) == (result.docid, ["Cellar"])
    assert [item.state for item in shelf.list(docid=again.docid).items] == ["live"]


def test_more_said_with_its_docid_joins_it(shelf: KnowledgeBase) -> None:
    result = grouped(shelf, "Pears", "Gate")
    shelf.learn(content="# More\n\nsaid later\n", docid=result.docid)
    assert listed(shelf, result.docid) == ["Pears", "Gate", "More"]
    assert read_back(shelf, result.docid).endswith(b"4711.\n\n# More\n\nsaid later\n")
    assert shelf.check().ok


def test_ungrouping_ends_it_and_loses_nothing(shelf: KnowledgeBase, home: Path) -> None:
    result = grouped(shelf, "Pears", "Gate", "Cellar", tags=["later"], description="to read")
    (fact,) = (item.docid for item in shelf.list().items if item.title == "Gate")
    shelf.unlearn(docid=fact)
    shelf.learn([write(home / "guide.md", "# Apples\n\nonly\n")])
    kbids = {name: kbid(shelf, name) for name in ("Pears", "Gate", "Cellar")}
    ended = shelf.ungroup(result.docid)
    assert (ended.docid, ended.title, ended.kbids) == (result.docid, "Reading", result.kbids)
    pears, gate = ended.documents
    assert places(shelf, kbids["Pears"]) == {pears: "live"}
    assert places(shelf, kbids["Gate"])[gate] == "live"
    assert result.docid not in places(shelf, kbids["Cellar"])
    assert (read_back(shelf, pears), read_back(shelf, gate)) == (
        b"# Pears\n\nPears ripen off the tree.\n",
        b"The gate code is 4711.\n",
    )
    found = manifest(shelf, pears)
    assert (found.title, found.tags, found.description) == ("Pears", ("later",), "to read")
    assert (manifest(shelf, gate).tags, manifest(shelf, gate).description) == (("later",), "")
    assert titles(shelf, "4711") == ["Gate"]
    with pytest.raises(DocumentNotFoundError):
        shelf.retrieve(docid=result.docid)
    assert (shelf.check().errors, shelf.check().warnings) == ((), ())


def test_ungrouping_is_one_commit(shelf: KnowledgeBase) -> None:
    result = grouped(shelf, "Pears", "Gate")
    assert shelf.ungroup(result.docid).generation == result.generation + 1 == shelf.generation


def test_facts_are_ungrouped_into_documents_of_their_own(kb: KnowledgeBase) -> None:
    kb.learn(content="# Colours\n\nof things\n\n## Car\n\nred\n", docid="colours")
    ended = kb.ungroup("colours")
    assert [item.title for item in kb.list().items] == sorted(("Colours", "Car"), key=str.casefold)
    assert [read_back(kb, one) for one in ended.documents] == [b"# Colours\n\nof things\n", b"## Car\n\nred\n"]
    for own in ended.documents:
        with pytest.raises(InvalidArgumentError, match="nothing to ungroup"):
            kb.ungroup(own)
    assert kb.check().ok


def test_what_was_forgotten_or_superseded_in_it_stays_so_and_can_come_back(shelf: KnowledgeBase) -> None:
    facts = shelf.learn(content="# One\n\nfirst\n\n# Two\n\nsecond\n\n# Three\n\nthird\n", docid="facts")
    one, two, three = facts.kbids
    shelf.unlearn(one, reason="wrong")
    shelf.learn(content="# Second\n\nsecond, better\n", supersedes=[two])
    ended = shelf.ungroup("facts")
    assert [state(shelf, name) for name in (one, two, three)] == ["forgotten", "superseded", "active"]
    states = {item.docid: item.state for item in shelf.list().items}
    assert [states[own] for own in ended.documents] == ["forgotten", "live", "live"]
    assert (titles(shelf, "first"), titles(shelf, "second")) == ([], ["Second"])
    shelf.gc(keep_days=0)
    assert shelf.restore(one).kbids == (one,)
    assert titles(shelf, "first") == ["One"]
    assert shelf.list(state="forgotten").items == ()
    assert shelf.check().ok


def test_it_can_be_made_again_after_it_was_ended(shelf: KnowledgeBase) -> None:
    result = grouped(shelf, "Pears", "Gate")
    shelf.ungroup(result.docid)
    again = grouped(shelf, "Pears", "Gate")
    assert again.docid == result.docid
    assert [item.state for item in shelf.list(docid=result.docid).items] == ["live"]
    own = shelf.learn(content="# One\n\nfirst\n\n# Two\n\nsecond\n", docid="facts").kbids
    made = shelf.ungroup("facts").documents
    shelf.learn(content="# Three\n\nthird\n", docid=made[0])
    other = shelf.ungroup(made[0]).documents
    assert places(shelf, own[0]) == {other[0]: "live"}
    assert other[0] != made[0]
    assert shelf.check().ok


def test_gc_leaves_what_a_grouping_lists(shelf: KnowledgeBase, home: Path) -> None:
    result = grouped(shelf, "Pears")
    pears = kbid(shelf, "Pears")
    shelf.learn([write(home / "guide.md", "# Apples\n\nonly\n")])
    assert pears not in shelf.gc(keep_days=0).kbids
    assert read_back(shelf, result.docid) == b"# Pears\n\nPears ripen off the tree.\n"
    shelf.ungroup(result.docid)
    assert pears not in shelf.gc(keep_days=0).kbids
    assert titles(shelf, "pears") == ["Pears"]


def test_answers_are_those_of_a_rebuild(shelf: KnowledgeBase, tmp_path: Path) -> None:
    first = grouped(shelf, "Pears", "Gate", tags=["later"])
    grouped(shelf, "Gate", "Cellar", "Apples", title="Other")
    grouped(shelf, "Cellar", "Pressing")
    shelf.ungroup(first.docid)
    before = answers(shelf, QUERIES)
    shelf.rebuild()
    assert answers(shelf, QUERIES) == before
    shelf.close()
    with kbdb.open(without_index(shelf.root, tmp_path / "copy")) as fresh:
        assert answers(fresh, QUERIES) == before


def test_an_export_carries_groupings_and_their_end(shelf: KnowledgeBase, tmp_path: Path) -> None:
    result = grouped(shelf, "Pears", "Gate")
    shelf.export(tmp_path / "with")
    with kbdb.init(tmp_path / "other") as other:
        other.import_(tmp_path / "with")
        assert listed(other, result.docid) == ["Pears", "Gate"]
        shelf.ungroup(result.docid)
        shelf.export(tmp_path / "without")
        other.import_(tmp_path / "without")
        assert [item.state for item in other.list(docid=result.docid).items] == ["retired"]
        assert set(titles(other, "4711")) == {"Gate"}
    shelf.import_(tmp_path / "with")
    assert [item.state for item in shelf.list(docid=result.docid).items] == ["retired"]
    assert shelf.check().ok
