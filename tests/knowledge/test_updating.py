"""update: revisions that take a section's place, and tags and descriptions of the documents that list it."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import GUIDE, answers, docid, kbid, read_back, state, titles, write

from kbdb.errors import InvalidArgumentError, NotUtf8Error, SectionNotFoundError
from kbdb.knowledge import KnowledgeBase
from kbdb.model.read import DocumentView, SectionView
from kbdb.model.truth import Manifest

COLOURS = "# Colours\n\nof things\n\n## Car\n\nblue\n\n### Roof\n\nwhite\n\n## House\n\ngreen\n"


def manifest(kb: KnowledgeBase, docid: str) -> Manifest:
    view = kb.retrieve(docid=docid)
    assert isinstance(view, DocumentView)
    return view.manifest


def section(kb: KnowledgeBase, kbid: str) -> SectionView:
    view = kb.retrieve(kbid)
    assert isinstance(view, SectionView)
    return view


def test_another_text_supersedes_the_old_in_its_place(kb: KnowledgeBase) -> None:
    learned = kb.learn(content="The gate code is 4711.\n", title="Gate", tags=["home"], section_type="skill")
    (old,) = learned.kbids
    result = kb.update(old, content="The gate code is 5000.\n")
    assert (result.superseded, result.docid, result.documents) == ((old,), docid(learned), (docid(learned),))
    assert (result.generation, result.warnings) == (learned.generation + 1, ())
    new = section(kb, result.kbid)
    assert (new.title, new.section_type, new.type, new.tags) == ("Gate", "skill", "text/markdown", ("home",))
    assert read_back(kb, docid(learned)) == b"The gate code is 5000.\n"
    assert (state(kb, old), titles(kb, "4711"), titles(kb, "5000")) == ("superseded", [], ["Gate"])
    assert kb.check().ok


def test_in_a_text_with_headings_only_the_section_changes(kb: KnowledgeBase) -> None:
    kb.learn(content=COLOURS, docid="colours")
    result = kb.update(kbid(kb, "Car"), content="red")
    assert read_back(kb, "colours").decode() == COLOURS.replace("blue", "red")
    placements = manifest(kb, "colours").sections
    assert [p.level for p in placements] == [1, 2, 3, 2]
    assert [p.parent for p in placements] == ["", placements[0].kbid, result.kbid, placements[0].kbid]
    assert [p.line for p in placements] == [1, 5, 9, 13]
    assert kb.check().ok


def test_another_title_is_said_by_the_heading_and_by_what_stands_under_it(kb: KnowledgeBase) -> None:
    kb.learn(content=COLOURS, docid="colours")
    result = kb.update(kbid(kb, "Car"), title="Vehicle")
    assert kb.content(result.kbid) == b"## Vehicle\n\nblue"
    assert read_back(kb, "colours").decode() == COLOURS.replace("## Car", "## Vehicle")
    paths = [p.heading_path for p in manifest(kb, "colours").sections]
    assert paths == [(), ("Colours",), ("Colours", "Vehicle"), ("Colours",)]
    assert titles(kb, "car") == []
    assert kb.check().ok


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ("# Old #\n\ntext", "# New\n\ntext"),
        ("Old\n---\ntext", "## New\ntext"),
        ("# Old", "# New"),
        ("no heading", "no heading"),
    ],
)
def test_a_title_takes_the_place_of_any_heading(kb: KnowledgeBase, old: str, expected: str) -> None:
    (name,) = kb.learn(content=old, title="Old").kbids
    result = kb.update(name, title=" New\n")
    assert (section(kb, result.kbid).title, kb.content(result.kbid)) == ("New", expected.encode())
    assert titles(kb, "new") == ["New"]


def test_the_title_of_a_document_that_a_section_opens_follows(kb: KnowledgeBase) -> None:
    learned = kb.learn(content="The gate code is 4711.", title="Gate")
    kb.update(learned.kbids[0], title="Door")
    assert manifest(kb, docid(learned)).title == "Door"
    kb.learn(content=COLOURS, docid="colours")
    kb.update(kbid(kb, "House"), title="Barn")
    assert manifest(kb, "colours").title == "Colours"


def test_title_and_text_together(kb: KnowledgeBase) -> None:
    kb.learn(content=COLOURS, docid="colours")
    result = kb.update(kbid(kb, "House"), title="Barn", content="red\n")
    assert kb.content(result.kbid) == b"## Barn\n\nred"
    again = kb.update(result.kbid, title="Shed", content="\n## Hut\n\nbrown\n")
    assert kb.content(again.kbid) == b"## Shed\n\nbrown"
    assert read_back(kb, "colours").decode() == COLOURS.replace("## House\n\ngreen", "## Shed\n\nbrown")
    assert kb.check().ok


def test_a_text_with_more_headings_becomes_several_sections(kb: KnowledgeBase) -> None:
    kb.learn(content=COLOURS, docid="colours")
    old = kbid(kb, "Car")
    result = kb.update(old, content="## Car\n\nred\n\n## Bike\n\nblack\n")
    assert read_back(kb, "colours").decode() == COLOURS.replace("blue", "red\n\n## Bike\n\nblack")
    assert [item.title for item in kb.list("sections", docid="colours").items] == [
        *("Colours", "Car", "Bike", "Roof", "House")
    ]
    assert result.superseded == (old,)
    assert (section(kb, result.kbid).title, titles(kb, "black")) == ("Car", ["Bike"])
    assert kb.check().ok


def test_plain_text_and_pictures_keep_type_and_title(kb: KnowledgeBase) -> None:
    (note,) = kb.learn(content="# not a heading", title="Note", type="text/plain").kbids
    (picture,) = kb.learn(content=b"\x89PNG\xff", title="Picture", type="image/png").kbids
    new = section(kb, kb.update(note, content="# still none").kbid)
    assert (new.title, new.type, new.content) == ("Note", "text/plain", b"# still none")
    other = section(kb, kb.update(picture, content=b"\x89\xff").kbid)
    assert (other.title, other.type, other.content) == ("Picture", "image/png", b"\x89\xff")
    with pytest.raises(NotUtf8Error):
        kb.update(new.kbid, content=b"\xff")
    assert titles(kb, "picture") == ["Picture"]


def test_what_a_file_says_gets_a_document_of_its_own_and_the_file_keeps_its_mirror(
    kb: KnowledgeBase, home: Path
) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)])
    old = kbid(kb, "Pressing")
    result = kb.update(old, content="Press within two days.")
    assert result.documents == (result.docid,) != (docid(learned),)
    assert read_back(kb, docid(learned)) == GUIDE.encode()
    assert read_back(kb, result.docid) == b"## Pressing\n\nPress within two days."
    (hit,) = kb.search("press").hits
    assert (hit.kbid, hit.tags, hit.source, hit.level) == (result.kbid, ("fruit",), "", 2)
    assert result.warnings == ("guide.md still says the old text, which is superseded there",)
    again = kb.update(result.kbid, content="Press within three days.")
    assert (again.docid, again.warnings) == (result.docid, ())
    write(home / "guide.md", GUIDE.replace("until spring", "until May"))
    held = kb.learn([home / "guide.md"]).suppressed
    assert [one.kbid for one in held] == [old]
    assert kb.check().ok


def test_a_grouping_lists_the_new_in_place_of_the_old(kb: KnowledgeBase, home: Path) -> None:
    kb.learn([write(home / "guide.md", GUIDE)])
    kb.learn(content="The cellar is cool.", title="Cellar")
    grouping = kb.group([kbid(kb, "Pressing"), kbid(kb, "Cellar")], "Reading").docid
    other = kb.group([kbid(kb, "Cellar"), kbid(kb, "Pressing")], "Other").docid
    result = kb.update(kbid(kb, "Pressing"), content="Press within two days.")
    assert result.documents == tuple(sorted((grouping, other)))
    assert read_back(kb, grouping) == b"## Pressing\n\nPress within two days.\n\nThe cellar is cool.\n"
    assert titles(kb, f"doc:{other} press") == ["Pressing"]
    assert kb.check().ok


def test_a_text_that_another_live_section_has_is_not_listed_twice(kb: KnowledgeBase, home: Path) -> None:
    kb.learn([write(home / "a.md", "# Same\n\nold\n")])
    (other,) = kb.learn([write(home / "b.md", "# Same\n\nnew\n")]).kbids
    old = next(item.kbid for item in kb.list("sections", docid="a.md").items)
    result = kb.update(old, content="new")
    assert (result.kbid, result.superseded, result.documents) == (other, (old,), ())
    assert result.docid == kb.list(docid="b.md").items[0].docid
    assert titles(kb, "same") == ["Same"]


def test_one_goes_back_to_an_older_text(kb: KnowledgeBase) -> None:
    (first,) = kb.learn(content="The gate code is 4711.", title="Gate").kbids
    second = kb.update(first, content="The gate code is 5000.").kbid
    result = kb.update(second, content="The gate code is 4711.")
    assert (result.kbid, result.superseded) == (first, (second,))
    assert (titles(kb, "4711"), titles(kb, "5000")) == (["Gate"], [])
    assert kb.check().ok


def test_a_text_that_was_forgotten_comes_back_only_for_its_user(kb: KnowledgeBase) -> None:
    (secret,) = kb.learn(content="The cake recipe.", title="Gate").kbids
    kb.unlearn(secret)
    (gate,) = kb.learn(content="The gate code is 4711.", title="Other").kbids
    generation = kb.generation
    with pytest.raises(InvalidArgumentError, match="withdrawn"):
        kb.update(gate, content="The cake recipe.", title="Gate", who="agent")
    assert kb.generation == generation
    result = kb.update(gate, content="The cake recipe.", title="Gate")
    assert (result.kbid, titles(kb, "cake")) == (secret, ["Gate"])
    assert any("said again, it is back" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    "same",
    [
        {"title": "Gate"},
        {"content": "The gate code is 4711.\n"},
        {"tags": [" home"]},
        {"description": "front"},
        {"title": "Gate", "content": b"The gate code is 4711.", "tags": ["home"], "description": "front"},
    ],
)
def test_what_changes_nothing_commits_nothing(kb: KnowledgeBase, same: dict[str, object]) -> None:
    learned = kb.learn(content="The gate code is 4711.", title="Gate", tags=["home"], description="front")
    result = kb.update(learned.kbids[0], **same)  # type: ignore[arg-type]
    assert (result.kbid, result.superseded, result.docid) == (learned.kbids[0], (), docid(learned))
    assert (result.documents, result.generation, kb.generation) == ((), learned.generation, learned.generation)


@pytest.mark.parametrize(
    "options",
    [{}, {"title": " "}, {"content": " \n"}, {"content": "---\ntags: [x]\n---\ntext\n"}, {"tags": "x"}, {"who": "x"}],
)
def test_an_update_says_what_is_wrong_with_it(kb: KnowledgeBase, options: dict[str, object]) -> None:
    (name,) = kb.learn(content="The gate code is 4711.", title="Gate").kbids
    with pytest.raises(InvalidArgumentError):
        kb.update(name, **options)  # type: ignore[arg-type]
    assert kb.generation == 1


def test_only_what_is_active_is_updated(kb: KnowledgeBase) -> None:
    with pytest.raises(SectionNotFoundError):
        kb.update("0" * 26, title="x")
    (first,) = kb.learn(content="The gate code is 4711.", title="Gate").kbids
    second = kb.update(first, content="The gate code is 5000.").kbid
    with pytest.raises(InvalidArgumentError, match="is superseded") as raised:
        kb.update(first, tags=["x"])
    assert raised.value.hint == f"use {second}, which took its place"
    kb.unlearn(second)
    with pytest.raises(InvalidArgumentError, match="is forgotten") as raised:
        kb.update(second, title="x")
    assert "kbdb restore" in raised.value.hint


def test_tags_and_description_are_set_in_the_document(kb: KnowledgeBase) -> None:
    learned = kb.learn(content="The gate code is 4711.", title="Gate", tags=["home"])
    result = kb.update(learned.kbids[0], tags=["door", "x"], description="of the front gate")
    assert (result.kbid, result.documents, result.warnings) == (learned.kbids[0], (docid(learned),), ())
    found = manifest(kb, docid(learned))
    assert (found.tags, found.description) == (("door", "x"), "of the front gate")
    assert (titles(kb, "tag:door"), titles(kb, "tag:home"), titles(kb, "front")) == (["Gate"], [], ["Gate"])
    kb.update(learned.kbids[0], tags=[], description="")
    assert section(kb, learned.kbids[0]).tags == ()


def test_they_hold_for_all_that_the_document_lists_and_the_answer_says_so(kb: KnowledgeBase) -> None:
    kb.learn(content=COLOURS, docid="colours")
    result = kb.update(kbid(kb, "Car"), tags=["paint"], description="what was varnished")
    assert set(titles(kb, "tag:paint")) == {"Colours", "Car", "Roof", "House"}
    assert titles(kb, "varnished") == ["Colours"]
    assert result.warnings == (
        "tags and description are of the document colours, which lists 3 other sections, too",
        "a description is shown with the first section of its document, which this is not",
    )


def test_of_several_documents_the_one_that_answers_show_is_changed(kb: KnowledgeBase) -> None:
    kb.learn(content="The gate code is 4711.", title="Gate", docid="b")
    gate = kbid(kb, "Gate")
    kb.group([gate], "One", docid="a", tags=["one"])
    kb.group([gate], "Three", docid="c", tags=["three"])
    kb.unlearn(docid="a")
    result = kb.update(gate, tags=["door"])
    assert (result.docid, result.documents) == (kb.search("4711").hits[0].docid, ("b",))
    assert section(kb, gate).tags == ("door", "one", "three")
    assert result.warnings == ("also listed by c, whose tags and description stay",)


def test_tags_that_a_file_says_itself_stay_and_those_set_outlive_it(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)], tags=["old"])
    result = kb.update(kbid(kb, "Apples"), tags=["new"], description="Mine.")
    assert manifest(kb, docid(learned)).tags == ("fruit", "new")
    assert "guide.md itself has the tags fruit; they stay" in result.warnings
    assert read_back(kb, docid(learned)) == GUIDE.encode()
    assert kb.learn([home / "guide.md"]).documents[0].status == "unchanged"
    kb.learn([write(home / "guide.md", GUIDE.replace("spring", "May"))])
    found = manifest(kb, docid(learned))
    assert (found.tags, found.description) == (("fruit", "new"), "Mine.")
    assert kb.check().ok


def test_a_revision_takes_new_tags_along(kb: KnowledgeBase, home: Path) -> None:
    kb.learn([write(home / "guide.md", GUIDE)])
    result = kb.update(kbid(kb, "Pears"), title="Quinces", tags=["hard"])
    assert section(kb, result.kbid).tags == ("hard",)
    assert titles(kb, "tag:hard") == ["Quinces"]
    assert kb.generation == 2


def test_what_nothing_lists_has_no_tags_to_set_but_can_be_revised(kb: KnowledgeBase, home: Path) -> None:
    kb.learn([write(home / "guide.md", GUIDE)])
    pears = kbid(kb, "Pears")
    kb.learn([write(home / "guide.md", GUIDE.partition("# Pears")[0])])
    with pytest.raises(InvalidArgumentError, match="no live document"):
        kb.update(pears, tags=["x"])
    result = kb.update(pears, content="Pears keep badly.")
    assert (titles(kb, "pears"), result.superseded) == (["Pears"], (pears,))
    assert kb.check().ok


def test_answers_are_those_of_a_rebuild(kb: KnowledgeBase, home: Path) -> None:
    kb.learn([write(home / "guide.md", GUIDE)])
    kb.learn(content=COLOURS, docid="colours")
    kb.update(kbid(kb, "Car"), title="Vehicle", content="red\n\n## Bike\n\nblack", tags=["x"])
    kb.update(kbid(kb, "Pears"), content="Pears keep badly.")
    kb.update(kbid(kb, "Apples"), tags=["x"], description="d")
    queries = ("red", "pears", "colours", "tag:x", "vehicle", "roof")
    before = answers(kb, queries)
    kb.rebuild()
    assert answers(kb, queries) == before
