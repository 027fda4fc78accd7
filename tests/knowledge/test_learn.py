"""Learning files and folders: what is stored of each, and what becomes of it when it changes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from knowledge_base import GUIDE, docid, kbid, read_back, state, statuses, titles, write

from kbdb.errors import InvalidArgumentError, NotADatabaseError
from kbdb.knowledge import KnowledgeBase, Progress
from kbdb.model.read import DocumentView

SOURCES = {
    "crlf.md": b"# One\r\n\r\ntext\r\n\r\n## Two\r\n\r\nmore\r\n",
    "bom.md": "\ufeff# Mark\n\nbody\n".encode(),
    "bom-front.md": "\ufeff---\r\ntitle: T\r\n---\r\n\r\n# A\r\n".encode(),
    "no-end.md": b"# A\n\nno line end at the end",
    "blank-ends.md": b"\n\n# A\n\n\n\n# B  \n \t\n\n",
    "old-mac.md": b"# A\rtext\r# B\r",
    "setext.md": b"Title\n=====\n\nText\n\nSub\n---\n\nmore\n",
    "plain.txt": b"first line\n\nsecond paragraph\n",
    "code.py": b"def f():\n\n    return 1\n\n\ndef g():\n    pass\n",
    "large.txt": b"".join(b"paragraph %d of many words that go on\n\n" % n for n in range(3000)),
    "cjk.md": "# 你好\n\n世界，这是一个测试。\n".encode(),
    "nul.txt": b"a\0b\n",
    "control.md": "# A\x0b\x0c\x1c\x85 b\n\n\u2028 c\n".encode(),
    "fence.md": b"# A\n\n```\n# not a heading\n```\n\n# B\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_reads_back_byte_for_byte(kb: KnowledgeBase, home: Path, name: str) -> None:
    learned = kb.learn([write(home / name, SOURCES[name])])
    assert statuses(learned) == {name: "added"}
    assert read_back(kb, docid(learned)) == SOURCES[name]
    assert kb.check().ok


def test_a_files_name_front_matter_and_headings_describe_it(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "docs" / "guide.md", GUIDE)])
    view = kb.retrieve(docid=docid(learned))
    assert isinstance(view, DocumentView)
    manifest = view.manifest
    assert (manifest.title, manifest.description, manifest.tags) == ("Orchard guide", "How to keep fruit.", ("fruit",))
    assert (manifest.origin.source, manifest.origin.who, manifest.type) == ("docs/guide.md", "user", "text/markdown")
    assert [(p.level, p.heading_path, p.line) for p in manifest.sections] == [
        (1, (), 7),
        (2, ("Apples",), 11),
        (1, (), 15),
    ]
    assert learned.sections_added == len(learned.kbids) == 3
    assert learned.documents[0].kbids == learned.kbids
    assert learned.generation == kb.generation == 1


def test_options_say_what_the_file_does_not(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "notes.dat", "just words\n")
    learned = kb.learn(
        [source], title="Notes", description="of mine", tags=["b", "a", " a "], type="text/plain", docid="my-notes",
        section_type="skill",
    )  # fmt: skip
    assert docid(learned) == "my-notes"
    (item,) = kb.list(docid="my-notes").items
    assert (item.title, item.type, item.tags, item.section_type) == ("Notes", "text/plain", ("a", "b"), "skill")
    assert kb.search("mine").hits[0].section_type == "skill"


def test_what_was_said_of_a_file_outlives_its_changes(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "notes.dat", "just words\n")
    kb.learn([source], title="Notes", description="of mine", tags=["given"], type="text/plain", section_type="skill")
    write(source, "other words\n")
    learned = kb.learn([source])
    assert statuses(learned) == {"notes.dat": "updated"}
    view = kb.retrieve(docid=docid(learned))
    assert isinstance(view, DocumentView)
    assert (view.manifest.title, view.manifest.description) == ("Notes", "of mine")
    assert (view.manifest.tags, view.manifest.type) == (("given",), "text/plain")
    assert titles(kb, "other", section_type="skill") == ["Notes"]
    assert kb.learn([source], description="").documents[0].status == "updated"
    assert kb.list().items[0].tags == ("given",)


def test_tags_of_the_front_matter_follow_the_file_and_given_ones_stay(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "---\ntags: [x, y]\n---\n\n# A\n\ntext\n")
    kb.learn([source], tags=["mine"])
    assert kb.list().items[0].tags == ("mine", "x", "y")
    write(source, "---\ntags: [y, z]\n---\n\n# A\n\ntext\n")
    kb.learn([source])
    assert kb.list().items[0].tags == ("mine", "y", "z")


def test_learning_again_is_unchanged_and_commits_nothing(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "guide.md", GUIDE)
    first = kb.learn([source])
    again = kb.learn([source])
    assert statuses(again) == {"guide.md": "unchanged"}
    assert (again.kbids, again.generation) == (first.kbids, first.generation)
    assert (again.sections_added, again.sections_reused, again.sections_retired) == (0, 0, 0)
    os.utime(source, (1, 1))
    assert statuses(kb.learn([source])) == {"guide.md": "unchanged"}


def test_other_tags_are_united(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\ntext\n")
    kb.learn([source], tags=["one"])
    assert statuses(kb.learn([source], tags=["two"])) == {"a.md": "updated"}
    assert statuses(kb.learn([source], tags=["one"])) == {"a.md": "unchanged"}
    assert kb.search("text").hits[0].tags == ("one", "two")


def test_a_changed_file_reuses_what_is_the_same_and_retires_what_is_gone(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n\n# C\n\ngamma\n")
    kb.learn([source])
    gone = kbid(kb, "B")
    write(source, "# C\n\ngamma\n\n# A\n\nalpha\n\n# D\n\ndelta\n")
    learned = kb.learn([source])
    assert statuses(learned) == {"a.md": "updated"}
    assert (learned.sections_added, learned.sections_reused, learned.sections_retired) == (1, 2, 1)
    assert titles(kb, "beta") == []
    assert kb.search("beta").hidden == 1
    assert [hit.line for hit in kb.search("gamma").hits] == [1]
    assert {item.kbid: item.state for item in kb.list("sections").items}[gone] == "unlisted"
    write(source, "# B\n\nbeta\n")
    assert kb.learn([source]).sections_reused == 1
    assert titles(kb, "beta") == ["B"]


def test_the_same_section_in_two_documents_is_one_section(kb: KnowledgeBase, home: Path) -> None:
    shared = "# Licence\n\nFree to use.\n"
    first = kb.learn([write(home / "a.md", f"# A\n\none\n\n{shared}")], tags=["x"])
    second = kb.learn([write(home / "b.md", f"{shared}\n# B\n\ntwo\n")], tags=["y"])
    assert (second.sections_added, second.sections_reused) == (1, 1)
    (hit,) = kb.search("free").hits
    assert hit.tags == ("x", "y")
    assert kb.search("free", docid=docid(first)).hits[0].source == "a.md"
    assert kb.search("free", docid=docid(second)).hits[0].line == 1
    assert kb.search("free", docid="b.md").hits[0].source == "b.md"
    (home / "a.md").unlink()
    kb.learn([home], prune=True)
    (hit,) = kb.search("free").hits
    assert (hit.source, kb.search("one").total) == ("b.md", 0)


def test_a_section_twice_in_one_document_is_listed_twice(kb: KnowledgeBase, home: Path) -> None:
    text = "# A\n\nsame\n\n# B\n\nother\n\n# A\n\nsame\n"
    learned = kb.learn([write(home / "a.md", text)])
    assert (learned.sections_added, learned.documents[0].sections, len(learned.kbids)) == (2, 3, 2)
    assert read_back(kb, docid(learned)) == text.encode()
    assert titles(kb, "same") == ["A"]
    assert statuses(kb.learn([home / "a.md"])) == {"a.md": "unchanged"}


def test_near_duplicates_are_told(kb: KnowledgeBase, home: Path) -> None:
    words = " ".join(f"word{n}" for n in range(40))
    kb.learn([write(home / "a.md", f"# Alike\n\n{words}\n")])
    learned = kb.learn([write(home / "b.md", f"# Alike\n\n{words} more\n")])
    (near,) = learned.near_duplicates
    assert (near.kbid, near.other, near.title) == (learned.kbids[0], kb.learn([home / "a.md"]).kbids[0], "Alike")
    assert near.jaccard == 41 / 42
    assert kb.learn([write(home / "c.md", "# Alike\n\nnothing in common\n")]).near_duplicates == ()


def test_near_duplicates_within_one_call_are_told_once(kb: KnowledgeBase, home: Path) -> None:
    words = " ".join(f"word{n}" for n in range(40))
    for name in "ab":
        write(home / f"{name}.md", f"# Alike\n\n{words} {name}\n")
    assert len(kb.learn([home]).near_duplicates) == 1


def test_an_empty_file_is_a_document_without_sections(kb: KnowledgeBase, home: Path) -> None:
    for name, content in (("empty.md", b""), ("blank.txt", b"\n \n"), ("empty.bin", b"")):
        learned = kb.learn([write(home / name, content)])
        assert statuses(learned) == {name: "added"}
        assert learned.documents[0].sections == 0
        assert read_back(kb, docid(learned)) == content
        assert statuses(kb.learn([home / name])) == {name: "unchanged"}
    write(home / "empty.md", "# Now\n\nthere is something\n")
    assert statuses(kb.learn([home / "empty.md"])) == {"empty.md": "updated"}
    assert titles(kb, "something") == ["Now"]
    assert kb.check().ok


def test_a_binary_file_named_directly_is_found_by_its_name(kb: KnowledgeBase, home: Path) -> None:
    data = bytes(range(256)) * 3
    learned = kb.learn([write(home / "diagram.png", data)], description="how the pump works")
    assert statuses(learned) == {"diagram.png": "added"}
    assert read_back(kb, docid(learned)) == data
    (hit,) = kb.search("pump diagram", content=True).hits
    assert (hit.title, hit.content, hit.snippet) == ("diagram.png", "", "how the **pump** works")
    assert kb.retrieve(hit.kbid).content == data
    write(home / "diagram.png", data + b"\1")
    assert statuses(kb.learn([home / "diagram.png"])) == {"diagram.png": "updated"}
    assert kb.check().ok


def test_a_docid_once_given_stays_the_files(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\nalpha\n")
    kb.learn([source], docid="mine")
    assert statuses(kb.learn([home])) == {"a.md": "unchanged"}
    write(source, "# A\n\nbeta\n")
    learned = kb.learn([home])
    assert (docid(learned), statuses(learned)) == ("mine", {"a.md": "updated"})
    assert titles(kb, "alpha") == []
    assert [hit.docid for hit in kb.search("beta", docid="a.md").hits] == ["mine"]


def test_a_source_outside_the_databases_folder_keeps_its_path(kb: KnowledgeBase, tmp_path: Path) -> None:
    outside = write(tmp_path / "else where" / "ä.md", "# Out\n\ntext\n")
    assert statuses(kb.learn([outside])) == {outside.as_posix(): "added"}
    assert statuses(kb.learn([outside])) == {outside.as_posix(): "unchanged"}


def test_one_path_may_be_given_as_it_is(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\ntext\n")
    assert statuses(kb.learn(str(source))) == {"a.md": "added"}
    assert statuses(kb.learn(source)) == {"a.md": "unchanged"}


def test_progress_is_told_file_by_file(kb: KnowledgeBase, home: Path) -> None:
    for name in ("a.md", "b.md"):
        write(home / name, f"# {name}\n")
    seen: list[Progress] = []
    kb.learn([home], progress=seen.append)
    assert seen == [Progress(1, 2, "a.md"), Progress(2, 2, "b.md")]


def test_one_documents_options_do_not_fit_several_files(kb: KnowledgeBase, home: Path) -> None:
    for name in ("a.md", "b.md"):
        write(home / name, f"# {name}\n")
    for options in ({"title": "T"}, {"docid": "d"}, {"supersedes": ["0" * 26]}):
        with pytest.raises(InvalidArgumentError, match="2 files"):
            kb.learn([home], **options)
    assert kb.generation == 0


@pytest.mark.parametrize(
    "options",
    [{"section_type": "x"}, {"who": "nobody"}, {"tags": "a,b"}, {"supersedes": "0" * 26}, {"include": "*.md"}],
)
def test_impossible_options_are_refused_before_anything_is_read(kb: KnowledgeBase, home: Path, options: dict) -> None:
    with pytest.raises(InvalidArgumentError):
        kb.learn([write(home / "a.md", "# A\n")], **options)
    with pytest.raises(InvalidArgumentError, match="paths or content"):
        kb.learn()
    with pytest.raises(InvalidArgumentError, match="paths or content"):
        kb.learn([home], content="x")
    assert kb.generation == 0


def test_a_retired_section_keeps_its_state(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\nalpha\n")
    kb.learn([source])
    old = kbid(kb, "A")
    write(source, "# B\n\nbeta\n")
    kb.learn([source])
    assert state(kb, old) == "active"


@pytest.mark.parametrize("moved", [False, True])
def test_a_database_removed_during_a_learn_is_not_brought_back(kb: KnowledgeBase, home: Path, moved: bool) -> None:
    for number in range(200):
        write(home / "notes" / f"{number}.md", f"# Note {number}\n\ntext\n")

    def remove(step: Progress) -> None:
        if step.done == 100:
            kb.root.rename(home / "elsewhere") if moved else shutil.rmtree(kb.root)

    with pytest.raises(NotADatabaseError, match="was removed"):
        kb.learn([home / "notes"], progress=remove)
    for write_more in (lambda: kb.learn(content="more", title="More"), kb.rebuild):
        with pytest.raises(NotADatabaseError, match="was removed"):
            write_more()
    kb.close()
    assert not kb.root.exists()
