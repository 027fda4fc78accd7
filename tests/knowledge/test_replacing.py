"""learn --replace and supersedes: what takes the place of what, and when that is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import docid, kbid, state, statuses, titles, write

from kbdb.errors import InvalidArgumentError, InvalidIdError
from kbdb.knowledge import KnowledgeBase


def test_a_changed_files_section_supersedes_the_one_of_its_title(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# Port\n\nIt is 8080.\n\n# Host\n\nlocalhost\n")
    kb.learn([source])
    old = kbid(kb, "Port")
    write(source, "# Port\n\nIt is 9090.\n\n# Host\n\nlocalhost\n")
    learned = kb.learn([source], replace=True)
    assert (learned.superseded, learned.sections_retired) == ((old,), 0)
    assert state(kb, old) == "superseded"
    assert titles(kb, "8080") == []


def test_the_same_heading_path_comes_before_the_same_title(kb: KnowledgeBase, home: Path) -> None:
    text = "# Linux\n\n## Install\n\napt\n\n# Mac\n\n## Install\n\nbrew\n"
    source = write(home / "a.md", text)
    kb.learn([source])
    old = {item.kbid for item in kb.list("sections").items if item.title == "Install"}
    write(source, text.replace("brew", "port"))
    (gone,) = kb.learn([source], replace=True).superseded
    assert gone in old
    assert titles(kb, "brew") == []
    assert len(titles(kb, "apt")) == 1


def test_a_title_elsewhere_is_superseded_where_the_document_has_none(kb: KnowledgeBase, home: Path) -> None:
    kb.learn([write(home / "a.md", "# Gate code\n\n4711\n")])
    old = kbid(kb, "Gate code")
    learned = kb.learn(content="0815", title="Gate code", replace=True)
    assert learned.superseded == (old,)
    assert titles(kb, "gate code") == ["Gate code"]
    assert kb.search("gate code").hits[0].source == ""
    assert statuses(kb.learn([home / "a.md"])) == {"a.md": "unchanged"}
    assert titles(kb, "4711") == []


def test_two_of_the_title_are_ambiguous_until_a_document_is_named(kb: KnowledgeBase, home: Path) -> None:
    first = kb.learn([write(home / "a.md", "# Port\n\nalpha\n")])
    kb.learn([write(home / "b.md", "# Port\n\nbeta\n")])
    generation = kb.generation
    with pytest.raises(InvalidArgumentError, match="ambiguous"):
        kb.learn(content="gamma", title="Port", replace=True)
    assert kb.generation == generation
    learned = kb.learn(content="gamma", title="Port", replace=True, docid=docid(first))
    assert learned.superseded == first.kbids
    assert docid(learned) != docid(first)
    assert sorted(hit.source for hit in kb.search("port").hits) == ["", "b.md"]


def test_an_ambiguous_file_fails_alone(kb: KnowledgeBase, home: Path) -> None:
    for name in "ab":
        kb.learn([write(home / f"{name}.md", f"# Port\n\n{name}\n")])
    write(home / "new" / "c.md", "# Port\n\nc\n")
    write(home / "new" / "d.md", "# Other\n\nd\n")
    assert statuses(kb.learn([home / "new"], replace=True)) == {"new/c.md": "failed", "new/d.md": "added"}


@pytest.mark.parametrize("title", ["???", "日本語", "a" * 300, " ".join(f"w{n}" for n in range(100))])
def test_any_title_can_be_replaced(kb: KnowledgeBase, title: str) -> None:
    kb.learn(content="other", title="not it")
    old = kb.learn(content="first", title=title).kbids
    assert kb.learn(content="second", title=title, replace=True).superseded == old


def test_supersedes_names_what_goes(kb: KnowledgeBase) -> None:
    olds = [kb.learn(content=f"old {n}", title=f"T{n}").kbids[0] for n in range(2)]
    learned = kb.learn(content="new", title="N", supersedes=[*olds, olds[0]])
    assert learned.superseded == tuple(olds)
    assert [state(kb, old) for old in olds] == ["superseded"] * 2
    assert titles(kb, "old") == []
    assert kb.search("old").hidden == 2


def test_what_is_stored_already_can_still_supersede(kb: KnowledgeBase, home: Path) -> None:
    old = kb.learn(content="old", title="O").kbids
    source = write(home / "a.md", "# New\n\ntext\n")
    for learn in (lambda: kb.learn([source], supersedes=old), lambda: kb.learn(content="new", supersedes=old)):
        kb.restore(old[0])
        learn()
        kb.restore(old[0])
        assert learn().superseded == old


def test_unknown_or_impossible_ids_are_refused_before_anything_is_written(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidArgumentError, match="not stored"):
        kb.learn(content="new", supersedes=["0" * 26])
    with pytest.raises(InvalidIdError):
        kb.learn(content="new", supersedes=["x"])
    assert kb.generation == 0


def test_what_is_gone_already_stays_as_it_is(kb: KnowledgeBase) -> None:
    old = kb.learn(content="old", title="O").kbids
    kb.unlearn(old[0])
    assert kb.learn(content="new", supersedes=old).superseded == ()
    assert state(kb, old[0]) == "forgotten"


def test_going_back_to_an_older_text_works(kb: KnowledgeBase) -> None:
    blue = kb.learn(content="Blue.", title="Colour").kbids[0]
    red = kb.learn(content="Red.", title="Colour", replace=True).kbids[0]
    back = kb.learn(content="Blue.", title="Colour", replace=True, who="agent")
    assert (back.kbids, back.superseded, back.suppressed) == ((blue,), (red,), ())
    assert (state(kb, blue), state(kb, red)) == ("active", "superseded")
    assert titles(kb, "blue") == ["Colour"]
    kb.learn(content="Red.", title="Colour", replace=True)
    assert (state(kb, blue), state(kb, red)) == ("superseded", "active")


def test_what_a_document_lists_already_still_replaces_what_it_lists_beside(kb: KnowledgeBase) -> None:
    seven = kb.learn(content="db7", title="H").kbids[0]
    nine = kb.learn(content="db9", title="H").kbids[0]
    learned = kb.learn(content="db7", title="H", replace=True)
    assert (learned.superseded, statuses(learned)) == ((nine,), {"": "updated"})
    assert [hit.kbid for hit in kb.search("H").hits] == [seven]
    assert statuses(kb.learn(content="db7", title="H", replace=True)) == {"": "unchanged"}
    assert kb.check().ok


@pytest.mark.parametrize("last", ["db7", "db9"])
def test_after_going_back_and_forth_the_last_replacement_stands(kb: KnowledgeBase, last: str) -> None:
    kbids = {"db7": kb.learn(content="db7", title="H").kbids[0]}
    kbids["db9"] = kb.learn(content="db9", title="H", replace=True).kbids[0]
    kb.learn(content="db7", title="H")
    kb.learn(content=last, title="H", replace=True)
    assert [hit.kbid for hit in kb.search("H").hits] == [kbids[last]]


def test_saying_a_replacement_twice_leaves_other_documents_alone(kb: KnowledgeBase, home: Path) -> None:
    kb.learn(content="old", title="Port")
    for name in "ab":
        kb.learn([write(home / f"{name}.md", f"# Port\n\n{name}\n")])
    kb.learn(content="new", title="Port", replace=True)
    assert statuses(kb.learn(content="new", title="Port", replace=True)) == {"": "unchanged"}
    assert sorted(hit.source for hit in kb.search("port").hits) == ["", "a.md", "b.md"]


def test_text_that_says_the_same_may_take_the_place_of_its_older_self(kb: KnowledgeBase, home: Path) -> None:
    kb.learn(content="The colour: blue.", title="Colour")
    new = kb.learn(content="The colour is: Blue!", title="Colour", replace=True, docid="d").kbids
    same = kb.learn(content="The  colour is: Blue!", title="Colour", replace=True, docid="d", who="agent")
    assert (same.suppressed, same.superseded) == ((), new)
    assert titles(kb, "blue") == ["Colour"]
    source = write(home / "a.md", "# Car\n\nred\n")
    kb.learn([source])
    write(source, "# Car\n\n*red*\n")
    kb.learn([source], replace=True)
    write(source, "# Car\n\n*red*\n\n# House\n\nwhite\n")
    learned = kb.learn([source])
    assert learned.suppressed == ()
    assert titles(kb, "red") == ["Car"]


def test_what_is_held_back_takes_nobodys_place(kb: KnowledgeBase) -> None:
    blue = kb.learn(content="Blue.", title="Colour").kbids[0]
    kb.unlearn(blue)
    red = kb.learn(content="Red.", title="Colour").kbids[0]
    back = kb.learn(content="Blue.", title="Colour", replace=True, who="agent")
    assert [one.kbid for one in back.suppressed] == [blue]
    assert back.superseded == ()
    assert (state(kb, blue), state(kb, red)) == ("forgotten", "active")
    assert titles(kb, "colour") == ["Colour"]
    with pytest.raises(InvalidArgumentError, match="withdrawn"):
        kb.learn(content="Blue.", title="Colour", supersedes=[red], who="auto-capture")
    assert titles(kb, "red") == ["Colour"]


def test_superseding_what_was_superseded_before_names_what_still_stands(kb: KnowledgeBase) -> None:
    (old,) = kb.learn(content="The port is 80.", title="Port").kbids
    (first,) = kb.learn(content="The port is 81.", title="Port", supersedes=[old]).kbids
    (second,) = kb.learn(content="The port is 82.", title="Port", supersedes=[first]).kbids
    learned = kb.learn(content="The port is 99.", title="Port", supersedes=[old, first])
    assert learned.superseded == ()
    assert len(learned.warnings) == 2
    for stale, warning in zip((old, first), learned.warnings, strict=True):
        assert warning.startswith(f"{stale} was superseded before: {second} took its place")
    mended = kb.learn(content="The port is 99.", title="Port", supersedes=[second])
    assert (mended.superseded, mended.warnings, mended.kbids) == ((second,), (), learned.kbids)
    assert [hit.kbid for hit in kb.search("port").hits] == list(learned.kbids)


def test_naming_the_whole_chain_warns_of_nothing(kb: KnowledgeBase) -> None:
    (old,) = kb.learn(content="The port is 80.", title="Port").kbids
    (new,) = kb.learn(content="The port is 81.", title="Port", supersedes=[old]).kbids
    learned = kb.learn(content="The port is 99.", title="Port", supersedes=[old, new])
    assert (learned.superseded, learned.warnings) == ((new,), ())
    again = kb.learn(content="The port is 99.", title="Port", supersedes=[old, new])
    assert (again.kbids, again.warnings) == (learned.kbids, ())
