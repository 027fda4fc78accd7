"""Learning content given directly: facts and texts that make documents of their own, and grow."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import docid, kbid, read_back, state, statuses, titles, write

from kbdb.errors import InterruptedByUserError, InvalidArgumentError, NotUtf8Error
from kbdb.knowledge import KnowledgeBase
from kbdb.model.read import DocumentView
from kbdb.model.truth import Manifest
from kbdb.progress import Progress


def manifest(kb: KnowledgeBase, docid: str) -> Manifest:
    view = kb.retrieve(docid=docid)
    assert isinstance(view, DocumentView)
    return view.manifest


def test_a_fact_is_a_document_of_one_section(kb: KnowledgeBase) -> None:
    learned = kb.learn(content="The gate code is 4711.\n", title="Gate code", tags=["home"], description="front gate")
    assert statuses(learned) == {"": "added"}
    assert (learned.sections_added, len(learned.kbids)) == (1, 1)
    (hit,) = kb.search("gate code").hits
    assert (hit.title, hit.docid, hit.tags, hit.source) == ("Gate code", docid(learned), ("home",), "")
    assert read_back(kb, docid(learned)) == b"The gate code is 4711.\n"
    assert manifest(kb, docid(learned)).description == "front gate"


def test_a_fact_without_a_title_is_called_by_its_first_line(kb: KnowledgeBase) -> None:
    kb.learn(content="The gate code is 4711.")
    assert titles(kb, "4711") == ["The gate code is 4711."]


def test_a_text_with_headings_is_sectioned(kb: KnowledgeBase) -> None:
    text = "intro\n\n# One\n\nfirst\n\n## Two\n\nsecond\n"
    learned = kb.learn(content=text)
    assert [p.level for p in manifest(kb, docid(learned)).sections] == [0, 1, 2]
    assert read_back(kb, docid(learned)) == text.encode()
    assert (titles(kb, "second"), kb.search("second").hits[0].heading_path) == (["Two"], ("One",))


def test_said_again_is_unchanged(kb: KnowledgeBase) -> None:
    first = kb.learn(content="A fact.", title="T")
    again = kb.learn(content=b"A fact.", title="T")
    assert (statuses(again), again.kbids, again.generation) == ({"": "unchanged"}, first.kbids, first.generation)


def test_more_under_the_same_title_joins_the_document(kb: KnowledgeBase) -> None:
    first = kb.learn(content="The car is blue.", title="Car", tags=["a"])
    second = kb.learn(content="The car is fast.", title="Car", tags=["b"], description="mine")
    assert docid(second) == docid(first)
    assert statuses(second) == {"": "updated"}
    assert second.kbids != first.kbids
    assert second.documents[0].sections == 2
    assert read_back(kb, docid(first)) == b"The car is blue.\n\nThe car is fast."
    found = manifest(kb, docid(first))
    assert [(p.line, p.line_end) for p in found.sections] == [(1, 1), (3, 3)]
    assert (found.tags, found.description) == (("a", "b"), "mine")
    assert kb.check().ok
    assert kb.search("car").total == 2


def test_a_docid_says_which_document_to_join(kb: KnowledgeBase) -> None:
    kb.learn(content="# One\n\nfirst\n", docid="notes")
    learned = kb.learn(content="# Two\r\n\r\nsecond\r\n", docid="notes")
    assert statuses(learned) == {"": "updated"}
    assert read_back(kb, "notes") == b"# One\n\nfirst\n\n# Two\r\n\r\nsecond\r\n"
    assert manifest(kb, "notes").title == "One"
    assert kb.check().ok


def test_a_file_cannot_be_joined(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "a.md", "# A\n\ntext\n")])
    with pytest.raises(InvalidArgumentError, match=r"mirrors a\.md"):
        kb.learn(content="more", docid=docid(learned))


def test_replacing_puts_the_new_in_the_place_of_the_old(kb: KnowledgeBase) -> None:
    kb.learn(content="# Colours\n\nof things\n\n## Car\n\nblue\n\n## House\n\nwhite\n", docid="colours")
    old = kbid(kb, "Car")
    learned = kb.learn(content="# Colours\n\nof things\n\n## Car\n\nred\n", docid="colours", replace=True)
    assert learned.superseded == (old,)
    assert (learned.sections_added, learned.sections_reused, learned.sections_retired) == (1, 1, 0)
    assert [p.heading_path for p in manifest(kb, "colours").sections] == [(), ("Colours",), ("Colours",)]
    assert read_back(kb, "colours") == b"# Colours\n\nof things\n\n## Car\n\nred\n\n## House\n\nwhite\n"
    assert (state(kb, old), titles(kb, "blue"), titles(kb, "red")) == ("superseded", [], ["Car"])
    assert kb.check().ok


def test_replacing_a_heading_keeps_what_stands_under_it(kb: KnowledgeBase) -> None:
    kb.learn(content="# Top\n\nold\n\n## Below\n\nkept\n", docid="d")
    learned = kb.learn(content="# Top\n\nnew\n", docid="d", replace=True)
    found = manifest(kb, "d").sections
    assert [found[1].parent] == [found[0].kbid] == list(learned.kbids)
    assert titles(kb, "kept") == ["Below"]
    assert kb.check().ok


def test_replacing_both_a_heading_and_what_stands_under_it(kb: KnowledgeBase) -> None:
    kb.learn(content="# Top\n\nold\n\n## Below\n\nolder\n\n## Beside\n\nkept\n", docid="d")
    learned = kb.learn(content="# Top\n\nnew\n\n## Below\n\nnewer\n\n## More\n\nadded\n", docid="d", replace=True)
    assert len(learned.superseded) == 2
    assert read_back(kb, "d") == b"# Top\n\nnew\n\n## Below\n\nnewer\n\n## Beside\n\nkept\n\n## More\n\nadded\n"
    assert [p.parent for p in manifest(kb, "d").sections[1:]] == [learned.kbids[0]] * 3
    assert kb.check().ok


def test_replacing_where_nothing_has_the_title_adds(kb: KnowledgeBase) -> None:
    learned = kb.learn(content="Blue.", title="Colour", replace=True)
    assert (learned.superseded, titles(kb, "blue")) == ((), ["Colour"])


def test_replacing_with_the_same_is_unchanged(kb: KnowledgeBase) -> None:
    kb.learn(content="Blue.", title="Colour")
    learned = kb.learn(content="Blue.", title="Colour", replace=True)
    assert (statuses(learned), learned.superseded) == ({"": "unchanged"}, ())


@pytest.mark.parametrize("content", ["", "  \n\t\n", b""])
def test_nothing_to_learn_is_an_error(kb: KnowledgeBase, content: str | bytes) -> None:
    with pytest.raises(InvalidArgumentError, match="empty"):
        kb.learn(content=content)


def test_bytes_that_are_not_text_are_an_error_that_says_where(kb: KnowledgeBase) -> None:
    with pytest.raises(NotUtf8Error, match="offset 2"):
        kb.learn(content=b"ab\xff", type="text/plain")
    assert kb.generation == 0


def test_binary_content_with_a_type_is_kept_whole(kb: KnowledgeBase) -> None:
    data = bytes(range(256))
    learned = kb.learn(content=data, type="application/octet-stream", title="Key file")
    assert (read_back(kb, docid(learned)), titles(kb, "key")) == (data, ["Key file"])
    kb.learn(content=data[::-1], type="application/octet-stream", title="Key file")
    assert kb.check().ok


def test_facts_that_end_in_white_space_keep_their_lines(kb: KnowledgeBase) -> None:
    for number, end in enumerate(("", "\n", "\n\n", " ", "\r\n")):
        kb.learn(content=f"Fact {number}{end}", title="Facts")
    (found,) = kb.list().items
    assert found.sections == 5
    lines = [(hit.line, hit.title) for hit in sorted(kb.search("fact").hits, key=lambda hit: hit.line)]
    text = read_back(kb, found.docid).decode()
    whole = text.replace("\r\n", "\n").split("\n")
    assert [whole[line - 1].strip() for line, _ in lines] == [f"Fact {n}" for n in range(5)]
    assert kb.check().ok


def test_a_text_can_be_given_up_until_it_is_stored(kb: KnowledgeBase) -> None:
    steps: list[Progress] = []
    kb.learn(content="# A\n\na\n\n# B\n\nb\n", title="T", type="text/markdown", progress=steps.append)
    assert steps == [Progress(0, 2)]

    def give_up(_: Progress) -> None:
        raise InterruptedByUserError("interrupted")

    before = kb.generation
    with pytest.raises(InterruptedByUserError):
        kb.learn(content="c", title="C", progress=give_up)
    assert (kb.generation, kb.search("c").hits) == (before, ())
